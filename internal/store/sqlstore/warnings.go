package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
)

const warningColumns = "run, id, rule, subject, severity, tool, count, event_id, message, details, created, updated"

type warningKey struct {
	run int64
	id  string
}

// warnings inserts or replaces warnings.
func (w *writing) warnings(ctx context.Context, warnings []store.Warning) error {
	warnings = lasts(warnings, func(x *store.Warning) warningKey { return warningKey{x.Run, store.Key(x.ID)} })
	return insert(ctx, w, &w.bulks.warnings, warnings, func(to []any, x *store.Warning) []any {
		return append(to, x.Run, store.Key(x.ID), store.Key(x.Rule), store.Text(x.Subject), store.Text(x.Severity), store.Text(x.Tool),
			int64(x.Count), store.Key(x.EventID), store.Text(x.Message), optional(x.Details), toNanos(x.Created), toNanos(x.Updated))
	}, nil)
}

// Warnings returns all warnings of a run, sorted by rule and subject.
func (s *Store) Warnings(ctx context.Context, run int64) (warnings []store.Warning, err error) {
	query := `SELECT ` + warningColumns + ` FROM warnings WHERE run = $1 ORDER BY rule, subject, id`
	err = s.each(ctx, query, []any{run}, func(row scanner) error {
		var x store.Warning
		var created, updated int64
		var details []byte
		err := row.Scan(&x.Run, &x.ID, &x.Rule, &x.Subject, &x.Severity, &x.Tool, &x.Count, &x.EventID, &x.Message, &details, &created, &updated)
		if err != nil {
			return err
		}
		x.Details, x.Created, x.Updated = object(details), fromNanos(created), fromNanos(updated)
		warnings = append(warnings, x)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the warnings of a run: %w", err)
	}
	return warnings, nil
}

// Claim records that an endpoint has been notified of a warning at a level, and reports whether that is new. Of several
// concurrent claims of the same level, one is new. Deleting the run deletes its claims, even if a refold deleted the warning
// before. A claim for an unknown run, or for a warning that is acknowledged or muted, records nothing and is not new.
func (s *Store) Claim(ctx context.Context, endpoint string, run int64, warning, level string) (bool, error) {
	result, err := s.write.ExecContext(ctx, `INSERT INTO deliveries (warning, endpoint, level, at, run)
		SELECT $1, $2, $3, $4, number FROM runs WHERE number = $5 AND `+alerted+`
		ON CONFLICT (warning, endpoint, level) DO NOTHING`, store.Key(warning), store.Key(endpoint), store.Key(level), toNanos(time.Now()), run)
	if err != nil {
		return false, fmt.Errorf("claim a delivery: %w", err)
	}
	written, err := result.RowsAffected()
	if err != nil {
		return false, fmt.Errorf("claim a delivery: %w", err)
	}
	return written == 1, nil
}

// alerted holds for warnings that endpoints are notified of: $1 is the warning, and $5 its run.
const alerted = `NOT EXISTS (SELECT 1 FROM acknowledgements k WHERE k.run = $5 AND k.warning = $1)
		AND NOT EXISTS (SELECT 1 FROM warnings w JOIN acts m ON m.number IN (SELECT act FROM mutes) AND m.rule IN ('', w.rule)
			AND m.tool IN ('', w.tool) AND m.project IN ('', runs.project) WHERE w.run = $5 AND w.id = $1)`

// Unclaim deletes a claim whose notice could not be delivered.
func (s *Store) Unclaim(ctx context.Context, endpoint, warning, level string) error {
	_, err := s.write.ExecContext(ctx, `DELETE FROM deliveries WHERE warning = $1 AND endpoint = $2 AND level = $3`,
		store.Key(warning), store.Key(endpoint), store.Key(level))
	if err != nil {
		return fmt.Errorf("delete a claim: %w", err)
	}
	return nil
}
