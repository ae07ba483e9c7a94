package storetest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/unloop-ai/unloop/internal/store"
)

// changes tests what becomes of events that are removed and written again in one batch.
func changes(t *testing.T, open func(*testing.T) Store) {
	for _, c := range []struct {
		says string
		test func(*testing.T, Store)
	}{
		{"an event that changes at its position is read in its latest form everywhere", changedAtTheirPositions},
		{"pages of changed events at one position have each once", pagesOfChanged},
		{"a reader that resumes anywhere gets the latest form of each event", readersOfChanges},
		{"of an event that is removed once and written twice the first form is kept", removedAndWrittenTwice},
		{"an event that is removed from a run and written to another is only there", movedToAnotherRun},
		{"a run that is deleted in the batch that changes its events has only those", deletedAndChanged},
		{"an event that changes at its position is found by its latest words", searchChanged},
		{"events of several runs that change in one batch, in any order, are found by their latest words", searchManyChanged},
		{"an arrival of a deleted run is not used again", arrivalsOfDeleted},
	} {
		t.Run(c.says, func(t *testing.T) { c.test(t, open(t)) })
	}
}

// changedTo returns the next form of an event at its position.
func changedTo(e store.Event, arrival int64) store.Event {
	e.Arrival, e.Received = arrival, e.Received.Add(time.Second)
	e.Body, e.Analysis = fmt.Appendf(nil, `{"event_id":%q,"arrival":%d}`, e.ID, arrival), fmt.Appendf(nil, `{"call":"%d"}`, arrival)
	return e
}

// refs returns what identifies events.
func refs(events []store.Event) (all []store.EventRef) {
	for _, e := range events {
		all = append(all, store.EventRef{Run: e.Run, ID: e.ID})
	}
	return all
}

func changedAtTheirPositions(t *testing.T, s Store) {
	ctx := t.Context()
	b := store.Batch{Runs: []store.Run{run(1, "a"), run(2, "b")}, Events: []store.Event{event(500, 2, "e3", 3)}}
	for k := range int64(150) {
		b.Events = append(b.Events, event(k+1, 1, fmt.Sprint("e", k), k))
	}
	commit(t, s, b)
	want := slices.Clone(b.Events[1:])
	for round := range int64(2) { // the second changes events that were changed before
		change := store.Batch{Runs: []store.Run{run(1, "a")}}
		for k := range want {
			number := want[k].Position.Sequence
			if number%5 == 0 {
				continue
			}
			want[k] = changedTo(want[k], 1000*(round+1)+number)
			if number == 71 { // it moves, so it cannot keep its row
				want[k].Position.Tie += 5
			}
			change.Events = append(change.Events, want[k])
		}
		change.Removed = append(refs(change.Events), store.EventRef{Run: 1, ID: fmt.Sprint("e", 5*round)}, store.EventRef{Run: 1, ID: "new"})
		added := event(1900+round, 1, fmt.Sprint("new", round), 1000+round)
		change.Events = append(change.Events, added)
		commit(t, s, change)
		want = append(slices.DeleteFunc(want, func(e store.Event) bool { return e.ID == fmt.Sprint("e", 5*round) }), added)
	}
	changed := want[1]
	stale := store.Reanalyzed{Arrival: 2, Run: 1, EventID: changed.ID, Analysis: []byte("stale")}
	want[2].Analysis = []byte("new")
	commit(t, s, store.Batch{Analyses: []store.Reanalyzed{stale, {Arrival: want[2].Arrival, Run: 1, EventID: want[2].ID, Analysis: []byte("new")}}})

	if diff := gocmp.Diff(want, eventsOf(t, s, 1, store.Start), wholeBytes); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if diff := gocmp.Diff(b.Events[:1], eventsOf(t, s, 2, store.Start), wholeBytes); diff != "" {
		t.Errorf("events of the other run (-want +got):\n%s", diff)
	}
	other := []store.Event{changedTo(b.Events[0], 1500)}
	commit(t, s, store.Batch{Runs: []store.Run{run(2, "b")}, Removed: refs(other), Events: other})
	byArrival := slices.Clone(want)
	slices.SortFunc(byArrival, func(x, y store.Event) int { return cmp.Compare(x.Arrival, y.Arrival) })
	since, _, err := s.EventsSince(ctx, 1, 0, 1000)
	if diff := gocmp.Diff(byArrival, since, wholeBytes); diff != "" || err != nil {
		t.Errorf("error %v, events since the beginning (-want +got):\n%s", err, diff)
	}
	since, _, err = s.EventsSince(ctx, 2, 1000, 1000)
	if diff := gocmp.Diff(other, since, wholeBytes); diff != "" || err != nil {
		t.Errorf("error %v, events of the other run since an arrival (-want +got):\n%s", err, diff)
	}
	wanted := []string{"e1", "e11", "e2", "new1"}
	arrivals := must[map[string]int64](t)(s.Arrivals(ctx, 1, wanted))
	if diff := gocmp.Diff(map[string]int64{"e1": 2001, "e11": 2011, "e2": 2002, "new1": 1901}, arrivals, wholeBytes); diff != "" {
		t.Errorf("arrivals (-want +got):\n%s", diff)
	}
	if got := must[[]store.Event](t)(s.EventsOf(ctx, 1, []string{changed.ID})); !gocmp.Equal([]store.Event{changed}, got) {
		t.Errorf("by its id the event is %v", got)
	}
	again := changedTo(changed, 3000) // without Removed it is a duplicate
	if duplicates, err := s.Commit(ctx, &store.Batch{Events: []store.Event{again}}); err != nil || len(duplicates) != 1 {
		t.Errorf("duplicates %v, error %v", duplicates, err)
	}
	commit(t, s, store.Batch{Deleted: []int64{1}})
	if since, _, err := s.EventsSince(ctx, 1, 0, 10); err != nil || len(since) > 0 {
		t.Errorf("of a deleted run remain %v, error %v", since, err)
	}
}

func pagesOfChanged(t *testing.T, s Store) {
	b := store.Batch{Runs: []store.Run{run(1, "a")}}
	for k := range int64(30) {
		e := event(k+1, 1, fmt.Sprintf("%02d", k), 7)
		e.Position.Tie = 0
		b.Events = append(b.Events, e)
	}
	commit(t, s, b)
	change := store.Batch{Runs: b.Runs}
	for k := 28; k >= 0; k -= 2 {
		change.Events = append(change.Events, changedTo(b.Events[k], int64(200-k)))
	}
	change.Removed = refs(change.Events)
	commit(t, s, change)
	for _, backward := range []bool{false, true} {
		got := map[string]int{}
		page := store.Page{Limit: 4, Backward: backward}
		for first := true; first || page.Cursor != ""; first = false {
			events, next, err := s.EventPage(t.Context(), 1, page)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range events {
				got[e.ID]++
			}
			page.Cursor = next
		}
		if len(got) != 30 || len(slices.DeleteFunc(slices.Collect(maps.Values(got)), func(n int) bool { return n == 1 })) > 0 {
			t.Errorf("backward %v: pages have %v", backward, got)
		}
	}
}

// readersOfChanges commits random changes. Meanwhile readers that know the events up to some arrival read some events at a time. In the end each
// has every event in its latest form, or in that of which it has the arrival.
func readersOfChanges(t *testing.T, s Store) {
	number := int64(0)
	rapid.Check(t, func(t *rapid.T) {
		number++
		ctx := t.Context()
		arrival, live := number*1_000_000, map[string]store.Event{}
		type reader struct {
			since int64
			has   map[string]store.Event
		}
		var readers []*reader
		read := func(r *reader, most int) (more bool) {
			events, more, err := s.EventsSince(ctx, number, r.since, most)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range events {
				if e.Arrival <= r.since {
					t.Fatalf("after arrival %d comes %d", r.since, e.Arrival)
				}
				r.since, r.has[e.ID] = e.Arrival, e
			}
			return more
		}
		for range rapid.IntRange(1, 12).Draw(t, "commits") {
			b := store.Batch{Runs: []store.Run{run(number, fmt.Sprint("r", number))}}
			for range rapid.IntRange(0, 90).Draw(t, "events") {
				arrival++
				id := fmt.Sprint(rapid.IntRange(0, 99).Draw(t, "id"))
				if slices.ContainsFunc(b.Events, func(e store.Event) bool { return e.ID == id }) {
					continue
				}
				e, known := live[id]
				switch {
				case !known:
					e = event(arrival, number, id, arrival)
				case rapid.IntRange(0, 9).Draw(t, "moves") == 0:
					e = changedTo(e, arrival)
					e.Position.Sequence++
				default:
					e = changedTo(e, arrival)
				}
				if known {
					b.Removed = append(b.Removed, store.EventRef{Run: number, ID: id})
				}
				b.Events, live[id] = append(b.Events, e), e
			}
			b.Runs[0].Arrival = arrival
			commit(t, s, b)
			if rapid.Bool().Draw(t, "subscribe") {
				readers = append(readers, &reader{has: map[string]store.Event{}})
			}
			for _, r := range readers {
				for range rapid.IntRange(0, 3).Draw(t, "reads") {
					read(r, rapid.IntRange(1, 50).Draw(t, "most"))
				}
			}
		}
		for k, r := range readers {
			for read(r, 7) {
			}
			if diff := gocmp.Diff(live, r.has, wholeBytes); diff != "" {
				t.Fatalf("reader %d (-want +got):\n%s", k, diff)
			}
		}
	})
}

func removedAndWrittenTwice(t *testing.T, s Store) {
	stays, moves := event(1, 1, "stays", 1), event(2, 1, "moves", 2)
	b := store.Batch{Runs: []store.Run{run(1, "a")}, Events: []store.Event{stays, moves}}
	commit(t, s, b)
	want := []store.Event{changedTo(stays, 3), changedTo(moves, 5)}
	want[1].Position.Sequence = 9
	b.Removed = append(refs(b.Events), refs(b.Events)...)
	b.Events = []store.Event{want[0], changedTo(stays, 4), want[1], changedTo(moves, 6)}
	duplicates, err := s.Commit(t.Context(), &b)
	if diff := gocmp.Diff(refs(want), duplicates, wholeBytes); diff != "" || err != nil {
		t.Errorf("error %v, duplicates (-want +got):\n%s", err, diff)
	}
	if diff := gocmp.Diff(want, eventsOf(t, s, 1, store.Start), wholeBytes); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func movedToAnotherRun(t *testing.T, s Store) {
	b := store.Batch{Runs: []store.Run{run(1, "a"), run(2, "b")}}
	b.Events = []store.Event{event(1, 1, "x", 1), event(2, 1, "y", 2), event(3, 2, "z", 1)}
	commit(t, s, b)
	x, y, z := changedTo(b.Events[0], 4), changedTo(b.Events[1], 5), changedTo(b.Events[2], 6)
	x.Run, z.Run = 2, 1
	commit(t, s, store.Batch{Runs: b.Runs, Removed: refs(b.Events), Events: []store.Event{x, y, z}})
	for number, want := range map[int64][]store.Event{1: {z, y}, 2: {x}} {
		if diff := gocmp.Diff(want, eventsOf(t, s, number, store.Start), wholeBytes); diff != "" {
			t.Errorf("events of run %d (-want +got):\n%s", number, diff)
		}
	}
}

func deletedAndChanged(t *testing.T, s Store) {
	b := store.Batch{Runs: []store.Run{run(1, "a")}, Events: []store.Event{message(1, 1, "x", "former"), message(2, 1, "y", "gone")}}
	commit(t, s, b)
	indexAll(t, s)
	second := message(3, 1, "x", "second")
	second.Position = b.Events[0].Position
	commit(t, s, store.Batch{Runs: b.Runs, Removed: refs([]store.Event{second}), Events: []store.Event{second}})
	third := message(4, 1, "x", "third")
	third.Position = second.Position
	commit(t, s, store.Batch{Deleted: []int64{1}, Runs: b.Runs, Removed: refs([]store.Event{third}), Events: []store.Event{third}})
	indexAll(t, s)
	if diff := gocmp.Diff([]store.Event{third}, eventsOf(t, s, 1, store.Start), wholeBytes); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	for text, want := range map[string]int{"former": 0, "gone": 0, "second": 0, "third": 1} {
		if n := must[int](t)(s.CountRuns(t.Context(), store.Filter{Text: text})); n != want {
			t.Errorf("%q finds %d runs, want %d", text, n, want)
		}
	}
}
