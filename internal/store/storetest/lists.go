package storetest

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/store"
)

func filters(t *testing.T, s Store) {
	a, b, c, d := run(1, "a-1"), run(2, "b_2"), run(3, "c%3"), run(4, "D4")
	a.Project, a.Tools = "Compiler", []string{"grep", "read file"}
	b.Project, b.Tools, b.Name, b.Status = "web", []string{"greps", "Read"}, "100% done!", store.Completed
	c.Tools, c.Started, c.Status = []string{",", `"`, "gr\nep", `x"read`}, noon.Add(time.Hour), store.Failed
	d.Name, d.Started, d.Status = "FIX Parser", noon.Add(-time.Hour), store.Completed
	commit(t, s, store.Batch{Runs: []store.Run{a, b, c, d}, Warnings: []store.Warning{
		{Run: 1, ID: "1", Rule: "repeat", Message: "grep was called 3 times"},
		{Run: 1, ID: "2", Rule: "stall"},
		{Run: 3, ID: "3", Rule: "stall", Message: "Nothing NEW"},
	}})
	for _, q := range []struct {
		says   string
		filter store.Filter
		want   []string
	}{
		{"none", store.Filter{}, []string{"c%3", "b_2", "a-1", "D4"}},
		{"status", store.Filter{Status: store.Completed}, []string{"b_2", "D4"}},
		{"an unknown status", store.Filter{Status: "lost"}, []string{}},
		{"project", store.Filter{Project: "Compiler"}, []string{"a-1"}},
		{"a project in other letters", store.Filter{Project: "compiler"}, []string{}},
		{"warning", store.Filter{Warning: "stall"}, []string{"c%3", "a-1"}},
		{"tool", store.Filter{Tool: "grep"}, []string{"a-1"}},
		{"a tool with a blank", store.Filter{Tool: "read file"}, []string{"a-1"}},
		{"a tool in other letters", store.Filter{Tool: "read"}, []string{}},
		{"a tool that is part of the list's form", store.Filter{Tool: ","}, []string{"c%3"}},
		{"a quote as a tool", store.Filter{Tool: `"`}, []string{"c%3"}},
		{"a line end in a tool", store.Filter{Tool: "gr\nep"}, []string{"c%3"}},
		{"text in an id", store.Filter{Text: "d4"}, []string{"D4"}},
		{"text in a name, in other letters", store.Filter{Text: "fix pARSER"}, []string{"D4"}},
		{"text in a project", store.Filter{Text: "compil"}, []string{"a-1"}},
		{"text in a warning", store.Filter{Text: "nothing new"}, []string{"c%3"}},
		{"a percent sign is no wildcard", store.Filter{Text: "%"}, []string{"c%3", "b_2"}},
		{"an underscore is no wildcard", store.Filter{Text: "_"}, []string{"b_2"}},
		{"the escape character is a literal", store.Filter{Text: "e!"}, []string{"b_2"}},
		{"text that is SQL", store.Filter{Text: "' OR 1=1 --"}, []string{}},
		{"since", store.Filter{Since: noon}, []string{"c%3", "b_2", "a-1"}},
		{"until", store.Filter{Until: noon}, []string{"D4"}},
		{"all at once", store.Filter{
			Status: store.Running, Project: "Compiler", Warning: "repeat", Tool: "grep", Text: "3 times", Since: noon, Until: noon.Add(1),
		}, []string{"a-1"}},
	} {
		t.Run(q.says, func(t *testing.T) {
			runs, next, err := s.Runs(t.Context(), q.filter, store.Order{}, store.Page{Limit: 10})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(q.want, runIDs(runs)); diff != "" || next != "" {
				t.Errorf("then %q, runs (-want +got):\n%s", next, diff)
			}
		})
	}
}

func runPages(t *testing.T, s Store) {
	var b store.Batch
	var want []string
	for k := range int64(25) {
		r := run(k+1, fmt.Sprint(k))
		r.Started = noon.Add(time.Duration(k/4) * time.Second) // four at a time
		b.Runs = append(b.Runs, r)
		want = append(want, r.ID)
	}
	slices.Reverse(want)
	commit(t, s, b)
	for _, size := range []int{1, 4, 7, 24, 25, 26} {
		var got []string
		page := store.Page{Limit: size}
		for round := int64(0); round == 0 || page.Cursor != ""; round++ {
			runs, next, err := s.Runs(t.Context(), store.Filter{Until: noon.Add(time.Hour)}, store.Order{}, page)
			if err != nil {
				t.Fatal(err)
			}
			if len(runs) > size || next != "" && len(runs) < size {
				t.Fatalf("a page of %d for %d", len(runs), size)
			}
			got = append(got, runIDs(runs)...)
			page.Cursor = next
			late := run(1000+int64(size)*100+round, fmt.Sprint("new", size, round))
			late.Started = noon.Add(time.Minute)
			commit(t, s, store.Batch{Runs: []store.Run{late}, Deleted: []int64{late.Number - 1}})
		}
		got = slices.DeleteFunc(got, func(id string) bool { return len(id) > 2 })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("runs by pages of %d (-want +got):\n%s", size, diff)
		}
	}
	if r := must[*store.Run](t)(s.LatestRun(t.Context())); r == nil || !r.Started.Equal(noon.Add(time.Minute)) {
		t.Errorf("the latest run is %+v", r)
	}
}

func eventPages(t *testing.T, s Store) {
	b := store.Batch{Runs: []store.Run{run(1, "a")}}
	var want []string
	for k := range int64(31) {
		e := event(100-k, 1, fmt.Sprint(100-k), k/5)
		e.Position.Tie, e.Position.Time = 0, 0 // five at one position, which are ordered by arrival
		b.Events = append(b.Events, e)
		b.Decisions = append(b.Decisions, store.Decision{Run: 1, Position: e.Position, Number: int(k), EventID: fmt.Sprint(k)})
	}
	sorted := slices.SortedFunc(slices.Values(b.Events), func(x, y store.Event) int {
		return 1000*x.Position.Compare(y.Position) + int(x.Arrival-y.Arrival)
	})
	want = ids(sorted)
	b.Events = append(b.Events, event(200, 2, "other", 0))
	commit(t, s, b)
	if diff := cmp.Diff(want, ids(eventsOf(t, s, 1, store.Start))); diff != "" {
		t.Errorf("all events (-want +got):\n%s", diff)
	}
	for _, size := range []int{-1, 1, 5, 30, 31, 2000} {
		var events, decisions []string
		page := store.Page{Limit: size}
		for first := true; first || page.Cursor != ""; first = false {
			part, next, err := s.EventPage(t.Context(), 1, page)
			if err != nil || len(part) > max(size, 1) {
				t.Fatalf("%d events for %d, error %v", len(part), size, err)
			}
			events, page.Cursor = append(events, ids(part)...), next
		}
		var backward []string
		page.Backward = true
		for first := true; first || page.Cursor != ""; first = false {
			part, next, err := s.EventPage(t.Context(), 1, page)
			if err != nil || len(part) > max(size, 1) {
				t.Fatalf("%d events for %d backward, error %v", len(part), size, err)
			}
			backward, page.Cursor = append(backward, ids(part)...), next
		}
		slices.Reverse(backward)
		if diff := cmp.Diff(want, backward); diff != "" {
			t.Errorf("events backward by pages of %d (-want +got):\n%s", size, diff)
		}
		page.Backward = false
		for first := true; first || page.Cursor != ""; first = false {
			part, next, err := s.Decisions(t.Context(), 1, page)
			if err != nil || len(part) > max(size, 1) {
				t.Fatalf("%d decisions for %d, error %v", len(part), size, err)
			}
			for _, d := range part {
				decisions = append(decisions, d.EventID)
			}
			page.Cursor = next
		}
		if diff := cmp.Diff(want, events); diff != "" {
			t.Errorf("events by pages of %d (-want +got):\n%s", size, diff)
		}
		for k, id := range decisions {
			if id != fmt.Sprint(k) || len(decisions) != 31 {
				t.Fatalf("decisions by pages of %d: %v", size, decisions)
			}
		}
	}
}

func heavyPages(t *testing.T, s Store) {
	b := store.Batch{Runs: []store.Run{run(1, "a")}}
	for k := range int64(20) {
		e := event(k+1, 1, fmt.Sprintf("%02d", k), k)
		e.Body = bytes.Repeat([]byte{'x'}, 1<<20)
		b.Events = append(b.Events, e)
	}
	commit(t, s, b)
	var got []string
	page := store.Page{Limit: 100}
	for first := true; first || page.Cursor != ""; first = false {
		events, next, err := s.EventPage(t.Context(), 1, page)
		if err != nil || len(events) == 0 || len(events) > 16 {
			t.Fatalf("a page of %d events, error %v", len(events), err)
		}
		got, page.Cursor = append(got, ids(events)...), next
	}
	if diff := cmp.Diff(ids(b.Events), got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	got = nil
	for since, more := int64(0), true; more; {
		var events []store.Event
		var err error
		events, more, err = s.EventsSince(t.Context(), 1, since, 100)
		if err != nil || len(events) == 0 || len(events) > 16 {
			t.Fatalf("%d events since %d, error %v", len(events), since, err)
		}
		got, since = append(got, ids(events)...), events[len(events)-1].Arrival
	}
	if diff := cmp.Diff(ids(b.Events), got); diff != "" {
		t.Errorf("events since an arrival (-want +got):\n%s", diff)
	}
}

func badCursors(t *testing.T, s Store) {
	b := store.Batch{Runs: []store.Run{run(1, "a"), run(2, "b")}, Events: []store.Event{event(1, 1, "x", 1), event(2, 1, "y", 2)}}
	b.Decisions = []store.Decision{{Run: 1, Number: 1}, {Run: 1, Number: 2}}
	commit(t, s, b)
	ctx := t.Context()
	lists := map[string]func(cursor string) (string, error){
		"runs": func(c string) (string, error) {
			_, next, err := s.Runs(ctx, store.Filter{}, store.Order{}, store.Page{Cursor: c, Limit: 1})
			return next, err
		},
		"events": func(c string) (string, error) {
			_, next, err := s.EventPage(ctx, 1, store.Page{Cursor: c, Limit: 1})
			return next, err
		},
		"events-back": func(c string) (string, error) {
			_, next, err := s.EventPage(ctx, 1, store.Page{Cursor: c, Limit: 1, Backward: true})
			return next, err
		},
		"decisions": func(c string) (string, error) {
			_, next, err := s.Decisions(ctx, 1, store.Page{Cursor: c, Limit: 1})
			return next, err
		},
	}
	encode := base64.RawURLEncoding.EncodeToString
	for name, list := range lists {
		cursors := []string{
			"x", "=", "💣", "' OR 1=1", encode([]byte(name)), encode([]byte(name+".1.2")) + "!", encode([]byte(name + ".a.!")),
			encode([]byte(name + ".zzzzzzzzzzzzzzzz.1.1.1")), encode([]byte(name + ".1.2.3.4.5.6")), encode(bytes.Repeat([]byte("."), 100_000)),
		}
		for other, list := range lists {
			if next := must[string](t)(list("")); other != name && next != "" {
				cursors = append(cursors, next)
			}
		}
		if len(cursors) != 13 {
			t.Fatalf("the other lists gave %d cursors", len(cursors)-10)
		}
		for _, cursor := range cursors {
			if _, err := list(cursor); !errors.Is(err, store.ErrCursor) {
				t.Errorf("%s with cursor %.60q: error %v", name, cursor, err)
			}
		}
		if next := must[string](t)(list(must[string](t)(list("")))); next != "" {
			t.Errorf("%s: behind the last page is %q", name, next)
		}
	}
}

func eventsSince(t *testing.T, s Store) {
	ctx := t.Context()
	b := store.Batch{Runs: []store.Run{run(1, "a"), run(2, "b")}}
	for k := range int64(40) {
		b.Events = append(b.Events, event(k+1, 1+k%2, fmt.Sprint(k+1), -k)) // the later, the further in front
	}
	commit(t, s, b)
	for _, c := range []struct {
		since int64
		limit int
		want  []string
		more  bool
	}{
		{0, 3, []string{"1", "3", "5"}, true},
		{5, 2, []string{"7", "9"}, true},
		{34, 100, []string{"35", "37", "39"}, false},
		{39, 100, []string{}, false},
		{100, 100, []string{}, false},
	} {
		got, more, err := s.EventsSince(ctx, 1, c.since, c.limit)
		if diff := cmp.Diff(c.want, ids(got)); diff != "" || more != c.more || err != nil {
			t.Errorf("%d events since %d: more %v, error %v (-want +got):\n%s", c.limit, c.since, more, err, diff)
		}
	}
	got, _, err := s.EventsSince(ctx, 1, 0, 1)
	if diff := cmp.Diff(b.Events[:1], got); diff != "" || err != nil {
		t.Errorf("error %v, event (-want +got):\n%s", err, diff)
	}
}

func runsSince(t *testing.T, s Store) {
	var b store.Batch
	for k, arrival := range []int64{50, 10, 40, 20, 30} {
		r := run(int64(k+1), fmt.Sprint(arrival))
		r.Arrival = arrival
		b.Runs = append(b.Runs, r)
	}
	commit(t, s, b)
	for _, c := range []struct {
		since int64
		limit int
		want  []string
	}{{0, 2, []string{"10", "20"}}, {20, 10, []string{"30", "40", "50"}}, {50, 10, []string{}}} {
		if diff := cmp.Diff(c.want, runIDs(must[[]store.Run](t)(s.RunsSince(t.Context(), c.since, c.limit)))); diff != "" {
			t.Errorf("%d runs since %d (-want +got):\n%s", c.limit, c.since, diff)
		}
	}
}

func eventsByID(t *testing.T, s Store) {
	ctx := t.Context()
	b := store.Batch{Runs: []store.Run{run(1, "a"), run(2, "b")}}
	var wanted []string
	want, arrivals := map[string]store.Position{}, map[string]int64{}
	for k := range int64(200) {
		e := event(k+1, 1, fmt.Sprint(k), k)
		b.Events = append(b.Events, e)
		wanted = append(wanted, e.ID, fmt.Sprint("none", k), e.ID)
		want[e.ID], arrivals[e.ID] = e.Position, e.Arrival
	}
	b.Events = append(b.Events, event(999, 2, "none1", 1))
	commit(t, s, b)
	if diff := cmp.Diff(want, must[map[string]store.Position](t)(s.Known(ctx, 1, wanted))); diff != "" {
		t.Errorf("known (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(arrivals, must[map[string]int64](t)(s.Arrivals(ctx, 1, wanted))); diff != "" {
		t.Errorf("arrivals (-want +got):\n%s", diff)
	}
	for _, n := range []int{0, 1, 7, 64, 65, 200} {
		var some []string
		for k := range n {
			some = append(some, fmt.Sprint(k))
		}
		got := must[[]store.Event](t)(s.EventsOf(ctx, 1, some))
		slices.SortFunc(got, func(x, y store.Event) int { return int(x.Arrival - y.Arrival) })
		if diff := cmp.Diff(append([]store.Event{}, b.Events[:n]...), append([]store.Event{}, got...)); diff != "" {
			t.Errorf("of %d ids (-want +got):\n%s", n, diff)
		}
	}
}

func stopReading(t *testing.T, s Store) {
	commit(t, s, full(1, "a", "t"))
	enough := errors.New("enough")
	for range 20 { // more often than there are connections
		seen := 0
		err := s.Events(t.Context(), 1, store.Start, func(*store.Event) error { seen++; return enough })
		if !errors.Is(err, enough) || seen != 1 {
			t.Fatalf("after %d events, error %v", seen, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := s.Events(ctx, 1, store.Start, func(*store.Event) error { cancel(); return ctx.Err() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that is gone gets the error %v", err)
	}
}
