package pipeline

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
)

func TestThePositionOfAnEvent(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	event := func(id string, sequence int64, seconds int) *unloop.Event {
		e := &unloop.Event{ID: id, Sequence: sequence}
		if seconds > 0 {
			e.Time = noon.Add(time.Duration(seconds) * time.Second)
		}
		return e
	}
	for _, tc := range []struct {
		name   string
		events []*unloop.Event
		want   []Placement
	}{
		{"in order by sequence", []*unloop.Event{event("a", 1, 0), event("b", 2, 0)}, []Placement{Next, Next}},
		{"sequence beats time", []*unloop.Event{event("a", 1, 9), event("b", 2, 5)}, []Placement{Next, Next}},
		{"late by sequence", []*unloop.Event{event("a", 2, 0), event("b", 1, 0)}, []Placement{Next, Late}},
		{"late by time", []*unloop.Event{event("a", 0, 9), event("b", 0, 5)}, []Placement{Next, Late}},
		{"without both, arrival counts", []*unloop.Event{event("a", 0, 0), event("b", 0, 0)}, []Placement{Next, Next}},
		{"an event without a time follows", []*unloop.Event{event("a", 0, 9), event("b", 0, 0), event("c", 0, 9)}, []Placement{Next, Next, Next}},
		{"an id that comes twice", []*unloop.Event{event("a", 1, 0), event("b", 2, 0), event("a", 1, 0)}, []Placement{Next, Next, Duplicate}},
		{"no id is not the same id", []*unloop.Event{event("", 0, 0), event("", 0, 0)}, []Placement{Next, Next}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var o Order
			var got []Placement
			for _, e := range tc.events {
				got = append(got, o.Place(e))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSortingDoesNotDependOnTheArrival(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for _, numbered := range []bool{true, false} {
		var events []*unloop.Event
		var want []string
		for i := range 200 {
			e := &unloop.Event{ID: fmt.Sprint("e", i), Time: noon.Add(time.Duration(i) * time.Second)}
			if numbered {
				e.Sequence = int64(i + 1)
				e.Time = noon.Add(-time.Duration(i) * time.Second) // a clock that runs backwards
			}
			events = append(events, e)
			want = append(want, e.ID)
		}
		random := rand.New(rand.NewPCG(1, 2))
		for range 20 {
			arrived := append(append([]*unloop.Event(nil), events...), events[:50]...) // some come twice
			random.Shuffle(len(arrived), func(i, j int) { arrived[i], arrived[j] = arrived[j], arrived[i] })
			var got []string
			for _, e := range Sort(arrived) {
				got = append(got, e.ID)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatal(diff)
			}
		}
	}
}
