package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
)

// notices inserts notices. A row with a state in the column due is a message that is to be sent. A row without one is a level that was
// sent, or that needs no message.
func (w *writing) notices(ctx context.Context, notices []store.Notice) error {
	for k := range notices {
		n := &notices[k]
		err := w.exec(ctx, "write a notice", `INSERT INTO deliveries (warning, endpoint, level, at, run, due, holder)
			VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (warning, endpoint, level) DO NOTHING`,
			store.Key(n.Warning), store.Key(n.Endpoint), store.Key(n.Level), toNanos(n.At), n.Run, n.State, n.Holder)
		if err != nil {
			return err
		}
	}
	return nil
}

// DueWarnings returns the first warnings with due notices for an endpoint that a server holds, the longest waiting first, and the number
// of all.
func (s *Store) DueWarnings(ctx context.Context, endpoint, holder string, most int) (first []store.DueWarning, total int, err error) {
	query := `SELECT d.run, d.warning, COALESCE(MIN(r.id), '') FROM deliveries d LEFT JOIN runs r ON r.number = d.run
		WHERE d.endpoint = $1 AND d.holder = $2 AND d.due IS NOT NULL GROUP BY d.run, d.warning ORDER BY MIN(d.at), d.warning LIMIT $3`
	err = s.each(ctx, query, []any{store.Key(endpoint), holder, limit(most)}, func(row scanner) error {
		d := store.DueWarning{Endpoint: endpoint}
		err := row.Scan(&d.Run, &d.Warning, &d.RunID)
		first = append(first, d)
		return err
	})
	if total = len(first); err == nil && total == most {
		err = s.read.QueryRowContext(ctx, `SELECT COUNT(*) FROM (SELECT DISTINCT run, warning FROM deliveries
			WHERE endpoint = $1 AND holder = $2 AND due IS NOT NULL) AS x`, store.Key(endpoint), holder).Scan(&total)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("list the due notices: %w", err)
	}
	return first, total, nil
}

// DueLevels returns the due notices about a warning that a server holds, in any order. Silenced means that the warning is acknowledged or
// muted, so that nobody is to be notified.
func (s *Store) DueLevels(ctx context.Context, d store.DueWarning, holder string) (due []store.Notice, silenced bool, err error) {
	query := `SELECT d.level, d.at, d.due, CASE WHEN ` + alerted + ` THEN 0 ELSE 1 END FROM deliveries d JOIN runs ON runs.number = d.run
		WHERE d.warning = $1 AND d.run = $2 AND d.endpoint = $3 AND d.holder = $4 AND d.due IS NOT NULL`
	err = s.each(ctx, query, []any{store.Key(d.Warning), d.Run, store.Key(d.Endpoint), holder}, func(row scanner) error {
		n := store.Notice{Endpoint: d.Endpoint, Run: d.Run, Warning: d.Warning, Holder: holder}
		var at, silent int64
		err := row.Scan(&n.Level, &at, &n.State, &silent)
		n.At, silenced = fromNanos(at), silent == 1
		due = append(due, n)
		return err
	})
	if err != nil {
		return nil, false, fmt.Errorf("read the due notices about a warning: %w", err)
	}
	return due, silenced, nil
}

// alerted holds for warnings that endpoints are notified of: $1 is the warning, and $2 its run.
const alerted = `NOT EXISTS (SELECT 1 FROM acknowledgements k WHERE k.run = $2 AND k.warning = $1)
		AND NOT EXISTS (SELECT 1 FROM warnings w JOIN acts m ON m.number IN (SELECT act FROM mutes) AND m.rule IN ('', w.rule)
			AND m.tool IN ('', w.tool) AND m.project IN ('', runs.project) WHERE w.run = $2 AND w.id = $1)`

// SentLevels returns the levels of a warning that are not due for an endpoint, because they were sent or need no message.
func (s *Store) SentLevels(ctx context.Context, endpoint, warning string) (levels []string, err error) {
	query := `SELECT level FROM deliveries WHERE warning = $1 AND endpoint = $2 AND due IS NULL`
	err = s.each(ctx, query, []any{store.Key(warning), store.Key(endpoint)}, func(row scanner) error {
		var level string
		err := row.Scan(&level)
		levels = append(levels, level)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the sent levels of a warning: %w", err)
	}
	return levels, nil
}

// MarkSent records that notices need no message any more, whoever holds them. Notices of a run that does not exist are ignored.
func (s *Store) MarkSent(ctx context.Context, notices []store.Notice) error {
	return s.changeNotices(ctx, "mark notices as sent", notices, `INSERT INTO deliveries (warning, endpoint, level, run, at)
		SELECT $1, $2, $3, number, `+fmt.Sprint(toNanos(time.Now()))+` FROM runs WHERE number = $4
		ON CONFLICT (warning, endpoint, level) DO UPDATE SET due = NULL`)
}

// DropNotices deletes due notices, whoever holds them, so that the level can be due again.
func (s *Store) DropNotices(ctx context.Context, notices []store.Notice) error {
	return s.changeNotices(ctx, "delete notices", notices, `DELETE FROM deliveries
		WHERE warning = $1 AND endpoint = $2 AND level = $3 AND run = $4 AND due IS NOT NULL`)
}

// changeNotices executes a statement for each notice in one transaction.
func (s *Store) changeNotices(ctx context.Context, doing string, notices []store.Notice, query string) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	for k := range notices {
		n := &notices[k]
		if _, err := tx.ExecContext(ctx, query, store.Key(n.Warning), store.Key(n.Endpoint), store.Key(n.Level), n.Run); err != nil {
			return fmt.Errorf("%s: %w", doing, errors.Join(err, tx.Rollback()))
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// DropDue deletes all due notices for an endpoint.
func (s *Store) DropDue(ctx context.Context, endpoint string) error {
	if _, err := s.write.ExecContext(ctx, `DELETE FROM deliveries WHERE endpoint = $1 AND due IS NOT NULL`, store.Key(endpoint)); err != nil {
		return fmt.Errorf("delete the notices for an endpoint: %w", err)
	}
	return nil
}

// AdoptNotices gives a server of a cluster the due notices of servers whose lease has ended, and returns their number. It does nothing if the
// lease of the server itself has ended.
func (s *Store) AdoptNotices(ctx context.Context, holder string) (adopted int64, err error) {
	result, err := s.write.ExecContext(ctx, `UPDATE deliveries SET holder = $1
		WHERE due IS NOT NULL AND holder <> $1 AND EXISTS (SELECT 1 FROM servers WHERE name = $1 AND `+alive+`) AND holder NOT IN (SELECT name FROM servers WHERE `+alive+`)`, holder)
	if err == nil {
		adopted, err = result.RowsAffected()
	}
	if err != nil {
		return 0, fmt.Errorf("take the notices of servers that have ended: %w", err)
	}
	return adopted, nil
}
