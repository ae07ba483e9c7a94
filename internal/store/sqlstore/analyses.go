package sqlstore

import (
	"context"
	"strings"

	"github.com/unloop-ai/unloop/internal/store"
)

// analyses writes new analyses of stored events. It skips events that were deleted in the meantime.
func (w *writing) analyses(ctx context.Context, changed []store.Reanalyzed) error {
	changed = lasts(changed, func(r *store.Reanalyzed) int64 { return r.Arrival })
	return insert(ctx, w, &w.bulks.analyses, changed, func(to []any, r *store.Reanalyzed) []any {
		return append(to, r.Arrival, optional(r.Analysis))
	}, nil)
}

// updateAnalyses returns a statement that sets the analyses of the given number of events. PostgreSQL needs the casts.
func (d *database) updateAnalyses(rows int) string {
	tuples := make([]string, rows)
	for k := range tuples {
		tuples[k] = d.words.Replace("(CAST(" + d.mark(2*k+1) + " AS INTEGER), CAST(" + d.mark(2*k+2) + " AS BLOB))")
	}
	return "UPDATE events SET analysis = changed.column2 FROM (VALUES " + strings.Join(tuples, ", ") + ") AS changed WHERE events.arrival = changed.column1"
}
