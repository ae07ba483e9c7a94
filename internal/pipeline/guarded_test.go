package pipeline

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/profile"
)

// row folds events and returns the row of their run, with its decisions.
func row(t *testing.T, events []unloop.Event) (store.Run, []store.Decision) {
	t.Helper()
	p, err := profile.New(profile.Default)
	if err != nil {
		t.Fatal(err)
	}
	r := &run{fold: newFold(p, "r")}
	var decisions []store.Decision
	for k := range events {
		e := &events[k]
		e.Index, e.Time = k, time.Unix(int64(k+1), 0)
		if d := r.fold.add(e, placement{at: store.Position{Tie: int64(k)}}); d.Action != policy.Allow {
			decisions = append(decisions, decisionOf(r, &d, store.Position{}, e.ID))
		}
	}
	r.describe(p.Name())
	return r.row, decisions
}

// looped returns n equal calls, each of which costs 10 tokens.
func looped(n int) (events []unloop.Event) {
	for range n {
		events = append(events,
			unloop.Event{Type: unloop.LLMCallCompleted, Tokens: 10},
			unloop.Event{Type: unloop.ToolCallStarted, Tool: "search", Input: []byte(`{"q":"a"}`)},
			unloop.Event{Type: unloop.ToolCallCompleted, Tool: "search", Input: []byte(`{"q":"a"}`), Output: []byte(`[]`)})
	}
	return events
}

func reported(g unloop.GuardReport) unloop.Event {
	return unloop.Event{Type: unloop.GuardDecision, Metadata: g.Metadata()}
}

func TestARunNamesTheGuardThatDecided(t *testing.T) {
	halt := unloop.GuardReport{By: "Go", Action: "halt", Code: "halted", Message: "Stop.", Rule: "same_call", Subject: "search", Count: 7, Span: 16}
	shadow := halt
	shadow.Shadow = true
	person := unloop.Event{Type: unloop.Override, Name: "go on"}
	begun := reported(unloop.GuardReport{By: "Go"})
	for _, tc := range []struct {
		name    string
		events  []unloop.Event
		guard   store.Guard
		byGuard bool
		stop    store.Usage
	}{
		{
			"an observed run is wasted from the point at which the profile would have stopped it", looped(40),
			store.Guard{Stopped: true, Repeats: 7},
			false,
			store.Usage{Calls: 33, Tokens: 330},
		},
		{
			"a guarded run has the decisions of its guard, and an estimate of what its stop avoided", append(append([]unloop.Event{begun}, looped(10)...), reported(halt)),
			store.Guard{By: "Go", Stopped: true, Repeats: 7},
			true,
			store.Usage{Calls: 5, Tokens: 50},
		},
		{
			"what a person lets go on avoids nothing", append(append([]unloop.Event{begun}, looped(10)...), reported(halt), person),
			store.Guard{By: "Go"},
			true,
			store.Usage{},
		},
		{
			"a guard that stopped nothing", append([]unloop.Event{begun}, looped(40)...),
			store.Guard{By: "Go"},
			false,
			store.Usage{},
		},
		{
			"a guard in shadow mode leaves the run observed", append([]unloop.Event{reported(shadow)}, looped(40)...),
			store.Guard{ShadowedBy: "Go", Stopped: true, Repeats: 7},
			false,
			store.Usage{Calls: 33, Tokens: 330},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, decisions := row(t, tc.events)
			if diff := cmp.Diff(tc.guard, got.Guard); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.stop, got.UsageAfterStop); diff != "" {
				t.Errorf("usage after the stop (-want +got):\n%s", diff)
			}
			for _, d := range decisions {
				if d.ByGuard != tc.byGuard {
					t.Errorf("decision %+v", d)
				}
			}
			if tc.guard.By != "" && tc.byGuard != (got.WorstAction == policy.Halt) {
				t.Errorf("the worst action is %s", got.WorstAction)
			}
		})
	}
}

func TestTheReportOfAGuardIsKeptWithoutContent(t *testing.T) {
	e := reported(unloop.GuardReport{By: "Go", Action: "block", Message: "secret words", Rule: "same_call"})
	body, err := NoContent.encode(&e)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := store.Decode(body)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := kept.GuardReport()
	if diff := cmp.Diff(unloop.GuardReport{By: "Go", Action: "block", Rule: "same_call"}, got); diff != "" {
		t.Error(diff)
	}
}
