package pipeline

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/profile"
)

func TestAnOutcomeNamesTheStartOfItsCall(t *testing.T) {
	ignoring, err := profile.Load(profile.Source{Name: profile.Default, Sets: []string{"ignore=[log]"}})
	if err != nil {
		t.Fatal(err)
	}
	const started, completed, failed, blocked = unloop.ToolCallStarted, unloop.ToolCallCompleted, unloop.ToolCallFailed, unloop.ToolCallBlocked
	asks, answers := unloop.LLMCallStarted, unloop.LLMCallCompleted
	for _, c := range []struct {
		what   string
		events []unloop.Event
		want   map[string]string // outcome → start
	}{
		{"parallel calls are joined by their ids", []unloop.Event{
			{ID: "a", Type: started, Tool: "read", CallID: "1"},
			{ID: "b", Type: started, Tool: "read", CallID: "2"},
			{ID: "b.end", Type: completed, Tool: "read", CallID: "2"},
			{ID: "a.end", Type: failed, CallID: "1"},
		}, map[string]string{"a.end": "a", "b.end": "b"}},
		{"an id that is used twice is joined to the call that is open", []unloop.Event{
			{ID: "a", Type: started, Tool: "read", CallID: "1"},
			{ID: "a.end", Type: completed, Tool: "read", CallID: "1"},
			{ID: "b", Type: started, Tool: "read", CallID: "1"},
			{ID: "b.end", Type: blocked, Tool: "read", CallID: "1"},
			{ID: "b.again", Type: completed, Tool: "read", CallID: "1"},
		}, map[string]string{"a.end": "a", "b.end": "b"}},
		{"calls without ids are joined by tool, the oldest first", []unloop.Event{
			{ID: "a", Type: started, Tool: "read"},
			{ID: "b", Type: started, Tool: "read"},
			{ID: "c", Type: started, Tool: "list"},
			{ID: "c.end", Type: completed, Tool: "list"},
			{ID: "a.end", Type: completed, Tool: "read"},
		}, map[string]string{"a.end": "a", "c.end": "c"}},
		{"model calls are joined by span, else by agent", []unloop.Event{
			{ID: "a", Type: asks, Agent: "x", SpanID: "s"},
			{ID: "b", Type: asks, Agent: "x"},
			{ID: "c", Type: asks, Agent: "y"},
			{ID: "c.end", Type: unloop.LLMCallFailed, Agent: "y"},
			{ID: "b.end", Type: answers, Agent: "x", ParentEventID: "b"},
			{ID: "a.end", Type: answers, SpanID: "s"},
			{ID: "none", Type: answers, Agent: "x"},
		}, map[string]string{"a.end": "a", "b.end": "b", "c.end": "c"}},
		{"a model call and a tool call with one id are two calls", []unloop.Event{
			{ID: "a", Type: asks, CallID: "1"},
			{ID: "b", Type: started, Tool: "log", CallID: "1"},
			{ID: "b.end", Type: completed, Tool: "log", CallID: "1"},
			{ID: "a.end", Type: answers, CallID: "1"},
		}, map[string]string{"a.end": "a", "b.end": "b"}},
		{"calls of a tool that the profile ignores are joined", []unloop.Event{
			{ID: "a", Type: started, Tool: "log"},
			{ID: "b", Type: started, Tool: "log", CallID: "1"},
			{ID: "b.end", Type: completed, Tool: "log", CallID: "1"},
			{ID: "a.end", Type: blocked, Tool: "log"},
		}, map[string]string{"a.end": "a", "b.end": "b"}},
	} {
		t.Run(c.what, func(t *testing.T) {
			for _, profile := range []*profile.Profile{defaultProfile(t), ignoring} {
				f, got := newFold(profile, "r"), map[string]string{}
				for k := range c.events {
					e := &c.events[k]
					f.add(e, placement{})
					var a analysis
					if raw := f.analyze(e); raw != nil && json.Unmarshal(raw, &a) != nil {
						t.Fatalf("analysis %s", raw)
					}
					if a.Start != "" {
						got[e.ID] = a.Start
					}
					f = throughCheckpoint(t, profile, f)
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("%s: starts of outcomes (-want +got):\n%s", profile.Name(), diff)
				}
			}
		})
	}
}

// throughCheckpoint returns the fold that the checkpoint of f restores.
func throughCheckpoint(t *testing.T, p *profile.Profile, f *fold) *fold {
	t.Helper()
	state, err := f.checkpoint()
	if err != nil {
		t.Fatal(err)
	}
	again := restore(&judge{profile: p}, state)
	if again == nil {
		t.Fatalf("the checkpoint %s is not valid", state)
	}
	return again
}

func TestOpenCallsAreBounded(t *testing.T) {
	f := newFold(defaultProfile(t), "r")
	for k := range maxOpenCalls + 1 {
		f.add(&unloop.Event{ID: fmt.Sprint("m", k), Type: unloop.LLMCallStarted}, placement{})
	}
	if f.add(&unloop.Event{ID: "end", Type: unloop.LLMCallCompleted}, placement{}); f.joined != "m1" || len(f.s.Open) != maxOpenCalls-1 {
		t.Errorf("joined to %s with %d open calls, want m1 and %d: the oldest is dropped", f.joined, len(f.s.Open), maxOpenCalls-1)
	}
}
