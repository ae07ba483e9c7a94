package sqlstore

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/unloop-ai/unloop/internal/store"
)

// where collects the conditions of a query and their arguments.
type where struct {
	conditions []string
	args       []any
}

// add adds a condition. Each ? in it is replaced by one of the arguments, in order.
func (w *where) add(condition string, args ...any) {
	for _, arg := range args {
		w.args = append(w.args, arg)
		condition = strings.Replace(condition, "?", "$"+strconv.Itoa(len(w.args)), 1)
	}
	w.conditions = append(w.conditions, condition)
}

// String returns the WHERE clause with a leading space, or "" without conditions.
func (w *where) String() string {
	if len(w.conditions) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.conditions, " AND ")
}

// filtered returns the conditions of a filter.
func filtered(f store.Filter) *where {
	w := &where{}
	if f.Status != "" {
		w.add("status = ?", store.Key(f.Status))
	}
	if f.Project != "" {
		w.add("project = ?", store.Key(f.Project))
	}
	if !f.Since.IsZero() {
		w.add("started >= ?", toNanos(f.Since))
	}
	if !f.Until.IsZero() {
		w.add("started < ?", toNanos(f.Until))
	}
	if f.Warning != "" {
		w.add("EXISTS (SELECT 1 FROM warnings w WHERE w.rule = ? AND w.run = runs.number)", store.Key(f.Warning))
	}
	if f.Tool != "" { // LIKE in SQLite ignores case
		w.add("replace(tools, ?, '') <> tools", quoted(f.Tool))
	}
	if f.Text != "" {
		like := " LIKE lower(?) ESCAPE '!'"
		part := "%" + strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(store.Text(f.Text)) + "%"
		w.add("(lower(id)"+like+" OR lower(name)"+like+" OR lower(project)"+like+
			" OR EXISTS (SELECT 1 FROM warnings w WHERE w.run = runs.number AND lower(w.message)"+like+"))", part, part, part, part)
	}
	return w
}

// Runs returns a page of the runs that the filter selects, the last started first, and the cursor of the next page, which is ""
// at the end. Runs that start in the meantime do not move the following pages. A cursor of another list is store.ErrCursor.
func (s *Store) Runs(ctx context.Context, f store.Filter, p store.Page) (runs []store.Run, next string, err error) {
	w := filtered(f)
	if p.Cursor != "" {
		behind, err := parse(p.Cursor, "runs", 2)
		if err != nil {
			return nil, "", err
		}
		w.add("(started, number) < (?, ?)", behind...)
	}
	most := limit(p.Limit)
	query := fmt.Sprintf("SELECT %s FROM runs%s ORDER BY started DESC, number DESC LIMIT %d", runColumns, w, most+1)
	err = s.each(ctx, query, w.args, func(row scanner) error {
		if len(runs) == most {
			last := &runs[most-1]
			next = cursor("runs", toNanos(last.Started), last.Number)
			return nil
		}
		r, err := scanRun(row)
		if err == nil {
			runs = append(runs, *r)
		}
		return err
	})
	if err != nil {
		return nil, "", fmt.Errorf("list runs: %w", err)
	}
	return runs, next, nil
}

// LatestRun returns the run that started last, or nil.
func (s *Store) LatestRun(ctx context.Context) (*store.Run, error) {
	runs, _, err := s.Runs(ctx, store.Filter{}, store.Page{Limit: 1})
	if err != nil || len(runs) == 0 {
		return nil, err
	}
	return &runs[0], nil
}

// RunsSince returns the first runs whose latest event arrived after an arrival, in the order of these arrivals.
func (s *Store) RunsSince(ctx context.Context, arrival int64, most int) (runs []store.Run, err error) {
	query := `SELECT ` + runColumns + ` FROM runs WHERE arrival > $1 ORDER BY arrival LIMIT $2`
	err = s.each(ctx, query, []any{arrival, limit(most)}, func(row scanner) error {
		r, err := scanRun(row)
		if err == nil {
			runs = append(runs, *r)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list the runs since an arrival: %w", err)
	}
	return runs, nil
}
