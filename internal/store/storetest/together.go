package storetest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/store"
)

func together(t *testing.T, s Store) {
	first := store.Batch{Runs: []store.Run{run(1, "a")}, Warnings: []store.Warning{{ID: "w", Run: 1, Count: 1}}}
	for k := range int64(200) {
		first.Events = append(first.Events, event(k+1, 1, fmt.Sprint(k), k))
	}
	moved := event(201, 1, "7", 500) // the event gets another position
	second := store.Batch{Removed: []store.EventRef{{Run: 1, ID: "7"}}, Events: []store.Event{moved}, Warnings: []store.Warning{{ID: "w", Run: 1, Count: 2}}}
	if err := s.CommitTogether(t.Context(), []*store.Batch{&first, &second}); err != nil {
		t.Fatal(err)
	}
	events := eventsOf(t, s, 1, store.Start)
	if n := len(events); n != 200 || events[n-1].ID != "7" || events[n-1].Arrival != 201 {
		t.Errorf("%d events, want 200 with the moved one at the end", n)
	}
	if warnings := must[[]store.Warning](t)(s.Warnings(t.Context(), 1)); len(warnings) != 1 || warnings[0].Count != 2 {
		t.Errorf("warnings %+v, want the later form", warnings)
	}

	third := store.Batch{Runs: []store.Run{run(2, "b")}, Events: []store.Event{event(300, 2, "x", 1)}}
	duplicate := store.Batch{Events: []store.Event{event(301, 2, "y", 2), event(302, 1, "3", 900)}}
	for k := range int64(100) {
		duplicate.Events = append(duplicate.Events, event(400+k, 2, fmt.Sprint("z", k), 3+k))
	}
	if err := s.CommitTogether(t.Context(), []*store.Batch{&third, &duplicate}); !errors.Is(err, store.ErrDuplicate) {
		t.Errorf("an event that is there: %v, want %v", err, store.ErrDuplicate)
	}
	if r := must[*store.Run](t)(s.Run(t.Context(), "b")); r != nil {
		t.Errorf("the batch before it was written: %+v", r)
	}
	if diff := cmp.Diff(ids(events), ids(eventsOf(t, s, 1, store.Start))); diff != "" {
		t.Errorf("events changed (-before +after):\n%s", diff)
	}
}
