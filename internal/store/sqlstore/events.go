package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/unloop-ai/unloop/internal/store"
)

const (
	eventColumns    = "arrival, run, id, at_sequence, at_time, at_tie, received, body, analysis"
	positionColumns = "id, at_sequence, at_time, at_tie"
	arrivalColumns  = "id, arrival"
)

// events writes events and returns those that their runs already have.
func (w *writing) events(ctx context.Context, events []store.Event) (skipped []store.EventRef, err error) {
	if copied, err := w.copyEvents(ctx, events); copied || err != nil {
		return nil, err
	}
	err = insert(ctx, w, &w.bulks.events, events, w.eventArguments, func(part []store.Event, written int64) error {
		if written == int64(len(part)) {
			return nil
		}
		left, err := w.duplicates(ctx, part)
		skipped = append(skipped, left...)
		return err
	})
	return skipped, err
}

func (w *writing) eventArguments(to []any, e *store.Event) []any {
	p := &e.Position
	body := e.Body
	if body == nil {
		body = []byte{}
	}
	return append(to, e.Arrival, e.Run, store.Key(e.ID), p.Sequence, p.Time, p.Tie, toNanos(e.Received), body, optional(e.Analysis))
}

// duplicates returns the events of a part that were not written: their arrivals are not in the table.
func (w *writing) duplicates(ctx context.Context, part []store.Event) (left []store.EventRef, err error) {
	args := make([]any, len(part))
	for k := range part {
		args[k] = part[k].Arrival
	}
	there := make(map[int64]bool, len(part))
	err = eachRow(ctx, w.tx, `SELECT arrival FROM events WHERE `+w.sameRuns(part)+`arrival IN `+w.tuples(1, len(part)), args, func(row scanner) error {
		var arrival int64
		err := row.Scan(&arrival)
		there[arrival] = true
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find the duplicate events: %w", err)
	}
	for k := range part {
		if e := &part[k]; !there[e.Arrival] {
			left = append(left, store.EventRef{Run: e.Run, ID: e.ID})
		}
	}
	return left, nil
}

// sameRuns returns a condition that leads to the partitions of the events' runs. Without partitions it is empty.
func (w *writing) sameRuns(events []store.Event) string {
	if w.days == nil {
		return ""
	}
	var numbers []string
	last := int64(0)
	for k := range events {
		if run := events[k].Run; k == 0 || run != last {
			numbers, last = append(numbers, strconv.FormatInt(run, 10)), run
		}
	}
	return "run IN (" + strings.Join(numbers, ", ") + ") AND "
}

// remove deletes events, such as those that a later span of their trace changes. Those of a run should be adjacent.
func (w *writing) remove(ctx context.Context, removed []store.EventRef) error {
	var deleted []searchEntry
	for len(removed) > 0 {
		run, n := removed[0].Run, 1
		for n < min(len(removed), idsAtOnce) && removed[n].Run == run {
			n++
		}
		ids := make([]string, n)
		for k := range ids {
			ids[k] = store.Key(removed[k].ID)
		}
		removed = removed[n:]
		at, args := byIDs(run, ids)
		rows, err := w.tx.StmtContext(ctx, w.bulks.removed[at]).QueryContext(ctx, args...)
		err = eachOf(rows, err, func(row scanner) error {
			e := searchEntry{run: run}
			err := row.Scan(&e.arrival)
			deleted = append(deleted, e)
			return err
		})
		if err != nil {
			return fmt.Errorf("delete events: %w", err)
		}
	}
	return w.unindex(ctx, deleted)
}

// scanEvent reads the columns of eventColumns, and further ones. body and analysis point to byte slices.
func scanEvent(row scanner, e *store.Event, body, analysis any, further ...any) error {
	var received int64
	p := &e.Position
	to := append([]any{&e.Arrival, &e.Run, &e.ID, &p.Sequence, &p.Time, &p.Tie, &received, body, analysis}, further...)
	if err := row.Scan(to...); err != nil {
		return err
	}
	e.Received = fromNanos(received)
	return nil
}

// Events calls each for the events of the run after a position, in order. An event is valid until each returns. An error of each ends
// the iteration and is returned.
func (s *Store) Events(ctx context.Context, run int64, behind store.Position, each func(*store.Event) error) error {
	return s.eventsBehind(ctx, "", []any{run, behind.Sequence, behind.Time, behind.Tie}, each)
}

// NextEvents is Events for the first limit events.
func (s *Store) NextEvents(ctx context.Context, run int64, behind store.Position, limit int, each func(*store.Event) error) error {
	return s.eventsBehind(ctx, " LIMIT $5", []any{run, behind.Sequence, behind.Time, behind.Tie, limit}, each)
}

func (s *Store) eventsBehind(ctx context.Context, limit string, args []any, each func(*store.Event) error) error {
	var e store.Event
	var body, analysis sql.RawBytes
	query := `SELECT ` + s.readColumns(eventColumns) + ` FROM events WHERE run = $1 AND (at_sequence, at_time, at_tie) > ($2, $3, $4)
		ORDER BY at_sequence, at_time, at_tie, arrival` + limit
	var stop error
	err := s.each(ctx, query, args, func(row scanner) error {
		if err := scanEvent(row, &e, &body, &analysis); err != nil {
			return err
		}
		e.Body, e.Analysis = body, analysis
		stop = each(&e)
		return stop
	})
	if stop != nil {
		return stop
	}
	if err != nil {
		return fmt.Errorf("read the events of a run: %w", err)
	}
	return nil
}

// Furthest returns the position of the last event of the run, or the zero Position if there is none.
func (s *Store) Furthest(ctx context.Context, run int64) (p store.Position, err error) {
	query := `SELECT at_sequence, at_time, at_tie FROM events WHERE run = $1
		ORDER BY at_sequence DESC, at_time DESC, at_tie DESC LIMIT 1`
	err = s.read.QueryRowContext(ctx, query, run).Scan(&p.Sequence, &p.Time, &p.Tie)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return p, fmt.Errorf("read the position of a run's last event: %w", err)
	}
	return p, nil
}

// Known returns the given ids that are ids of events of the run, with their positions.
func (s *Store) Known(ctx context.Context, run int64, ids []string) (map[string]store.Position, error) {
	known := map[string]store.Position{}
	err := s.byID(ctx, positionColumns, run, ids, func(row scanner, wanted func(string) []string) error {
		var id string
		var p store.Position
		if err := row.Scan(&id, &p.Sequence, &p.Time, &p.Tie); err != nil {
			return err
		}
		for _, id := range wanted(id) {
			known[id] = p
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for events by id: %w", err)
	}
	return known, nil
}

// idsAtOnce is the maximum number of ids in a query.
const idsAtOnce = 64

// idSizes are the numbers of ids in a query. Few sizes mean few prepared statements. A late event often arrives alone.
var idSizes = []int{1, 8, idsAtOnce}

// byID calls f for each event of the run that has one of the ids. columns are eventColumns, positionColumns or arrivalColumns. asked returns the given
// ids that are stored as an id: the store replaces invalid text, so they may differ from it, and there may be more than one.
func (s *Store) byID(ctx context.Context, columns string, run int64, ids []string, f func(row scanner, wanted func(string) []string) error) error {
	spelt := map[string][]string{}
	for len(ids) > 0 {
		part := ids[:min(len(ids), idsAtOnce)]
		ids = ids[len(part):]
		clear(spelt)
		kept := make([]string, len(part))
		for k, id := range part {
			kept[k] = store.Key(id)
			spelt[kept[k]] = append(spelt[kept[k]], id)
		}
		at, args := byIDs(run, kept)
		rows, err := s.bulks.byID[columns][at].QueryContext(ctx, args...)
		err = eachOf(rows, err, func(row scanner) error {
			return f(row, func(kept string) []string { return spelt[kept] })
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// byIDs returns the index in idSizes of a statement for the ids of a run, and its arguments. The last id fills the remaining places.
func byIDs(run int64, ids []string) (at int, args []any) {
	at, _ = slices.BinarySearch(idSizes, len(ids))
	args = make([]any, 0, 1+idSizes[at])
	args = append(args, run)
	for k := range idSizes[at] {
		args = append(args, ids[min(k, len(ids)-1)])
	}
	return at, args
}

// idMarks are the placeholders of the ids in byID for each of idSizes. They follow the placeholder of the run.
var idMarks = func() (all []string) {
	for _, size := range idSizes {
		marks := make([]string, size)
		for k := range marks {
			marks[k] = "$" + strconv.Itoa(k+2)
		}
		all = append(all, "("+strings.Join(marks, ", ")+")")
	}
	return all
}()

// analyses writes new analyses of stored events. It skips events that were deleted in the meantime.
func (w *writing) analyses(ctx context.Context, changed []store.Reanalyzed) error {
	changed = lasts(changed, func(r *store.Reanalyzed) int64 { return r.Arrival })
	return insert(ctx, w, &w.bulks.analyses, changed, func(to []any, r *store.Reanalyzed) []any {
		return append(to, r.Arrival, r.Run, optional(r.Analysis))
	}, nil)
}

// updateAnalyses returns a statement that sets the analyses of the given number of events. PostgreSQL needs the casts.
func (d *database) updateAnalyses(rows int) string {
	tuples := make([]string, rows)
	for k := range tuples {
		tuples[k] = d.words.Replace("(CAST(" + d.mark(3*k+1) + " AS INTEGER), CAST(" + d.mark(3*k+2) + " AS INTEGER), CAST(" + d.mark(3*k+3) + " AS BLOB))")
	}
	return "UPDATE events SET analysis = given.column3 FROM (VALUES " + strings.Join(tuples, ", ") +
		") AS given WHERE " + d.sameEvent
}
