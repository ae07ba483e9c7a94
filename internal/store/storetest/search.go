package storetest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/store"
)

// said returns an event whose output is a text.
func message(arrival, run int64, id, text string) store.Event {
	e := event(arrival, run, id, arrival)
	e.Body = []byte(`{"event_id":"` + id + `","type":"tool_call_completed","tool":"read_file","output":"` + text + `"}`)
	return e
}

// indexAll indexes all events, a few at once.
func indexAll(t tb, s Store) (events int) {
	t.Helper()
	for {
		n := must[int](t)(s.Index(t.Context(), 3))
		if n == 0 {
			return events
		}
		events += n
	}
}

func searchEvents(t *testing.T, s Store) {
	unreadable := event(6, 3, "f", 6)
	unreadable.Body = []byte("{")
	commit(t, s, store.Batch{Runs: []store.Run{run(1, "a"), run(2, "b"), run(3, "c")}, Events: []store.Event{
		message(1, 1, "a", "the Parser said: unexpected token \\u00e9t\\u00e9"), message(2, 1, "b", "second event"), message(3, 2, "c", "token of the second"),
		message(4, 3, "d", "o'clock \\\"quoted\\\" & | ! ( NEAR AND OR NOT"), message(5, 3, "e", ""), unreadable,
	}})
	if got := listed(t, s, store.Filter{Text: "unexpected"}); len(got) > 0 {
		t.Errorf("before it is indexed, it finds %v", got)
	}
	if n := indexAll(t, s); n != 6 {
		t.Errorf("it indexes %d events", n)
	}
	for _, c := range []struct {
		says, text string
		want       []string
	}{
		{"a word", "parser", []string{"a"}},
		{"a word in other letters", "TOKEN", []string{"b", "a"}},
		{"all words of one event, in any order", "token unexpected", []string{"a"}},
		{"words of two events of a run", "unexpected second", []string{}},
		{"a part of a word", "unexp", []string{}},
		{"the name of a tool", "read_file", []string{"c", "b", "a"}},
		{"an escaped letter", "été", []string{"a"}},
		{"operators of the database are words", `clock & "quoted" AND NOT (near`, []string{"c"}},
		{"no word", `"'&|!*:`, []string{}},
		{"a word and the id of a run", "c", []string{"c"}},
	} {
		t.Run(c.says, func(t *testing.T) {
			if diff := cmp.Diff(c.want, listed(t, s, store.Filter{Text: c.text})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("with another filter", func(t *testing.T) {
		if got := listed(t, s, store.Filter{Text: "token", Status: store.Failed}); len(got) > 0 {
			t.Errorf("it finds %v", got)
		}
	})
}

func searchDeleted(t *testing.T, s Store) {
	commit(t, s, store.Batch{Runs: []store.Run{run(1, "a"), run(2, "b")}, Events: []store.Event{
		message(1, 1, "x", "first words"), message(2, 1, "y", "stays"), message(3, 2, "x", "first words"),
	}})
	indexAll(t, s)
	commit(t, s, store.Batch{
		Removed: []store.EventRef{{Run: 1, ID: "x"}, {Run: 1, ID: "unknown"}}, Events: []store.Event{message(4, 1, "x", "later words")},
	})
	indexAll(t, s)
	find := func(text string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(append([]string{}, want...), listed(t, s, store.Filter{Text: text})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	find("first words", "b")
	find("later words", "a")
	find("stays", "a")
	var many store.Batch // of them the first are indexed
	for k := range int64(70) {
		many.Events = append(many.Events, message(10+k, 1, fmt.Sprint("many", k), "crowd"))
	}
	commit(t, s, many)
	if _, err := s.Index(t.Context(), 35); err != nil {
		t.Fatal(err)
	}
	var fewer store.Batch
	for _, e := range many.Events[1:] {
		fewer.Removed = append(fewer.Removed, store.EventRef{Run: 1, ID: e.ID})
	}
	commit(t, s, fewer)
	find("crowd", "a")
	commit(t, s, store.Batch{Removed: []store.EventRef{{Run: 1, ID: "many0"}}})
	indexAll(t, s)
	find("crowd")
	commit(t, s, store.Batch{Deleted: []int64{2}, Events: []store.Event{message(95, 1, "z", "not yet indexed")}})
	commit(t, s, store.Batch{Deleted: []int64{1}, Runs: []store.Run{run(3, "a")}, Events: []store.Event{message(96, 3, "x", "of the next run")}})
	indexAll(t, s)
	find("words")
	find("indexed")
	find("next", "a")
}

func searchMany(t *testing.T, s Store) {
	var b store.Batch
	arrival := int64(0)
	add := func(number int64, text string) {
		arrival++
		b.Events = append(b.Events, message(arrival, number, fmt.Sprint(arrival), text))
	}
	for number := range int64(1100) {
		r := run(number+1, fmt.Sprintf("%04d", number+1))
		r.Arrival = number + 1
		b.Runs = append(b.Runs, r)
		add(number+1, "common")
	}
	for range 4500 { // more than are read at once
		add(500, "common")
	}
	add(1, "common rare")
	commit(t, s, b)
	for must[int](t)(s.Index(t.Context(), 5000)) > 0 {
	}
	got := listed(t, s, store.Filter{Text: "common"})
	if len(got) != 1000 || got[0] != "1100" || got[999] != "0101" {
		t.Errorf("%d runs from %s to %s", len(got), got[0], got[len(got)-1])
	}
	if diff := cmp.Diff([]string{"0001"}, listed(t, s, store.Filter{Text: "rare"})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
