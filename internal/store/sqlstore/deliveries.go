package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
)

// Claim records that an endpoint is told of a run's warning at a level, and reports whether that is new. Of several concurrent
// claims of the same level, one is new. Deleting the run deletes its claims, even if the warning went earlier because the run was
// folded again. A claim for a run that does not exist, or for a warning that is acknowledged or muted, records nothing and is not new.
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

// alerted holds for warnings that people are told of: $1 is the warning, and $5 its run.
const alerted = `NOT EXISTS (SELECT 1 FROM acknowledgements k WHERE k.run = $5 AND k.warning = $1)
		AND NOT EXISTS (SELECT 1 FROM warnings w JOIN acts m ON m.number IN (SELECT act FROM mutes) AND m.rule IN ('', w.rule)
			AND m.tool IN ('', w.tool) AND m.project IN ('', runs.project) WHERE w.run = $5 AND w.id = $1)`

// Unclaim takes a claim back, since the endpoint could not be told.
func (s *Store) Unclaim(ctx context.Context, endpoint, warning, level string) error {
	_, err := s.write.ExecContext(ctx, `DELETE FROM deliveries WHERE warning = $1 AND endpoint = $2 AND level = $3`,
		store.Key(warning), store.Key(endpoint), store.Key(level))
	if err != nil {
		return fmt.Errorf("take a claim back: %w", err)
	}
	return nil
}
