package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/profile"
)

func TestIntervalsOfAPreviewGrowWithTheRun(t *testing.T) {
	for _, tc := range []struct {
		says  string
		steps int
		fresh func(step int) bool
		want  []float64
	}{
		{"none", 0, nil, nil},
		{"one", 1, func(int) bool { return true }, []float64{1}},
		{"as many as there is room for", 4, func(n int) bool { return n != 1 }, []float64{1, 0, 1, 1}},
		{"one step over the limit", store.MaxNovelty + 1, func(n int) bool { return n%2 == 0 }, append(repeat(0.5, store.MaxNovelty/2), 1)},
		{"many, new until the 500th", 1024, func(n int) bool { return n < 500 }, append(append(repeat(1, 15), 0.63), repeat(0, 16)...)},
	} {
		t.Run(tc.says, func(t *testing.T) {
			var n novelty
			for k := range tc.steps {
				n.add(tc.fresh(k))
			}
			if diff := cmp.Diff(tc.want, n.fractions()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func repeat(x float64, times int) (all []float64) {
	for range times {
		all = append(all, x)
	}
	return all
}

// glancing are the events of a run that does three new things with one tool, then the same with another, and takes longest for
// the second.
func glancing(run string, loop int) (events []*unloop.Event) {
	long := func(ms float64) *float64 { return &ms }
	for k := range 3 {
		id := fmt.Sprint("read-", k)
		events = append(events,
			&unloop.Event{ID: id + "a", RunID: run, Sequence: int64(2*k + 1), Type: unloop.ToolCallStarted, Tool: "read", CallID: id, Input: json.RawMessage(fmt.Sprint(k))},
			&unloop.Event{ID: id + "b", RunID: run, Sequence: int64(2*k + 2), Type: unloop.ToolCallCompleted, Tool: "read", CallID: id, Output: json.RawMessage(fmt.Sprint(k)), Latency: long(float64(10 + k%2))})
	}
	for _, e := range calls(run, loop) {
		e.Sequence += 6
		events = append(events, e)
	}
	return events
}

func TestARowContainsThePreviewOfARun(t *testing.T) {
	m := newMemory()
	p, stop := start(t, Options{Store: m})
	events := glancing("r", 8)
	for _, e := range events {
		submit(t, p, e)
	}
	stop()
	row := verdictOf(t, m, "r").Run
	want := store.Preview{
		Tools:   []store.ToolCalls{{Name: "search", Calls: 8}, {Name: "read", Calls: 3}},
		Novelty: []float64{1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0},
		Health:  row.Preview.Health,
		Warning: "same_call_same_result",
	}
	if diff := cmp.Diff(want, row.Preview); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if row.MeanNovelty != 0.3636 {
		t.Errorf("the mean novelty is %v, want that of 4 novel steps of 11", row.MeanNovelty)
	}
	if row.SlowestEvent != "read-1b" {
		t.Errorf("the slowest is %s", row.SlowestEvent)
	}
	course := row.Preview.Health
	if course[0] != (store.HealthAt{Number: 0, Score: 100}) || len(course) < 2 || course[len(course)-1].Score != row.Health.Score {
		t.Errorf("health went %v, and is %d", course, row.Health.Score)
	}
	again, err := Replay(context.Background(), m, defaultProfile(t), &row, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(again.HealthHistory, course); diff != "" {
		t.Errorf("judged anew (-want +got):\n%s", diff)
	}
}

func TestAPreviewHasNoNoveltyUnderAProfileThatReadsNoResults(t *testing.T) {
	judge, err := profile.New("looplens")
	if err != nil {
		t.Fatal(err)
	}
	m := newMemory()
	p, stop := start(t, Options{Store: m, Profile: judge})
	submit(t, p, glancing("r", 3)...)
	stop()
	row := verdictOf(t, m, "r").Run
	if g := row.Preview; len(g.Novelty) != 0 || len(g.Tools) != 2 || row.MeanNovelty != 1 {
		t.Errorf("%v, mean %v", g, row.MeanNovelty)
	}
}

func TestThePreviewOfALongRunSurvivesARestart(t *testing.T) {
	m := newMemory()
	events := glancing("r", checkpointEvery)
	half := len(events)/2 + 7
	p, stop := start(t, Options{Store: m})
	submit(t, p, events[:half]...)
	stop()
	p, stop = start(t, Options{Store: m})
	submit(t, p, events[half:]...)
	stop()
	want := inOrder(t, events).Run
	if diff := cmp.Diff(want.Preview, verdictOf(t, m, "r").Run.Preview, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := len(want.Preview.Novelty); n > store.MaxNovelty || n <= store.MaxNovelty/2 || want.Preview.Tools[0].Calls != checkpointEvery {
		t.Errorf("%v", want.Preview)
	}
}

func TestTheHistoryOfHealthIsBounded(t *testing.T) {
	m := newMemory()
	looplens, err := profile.New("looplens") // its health changes with the status
	if err != nil {
		t.Fatal(err)
	}
	p, stop := start(t, Options{Profile: looplens, Store: m})
	for k := range 2 * store.MaxHealth {
		kind := unloop.RunCompleted
		if k%2 == 0 {
			kind = unloop.RunFailed
		}
		submit(t, p, &unloop.Event{ID: fmt.Sprint(k), RunID: "r", Sequence: int64(k + 1), Type: kind})
	}
	stop()
	course := verdictOf(t, m, "r").Run.Preview.Health
	if want := (store.HealthAt{Number: 2*store.MaxHealth - 1, Score: 100}); len(course) != store.MaxHealth || course[len(course)-1] != want {
		t.Errorf("%d points, the last %v", len(course), course[len(course)-1])
	}
}

func TestACheckpointOfAnotherVersionIsIgnored(t *testing.T) {
	of := judge{profile: defaultProfile(t)}
	state, err := newFold(of.profile, "r").checkpoint()
	if err != nil || restore(&of, state) == nil {
		t.Fatalf("%s does not hold (%v)", state, err)
	}
	other := bytes.Replace(state, fmt.Appendf(nil, `"version":%d`, checkpointVersion), []byte(`"version":1`), 1)
	if bytes.Equal(other, state) || restore(&of, other) != nil {
		t.Errorf("%s holds", other)
	}
}
