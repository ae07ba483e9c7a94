package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
)

// Claim notes that an endpoint is told of a warning at a level, and tells whether that is new. Of several who claim the same, one
// is told so. What was claimed is forgotten with the warning's run.
func (s *Store) Claim(ctx context.Context, endpoint, warning, level string) (bool, error) {
	result, err := s.write.ExecContext(ctx, `INSERT INTO deliveries (warning, endpoint, level, at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (warning, endpoint, level) DO NOTHING`, store.Key(warning), store.Key(endpoint), store.Key(level), stamp(time.Now()))
	if err != nil {
		return false, fmt.Errorf("claim a delivery: %w", err)
	}
	written, err := result.RowsAffected()
	if err != nil {
		return false, fmt.Errorf("claim a delivery: %w", err)
	}
	return written == 1, nil
}

// Unclaim takes a claim back, since the endpoint could not be told.
func (s *Store) Unclaim(ctx context.Context, endpoint, warning, level string) error {
	_, err := s.write.ExecContext(ctx, `DELETE FROM deliveries WHERE warning = $1 AND endpoint = $2 AND level = $3`,
		store.Key(warning), store.Key(endpoint), store.Key(level))
	if err != nil {
		return fmt.Errorf("take a claim back: %w", err)
	}
	return nil
}
