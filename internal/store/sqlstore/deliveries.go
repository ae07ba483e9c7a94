package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
)

// Claim records that an endpoint has been notified of a warning at a level, and reports whether that is new. Of several
// concurrent claims of the same level, one is new. Deleting the run deletes its claims, even if a refold deleted the warning
// before. A claim for an unknown run records nothing and is not new.
func (s *Store) Claim(ctx context.Context, endpoint string, run int64, warning, level string) (bool, error) {
	result, err := s.write.ExecContext(ctx, `INSERT INTO deliveries (warning, endpoint, level, at, run)
		SELECT $1, $2, $3, $4, number FROM runs WHERE number = $5
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

// Unclaim deletes a claim whose notice could not be delivered.
func (s *Store) Unclaim(ctx context.Context, endpoint, warning, level string) error {
	_, err := s.write.ExecContext(ctx, `DELETE FROM deliveries WHERE warning = $1 AND endpoint = $2 AND level = $3`,
		store.Key(warning), store.Key(endpoint), store.Key(level))
	if err != nil {
		return fmt.Errorf("delete a claim: %w", err)
	}
	return nil
}
