package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/unloop-ai/unloop/internal/store"
)

// KeepNotice writes a waiting notice. change gets the state of the notice of the same endpoint and warning, nil for none, and returns
// the new state. Nothing is written if the run does not exist. Two concurrent calls for one endpoint and warning are not allowed.
func (s *Store) KeepNotice(ctx context.Context, n store.WaitingNotice, change func(before []byte) ([]byte, error)) error {
	var before []byte
	err := s.read.QueryRowContext(ctx, `SELECT state FROM waiting_notices WHERE endpoint = $1 AND warning = $2`,
		store.Key(n.Endpoint), store.Key(n.Warning)).Scan(&before)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("read a waiting notice: %w", err)
	}
	if n.State, err = change(before); err != nil {
		return err
	}
	_, err = s.write.ExecContext(ctx, `INSERT INTO waiting_notices (endpoint, run, warning, since, state)
		SELECT $1, number, $2, $3, $4 FROM runs WHERE number = $5
		ON CONFLICT (endpoint, warning) DO UPDATE SET state = excluded.state`,
		store.Key(n.Endpoint), store.Key(n.Warning), toNanos(n.Since), n.State, n.Run)
	if err != nil {
		return fmt.Errorf("write a waiting notice: %w", err)
	}
	return nil
}

// WaitingNotices returns the first waiting notices of an endpoint, the longest waiting first, and the number of all.
func (s *Store) WaitingNotices(ctx context.Context, endpoint string, most int) (first []store.WaitingNotice, total int, err error) {
	query := `SELECT run, warning, since, state FROM waiting_notices WHERE endpoint = $1 ORDER BY since, warning LIMIT $2`
	err = s.each(ctx, query, []any{store.Key(endpoint), limit(most)}, func(row scanner) error {
		n := store.WaitingNotice{Endpoint: endpoint}
		var since int64
		err := row.Scan(&n.Run, &n.Warning, &since, &n.State)
		n.Since = fromNanos(since)
		first = append(first, n)
		return err
	})
	if err == nil {
		err = s.read.QueryRowContext(ctx, `SELECT COUNT(*) FROM waiting_notices WHERE endpoint = $1`, store.Key(endpoint)).Scan(&total)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read the waiting notices: %w", err)
	}
	return first, total, nil
}

// ForgetNotices deletes the waiting notice of an endpoint about a warning. The warning "" means all notices of the endpoint.
func (s *Store) ForgetNotices(ctx context.Context, endpoint, warning string) error {
	_, err := s.write.ExecContext(ctx, `DELETE FROM waiting_notices WHERE endpoint = $1 AND $2 IN ('', warning)`, store.Key(endpoint), store.Key(warning))
	if err != nil {
		return fmt.Errorf("delete waiting notices: %w", err)
	}
	return nil
}
