package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
)

// bulk is a statement that writes many rows, prepared for several numbers of rows.
type bulk struct {
	what     string // for errors
	columns  int
	sizes    []int // descending; the last is 1
	prepared []*sql.Stmt
}

// bulks are the statements that commits execute often.
type bulks struct {
	analyses, changed                                             bulk // updates of events; changed only if they keep their rows
	runs, events, spans, traces, warnings, decisions, checkpoints bulk

	forgotten *sql.Stmt // deletes an event from the full-text index; nil without that index

	changedSince, reindexed *sql.Stmt // find changed events that are indexed, and note that they are to be indexed again

	byID    map[string][]*sql.Stmt // read events by their ids, by columns, for each of idSizes
	removed []*sql.Stmt            // delete events by their ids, for each of idSizes

	run, traceSpans *sql.Stmt   // read a run and the spans of a trace
	invalidate      []*sql.Stmt // delete the decisions and the checkpoints of a run after a position
	unwarned        *sql.Stmt   // deletes the warnings of a run
}

// prepareBulks prepares all bulks. It runs before a transaction takes the only writing connection.
func (s *Store) prepareBulks(ctx context.Context) (all bulks, err error) {
	for _, b := range []struct {
		into            *bulk
		table           string
		columns, suffix string
	}{
		{&all.runs, "runs", writtenRunColumns, conflict("number", writtenRunColumns)},
		{&all.events, "events", eventColumns, " ON CONFLICT (run, id) DO NOTHING"},
		{&all.changed, "events", eventColumns, atSamePlace},
		{&all.spans, "spans", spanColumns, conflict("trace, id", spanColumns)},
		{&all.traces, "traces", traceColumns, conflict("trace, run", traceColumns)},
		{&all.warnings, "warnings", warningColumns, conflict("run, id", warningColumns)},
		{&all.decisions, "decisions", decisionColumns, conflict("run, at_sequence, at_time, at_tie, number", decisionColumns)},
		{&all.checkpoints, "checkpoints", checkpointColumns, conflict("run, at_sequence, at_time, at_tie", checkpointColumns)},
	} {
		if b.into == &all.changed && !s.changes {
			continue
		}
		*b.into = bulk{what: b.table, columns: strings.Count(b.columns, ",") + 1, sizes: s.rows}
		err := s.prepareBulk(ctx, b.into, func(rows int) string {
			return s.insertInto + b.table + " (" + b.columns + ") VALUES " + s.tuples(rows, b.into.columns) + b.suffix
		})
		if err != nil {
			return all, err
		}
	}
	all.analyses = bulk{what: "analyses", columns: 3, sizes: s.rows}
	if err := s.prepareBulk(ctx, &all.analyses, s.updateAnalyses); err != nil {
		return all, err
	}
	for _, marks := range idMarks {
		stmt, err := s.write.PrepareContext(ctx, `DELETE FROM events WHERE run = $1 AND id IN `+marks+` RETURNING arrival`)
		if err != nil {
			return all, fmt.Errorf("prepare to delete events: %w", err)
		}
		all.removed = append(all.removed, stmt)
	}
	if err := s.prepareChanges(ctx, &all); err != nil {
		return all, err
	}
	if all.byID, err = s.prepareByID(ctx); err != nil {
		return all, err
	}
	return all, s.prepareSingles(ctx, &all)
}

// prepareSingles prepares the statements that read or delete the records of one run or trace.
func (s *Store) prepareSingles(ctx context.Context, all *bulks) error {
	prepare := func(on *sql.DB, what, query string) (stmt *sql.Stmt, err error) {
		if stmt, err = on.PrepareContext(ctx, query); err != nil {
			return nil, fmt.Errorf("prepare to %s: %w", what, err)
		}
		return stmt, nil
	}
	var err error
	if all.run, err = prepare(s.read, "read a run", `SELECT `+runColumns+` FROM runs WHERE id = $1`); err != nil {
		return err
	}
	if all.traceSpans, err = prepare(s.read, "read spans", `SELECT `+spanColumns+` FROM spans WHERE trace = $1 ORDER BY id`); err != nil {
		return err
	}
	for _, table := range []string{"decisions", "checkpoints"} {
		stmt, err := prepare(s.write, "undo "+table, "DELETE FROM "+table+" WHERE run = $1 AND (at_sequence, at_time, at_tie) > ($2, $3, $4)")
		if err != nil {
			return err
		}
		all.invalidate = append(all.invalidate, stmt)
	}
	if all.unwarned, err = prepare(s.write, "delete warnings", "DELETE FROM warnings WHERE run = $1"); err != nil || !s.searchable {
		return err
	}
	all.forgotten, err = prepare(s.write, "delete events from the index", s.search.forget)
	return err
}

// prepareBulk prepares a statement for each number of rows.
func (s *Store) prepareBulk(ctx context.Context, b *bulk, query func(rows int) string) error {
	for _, rows := range b.sizes {
		stmt, err := s.write.PrepareContext(ctx, query(rows))
		if err != nil {
			return fmt.Errorf("prepare to write %s: %w", b.what, err)
		}
		b.prepared = append(b.prepared, stmt)
	}
	return nil
}

// prepareByID prepares the statements of byID.
func (s *Store) prepareByID(ctx context.Context) (map[string][]*sql.Stmt, error) {
	all := make(map[string][]*sql.Stmt)
	for _, columns := range []string{eventColumns, positionColumns, arrivalColumns} {
		for _, marks := range idMarks {
			stmt, err := s.read.PrepareContext(ctx, `SELECT `+s.readColumns(columns)+` FROM events WHERE run = $1 AND id IN `+marks)
			if err != nil {
				return nil, fmt.Errorf("prepare to read events by id: %w", err)
			}
			all[columns] = append(all[columns], stmt)
		}
	}
	return all, nil
}

// conflict returns the end of an insertion that overwrites the row with the same key.
func conflict(key, columns string) string {
	var set []string
	isKey := strings.Split(key, ", ")
	for column := range strings.SplitSeq(columns, ", ") {
		if !slices.Contains(isKey, column) {
			set = append(set, column+" = excluded."+column)
		}
	}
	return " ON CONFLICT (" + key + ") DO UPDATE SET " + strings.Join(set, ", ")
}

// tuples returns "(?, ?), (?, ?)" for two rows of two columns.
func (d *database) tuples(rows, columns int) string {
	var b strings.Builder
	for k := range rows * columns {
		switch {
		case k == 0:
			b.WriteByte('(')
		case k%columns == 0:
			b.WriteString("), (")
		default:
			b.WriteString(", ")
		}
		b.WriteString(d.mark(k + 1))
	}
	b.WriteByte(')')
	return b.String()
}

// insert writes rows in parts. It calls done for each part with the number of rows that were written.
func insert[T any](ctx context.Context, w *writing, b *bulk, rows []T, arguments func([]any, *T) []any, done func(part []T, written int64) error) error {
	for k, size := range b.sizes {
		stmt := w.tx.StmtContext(ctx, b.prepared[k])
		for len(rows) >= size {
			args := w.scratch[:0]
			for i := range rows[:size] {
				args = arguments(args, &rows[i])
			}
			w.scratch = args
			result, err := stmt.ExecContext(ctx, args...)
			if err != nil {
				return fmt.Errorf("write %d %s: %w", size, b.what, err)
			}
			written, err := result.RowsAffected()
			if err != nil {
				return fmt.Errorf("count the %s that were written: %w", b.what, err)
			}
			if done != nil {
				if err := done(rows[:size], written); err != nil {
					return err
				}
			}
			rows = rows[size:]
		}
	}
	return nil
}

// lasts returns the rows with distinct keys. Of rows with equal keys it keeps the last. It may return rows itself.
func lasts[T any, K comparable](rows []T, key func(*T) K) []T {
	at := make(map[K]int, len(rows))
	for k := range rows {
		at[key(&rows[k])] = k
	}
	if len(at) == len(rows) {
		return rows
	}
	kept := make([]T, 0, len(at))
	for k := range rows {
		if at[key(&rows[k])] == k {
			kept = append(kept, rows[k])
		}
	}
	return kept
}
