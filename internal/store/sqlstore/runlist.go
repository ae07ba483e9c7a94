package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
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
func (s *Store) filtered(ctx context.Context, f *store.Filter) (*where, error) {
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
	oneOf(w, "health", f.Health, func(health string) any { return store.Text(health) })
	oneOf(w, "worst", f.Decisions, func(action policy.Action) any { return int64(action) })
	if f.Guarded != nil {
		condition := "guarded_by = ''"
		if *f.Guarded {
			condition = "guarded_by <> ''"
		}
		w.add(condition)
	}
	if f.Warning != "" {
		w.add("number IN (SELECT w.run FROM warnings w WHERE w.rule = ?)", store.Key(f.Warning))
	}
	for _, name := range []struct{ column, wanted string }{{"tools", f.Tool}, {"agents", f.Agent}, {"models", f.Model}, {"labels", f.Label}} {
		if name.wanted != "" { // in SQLite, LIKE ignores case
			w.add("replace("+name.column+", ?, '') <> "+name.column, quoted(name.wanted))
		}
	}
	if f.Text == "" {
		return w, nil
	}
	return w, s.addText(ctx, w, f.Text)
}

// oneOf adds the condition that a column has one of the values. Without values it adds none.
func oneOf[T any](w *where, column string, values []T, stored func(T) any) {
	if len(values) == 0 {
		return
	}
	args := make([]any, len(values))
	for k := range values {
		args[k] = stored(values[k])
	}
	w.add(column+" IN (?"+strings.Repeat(", ?", len(args)-1)+")", args...)
}

// addText adds the condition that a run contains the text: see Runs.
func (s *Store) addText(ctx context.Context, w *where, text string) error {
	text = store.Text(text)
	contains := func(column string) string { return s.position + "(lower(" + column + "), lower(?)) > 0" }
	places := []string{
		contains("id || ' ' || name || ' ' || project || ' ' || tools || ' ' || agents || ' ' || models"),
		"number IN (SELECT w.run FROM warnings w WHERE " + contains("w.message || ' ' || w.rule || ' ' || replace(w.rule, '_', ' ')") + ")",
	}
	found, err := s.runsWith(ctx, text)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		numbers := make([]string, len(found))
		for k, run := range found {
			numbers[k] = strconv.FormatInt(run, 10)
		}
		places = append(places, "number IN ("+strings.Join(numbers, ", ")+")")
	}
	w.add("("+strings.Join(places, " OR ")+")", text, text)
	return nil
}

// sortKey is a column by which runs can be sorted.
type sortKey struct {
	column string                    // or an expression
	of     func(*store.Run) any      // an int64, a float64 or a string
	parse  func(string) (any, error) // reads the value from a cursor
}

func parseInt(text string) (any, error)   { return strconv.ParseInt(text, 10, 64) }
func parseFloat(text string) (any, error) { return strconv.ParseFloat(text, 64) }
func parseText(text string) (any, error)  { return store.Text(text), nil }

var sortKeys = map[string]sortKey{
	store.ByStart:    {"started", func(r *store.Run) any { return toNanos(r.Started) }, parseInt},
	store.ByUpdate:   {"updated", func(r *store.Run) any { return toNanos(r.Updated) }, parseInt},
	store.ByName:     {"CASE name WHEN '' THEN id ELSE name END", func(r *store.Run) any { return cmp.Or(r.Name, r.ID) }, parseText},
	store.ByProject:  {"project", func(r *store.Run) any { return r.Project }, parseText},
	store.ByStatus:   {"status", func(r *store.Run) any { return r.Status }, parseText},
	store.ByHealth:   {"score", func(r *store.Run) any { return int64(r.Health.Score) }, parseInt},
	store.ByDecision: {"worst", func(r *store.Run) any { return int64(r.WorstAction) }, parseInt},
	store.ByWarnings: {"warnings", func(r *store.Run) any { return int64(r.Warnings) }, parseInt},
	store.ByNovelty:  {"mean_novelty", func(r *store.Run) any { return r.MeanNovelty }, parseFloat},
	store.ByTool:     {"most_called", func(r *store.Run) any { return r.Preview.MostCalled() }, parseText},
	store.ByEvents:   {"events", func(r *store.Run) any { return int64(r.Metrics.Events) }, parseInt},
	store.ByTokens:   {"tokens", func(r *store.Run) any { return r.Metrics.Tokens }, parseInt},
	store.ByCost:     {"cost", func(r *store.Run) any { return r.Metrics.Cost }, parseFloat},
	store.ByDuration: {"duration", func(r *store.Run) any { return r.Metrics.Duration }, parseFloat},
}

// Runs returns a page of the runs that the filter selects, in the given order, and the cursor of the next page, which is "" at the end.
// Runs with equal keys are in the order of their numbers. New runs do not move later pages. A cursor of another list is
// store.ErrCursor.
//
// A run contains the text of a filter if its id, name, project, tools, agents, models, rules or the message of a warning contain it,
// ignoring the case of A to Z, or if one of its events has all words of the text. By words, only indexed events are found, and only
// the 1,000 latest runs.
func (s *Store) Runs(ctx context.Context, f store.Filter, o store.Order, p store.Page) (runs []store.Run, next string, err error) {
	w, err := s.filtered(ctx, &f)
	if err != nil {
		return nil, "", fmt.Errorf("list runs: %w", err)
	}
	o.Key = cmp.Or(o.Key, store.ByStart)
	key, known := sortKeys[o.Key]
	if !known {
		return nil, "", fmt.Errorf("list runs: there is no order %.100q", o.Key)
	}
	kind, after, way := "runs."+o.Key, "<", "DESC"
	if o.Ascending {
		kind, after, way = kind+"-up", ">", "ASC"
	}
	from := s.scanRuns
	if len(w.conditions) == 0 && o.Key == store.ByStart {
		from = "runs" // an index has its order
	}
	if p.Cursor != "" {
		last, number, err := parseSorted(p.Cursor, kind, key.parse)
		if err != nil {
			return nil, "", err
		}
		w.add("("+key.column+", number) "+after+" (?, ?)", last, number)
	}
	most := limit(p.Limit)
	order := fmt.Sprintf("ORDER BY %s %s, number %s", key.column, way, way)
	query := fmt.Sprintf("SELECT %s FROM runs WHERE number IN (SELECT number FROM %s%s %s LIMIT %d) %s", runColumns, from, w, order, most+1, order)
	err = s.each(ctx, query, w.args, func(row scanner) error {
		if len(runs) == most {
			next = sortedCursor(kind, key.of(&runs[most-1]), runs[most-1].Number)
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

// CountRuns returns the number of runs that the filter selects.
func (s *Store) CountRuns(ctx context.Context, f store.Filter) (runs int, err error) {
	w, err := s.filtered(ctx, &f)
	if err == nil {
		err = s.read.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+s.scanRuns+w.String(), w.args...).Scan(&runs)
	}
	if err != nil {
		return 0, fmt.Errorf("count runs: %w", err)
	}
	return runs, nil
}

// LatestRun returns the run that started last, or nil.
func (s *Store) LatestRun(ctx context.Context) (*store.Run, error) {
	runs, _, err := s.Runs(ctx, store.Filter{}, store.Order{}, store.Page{Limit: 1})
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
