package sqlstore

import (
	"context"
	"fmt"

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
