package storetest

import (
	"fmt"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/store"
)

func searchChanged(t *testing.T, s Store) {
	find := func(text string, want ...string) {
		t.Helper()
		if diff := gocmp.Diff(append([]string{}, want...), listed(t, s, store.Filter{Text: text}), wholeBytes); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	b := store.Batch{Runs: []store.Run{run(1, "a"), run(2, "b")}}
	for k := range int64(6) {
		b.Events = append(b.Events, message(k+1, 1+k/3, fmt.Sprint("e", k), fmt.Sprint("former", k)))
	}
	commit(t, s, b)
	if n := must[int](t)(s.Index(t.Context(), 4)); n != 4 { // e4 and e5 are not indexed yet
		t.Fatalf("%d events are indexed", n)
	}
	say := func(k, arrival int64, text string) {
		t.Helper()
		e := message(arrival, 1+k/3, fmt.Sprint("e", k), text)
		e.Position = b.Events[k].Position
		commit(t, s, store.Batch{Runs: b.Runs, Removed: refs([]store.Event{e}), Events: []store.Event{e}})
	}
	for k := range int64(6) {
		say(k, 10+k, fmt.Sprint("later", k))
	}
	find("former0")
	find("former3")
	if n := indexAll(t, s); n != 6 {
		t.Errorf("%d events are indexed after they changed", n)
	}
	for k := range 6 {
		find(fmt.Sprint("former", k))
		find(fmt.Sprint("later", k), []string{"a", "b"}[k/3])
	}
	say(0, 20, "")
	say(1, 21, "again")
	commit(t, s, store.Batch{Runs: b.Runs, Removed: []store.EventRef{{Run: 1, ID: "e1"}}}) // before it is indexed again
	say(4, 22, "once")
	commit(t, s, store.Batch{Deleted: []int64{2}})
	say(2, 23, "third form")
	indexAll(t, s)
	if err := s.Reclaim(t.Context()); err != nil { // the rows keep their keys
		t.Fatal(err)
	}
	say(2, 24, "fourth")
	indexAll(t, s)
	find("later0")
	find("later1")
	find("again")
	find("once")
	find("form")
	find("fourth", "a")
	find("later2")
}

// searchManyChanged changes events of three runs in one batch, the last first, and ten of each run by turns. One event moves.
func searchManyChanged(t *testing.T, s Store) {
	const events = 70 // more than a statement writes
	b := store.Batch{Runs: []store.Run{run(1, "a"), run(2, "b"), run(3, "c")}}
	for k := range int64(events) {
		b.Events = append(b.Events, message(k+1, 1+k/10%3, fmt.Sprint("e", k), fmt.Sprint("former", k)))
	}
	commit(t, s, b)
	indexAll(t, s)
	change := store.Batch{Runs: b.Runs}
	for k := int64(events) - 1; k >= 0; k-- {
		e := message(100+k, 1+k/10%3, fmt.Sprint("e", k), fmt.Sprint("later", k))
		if e.Position = b.Events[k].Position; k == 2 {
			e.Position.Sequence++
		}
		change.Events = append(change.Events, e)
	}
	change.Removed = refs(change.Events)
	commit(t, s, change)
	for _, when := range []string{"before they are indexed again", "once they are indexed again"} {
		for k := range events {
			if got := listed(t, s, store.Filter{Text: fmt.Sprint("former", k)}); len(got) > 0 {
				t.Errorf("%s, the former words of event %d find %v", when, k, got)
			}
		}
		indexAll(t, s)
	}
	for k := range events {
		if diff := gocmp.Diff([]string{b.Runs[k/10%3].ID}, listed(t, s, store.Filter{Text: fmt.Sprint("later", k)}), wholeBytes); diff != "" {
			t.Errorf("the latest words of event %d (-want +got):\n%s", k, diff)
		}
	}
}

// arrivalsOfDeleted deletes the run with the latest events, and then adds the next event, as a server does that was restarted in between.
func arrivalsOfDeleted(t *testing.T, s Store) {
	b := store.Batch{Runs: []store.Run{run(1, "a"), run(9, "b")}, Events: []store.Event{message(1, 1, "x", "first"), message(9, 9, "y", "deleted")}, Flushed: 9}
	commit(t, s, b)
	indexAll(t, s)
	commit(t, s, store.Batch{Deleted: []int64{9}})
	last, _, err := s.Last(t.Context())
	if last != 9 || err != nil {
		t.Errorf("the last arrival is %d, error %v", last, err)
	}
	commit(t, s, store.Batch{Events: []store.Event{message(last+1, 1, "z", "next")}})
	indexAll(t, s)
	if diff := gocmp.Diff([]string{"a"}, listed(t, s, store.Filter{Text: "next"}), wholeBytes); diff != "" {
		t.Errorf("the next event is found in (-want +got):\n%s", diff)
	}
	if diff := gocmp.Diff([]string{"a"}, must[[]string](t)(s.Unflushed(t.Context())), wholeBytes); diff != "" {
		t.Errorf("unflushed (-want +got):\n%s", diff)
	}
}
