package sqlstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/unloop-ai/unloop/internal/store"
)

// errFull ends a full page.
var errFull = errors.New("the page is full")

// EventPage returns a page of the events of the run, in order or backward, and the cursor of the next page, which is "" at the end. If
// events are large, a page is shorter than its limit: it ends with the event that exceeds maxPageBytes. EventPage returns
// store.ErrCursor for a cursor of another list.
func (s *Store) EventPage(ctx context.Context, run int64, p store.Page) (events []store.Event, next string, err error) {
	kind, behind, way := "events", ">", ""
	if p.Backward {
		kind, behind, way = "events-back", "<", " DESC"
	}
	w := &where{}
	w.add("run = ?", run)
	if p.Cursor != "" {
		place, err := parse(p.Cursor, kind, 4)
		if err != nil {
			return nil, "", err
		}
		w.add("(at_sequence, at_time, at_tie, arrival) "+behind+" (?, ?, ?, ?)", place...)
	}
	most, weighs := limit(p.Limit), 0
	query := fmt.Sprintf("SELECT %s, arrival FROM events%s ORDER BY at_sequence%[3]s, at_time%[3]s, at_tie%[3]s, arrival%[3]s LIMIT %[4]d",
		s.readColumns(eventColumns), w, way, most+1)
	var key int64 // of the last event
	err = s.each(ctx, query, w.args, func(row scanner) error {
		if len(events) == most || weighs >= maxPageBytes {
			last := &events[len(events)-1]
			at := last.Position
			next = cursor(kind, at.Sequence, at.Time, at.Tie, key)
			return errFull
		}
		var e store.Event
		err := scanEvent(row, &e, &e.Body, &e.Analysis, &key)
		weighs += len(e.Body) + len(e.Analysis)
		events = append(events, e)
		return err
	})
	if err != nil && !errors.Is(err, errFull) {
		return nil, "", fmt.Errorf("read a page of events: %w", err)
	}
	return events, next, nil
}

// EventsSince returns the first events of the run after an arrival, in the order of arrival: at most the given number, and at most
// maxPage. If events are large, there are fewer: the last one is the event that exceeds maxPageBytes. more reports whether further
// ones may exist. EventsSince reads the index entries of all events of the run.
func (s *Store) EventsSince(ctx context.Context, run, arrival int64, most int) (events []store.Event, more bool, err error) {
	most, weighs := limit(most), 0
	query := `SELECT ` + s.readColumns(eventColumns) + ` FROM (` + s.since + `) AS later JOIN events ON ` + s.within + `arrival = place ORDER BY latest`
	err = s.each(ctx, query, []any{run, arrival, most}, func(row scanner) error {
		if weighs >= maxPageBytes {
			return errFull
		}
		var e store.Event
		err := scanEvent(row, &e, &e.Body, &e.Analysis)
		weighs += len(e.Body) + len(e.Analysis)
		events = append(events, e)
		return err
	})
	if err != nil && !errors.Is(err, errFull) {
		return nil, false, fmt.Errorf("read the events since an arrival: %w", err)
	}
	return events, err != nil || len(events) == most, nil
}

// Arrivals returns the arrivals of the events of the run that have one of the ids.
func (s *Store) Arrivals(ctx context.Context, run int64, ids []string) (map[string]int64, error) {
	arrivals := map[string]int64{}
	err := s.byID(ctx, arrivalColumns, run, ids, func(row scanner, wanted func(string) []string) error {
		var id string
		var arrival int64
		err := row.Scan(&id, &arrival)
		for _, id := range wanted(id) {
			arrivals[id] = arrival
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look for the arrivals of events: %w", err)
	}
	return arrivals, nil
}

// EventsOf returns the events of the run that have one of the ids, in any order.
func (s *Store) EventsOf(ctx context.Context, run int64, ids []string) (events []store.Event, err error) {
	err = s.byID(ctx, eventColumns, run, ids, func(row scanner, _ func(string) []string) error {
		var e store.Event
		err := scanEvent(row, &e, &e.Body, &e.Analysis)
		events = append(events, e)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read events by id: %w", err)
	}
	return events, nil
}
