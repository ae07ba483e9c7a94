package guard

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/detect"
	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/profile"
	"github.com/unloop-ai/unloop/swarm"
)

// fragile is a detector that panics at calls of the tool "bomb".
type fragile struct{}

func (fragile) Info() unloop.Info { return unloop.Info{Name: "fragile", At: unloop.AtStart} }

func (fragile) Check(r *unloop.Run) (unloop.Finding, bool) {
	if r.Current().Step.Tool == "bomb" {
		panic("a detector with a fault")
	}
	return unloop.Finding{}, false
}

func custom(t testing.TB, parts profile.Parts) *profile.Profile {
	t.Helper()
	parts.Name = "own"
	p, err := profile.Custom(parts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAPanicFailsOnlyTheGuardOfItsRun(t *testing.T) {
	group := NewGroup(custom(t, profile.Parts{Detectors: []unloop.Detector{fragile{}}}), nil, 0)
	var all sync.WaitGroup
	for range 4 { // whoever waits for the lock gets it
		all.Go(func() {
			if d := group.Run("bad").Before(t.Context(), Call{Tool: "bomb"}); d.Action != policy.Allow || d.Code != CodeFailed || d.Err() != nil {
				t.Errorf("%s %s", d.Action, d.Code)
			}
		})
	}
	all.Wait()
	bad, good := group.Run("bad"), group.Run("good")
	if d := bad.After(t.Context(), Call{Tool: "bomb"}, Outcome{}); d.Code != CodeFailed {
		t.Errorf("it decides %q", d.Code)
	}
	if _, err := bad.Snapshot(); !errors.Is(err, ErrFailed) || !errors.Is(bad.Failed(), ErrFailed) || bad.State().Failed == "" {
		t.Errorf("snapshot: %v, failed: %v, state: %+v", err, bad.Failed(), bad.State())
	}
	if d := good.Before(t.Context(), Call{Tool: "search"}); d.Code != "" || good.Failed() != nil {
		t.Errorf("another run: %q, %v", d.Code, good.Failed())
	}
	group.End("bad")
	if d := group.Run("bad").Before(t.Context(), Call{Tool: "search"}); d.Code != "" {
		t.Errorf("begun anew, it decides %q", d.Code)
	}
	group.Close()
}

func TestAPanicOfAPenaltyFailsTheGuardAndNotItsCaller(t *testing.T) {
	g := New(custom(t, profile.Parts{
		Detectors: []unloop.Detector{detect.PingPong{Times: 2}},
		Penalty:   func(*unloop.Finding) int { panic("a penalty with a fault") },
	}), Options{})
	for k := range 8 {
		g.Before(t.Context(), Call{Tool: []string{"read", "write"}[k%2]})
	}
	if s := g.State(); !strings.Contains(s.Failed, "a penalty with a fault") || !errors.Is(g.Failed(), ErrFailed) {
		t.Errorf("%+v, %v", s, g.Failed())
	}
}

func TestAPanicOfAListenerToEventsReachesNoCall(t *testing.T) {
	var took int
	events := func(e *unloop.Event, _ Decision) {
		if took++; took == 1 {
			panic("a reporter with a fault")
		}
	}
	for name, shared := range map[string]*Shared{"of one process": nil, "shared": {Store: new(memoryStore)}} {
		t.Run(name, func(t *testing.T) {
			took = 0
			g := New(load(t, "default"), Options{Run: "run", Events: events, Shared: shared})
			g.Before(t.Context(), Call{Tool: "search"})
			if d := g.After(t.Context(), Call{Tool: "search"}, Outcome{Result: json.RawMessage(`"a"`)}); d.Action != policy.Allow || d.Code != "" {
				t.Errorf("the next decision is %s %q", d.Action, d.Code)
			}
			if s := g.Stats(); took != 2 || s.DroppedEvents != 1 || g.Failed() != nil {
				t.Errorf("%d events were passed on, %d dropped, failed: %v", took, s.DroppedEvents, g.Failed())
			}
		})
	}
}

func TestAPanicOfAStoreIsAnErrorOfTheStore(t *testing.T) {
	var told []string
	onError := func(err error) {
		told = append(told, err.Error())
		panic("a function with a fault")
	}
	for _, o := range []Options{
		{Run: "r", Swarm: &Swarm{Store: struct{ swarm.Store }{}, Name: "goal", Worker: "w", OnError: onError}},
		{Run: "r", Shared: &Shared{Store: struct{ Store }{}, OnError: onError}},
	} {
		g := New(load(t, "default"), o)
		if d := g.Before(t.Context(), Call{Tool: "search"}); d.Action != policy.Allow || d.Code != "" {
			t.Errorf("the decision is %s %q", d.Action, d.Code)
		}
		if s := g.Stats(); s.SwarmErrors+s.StoreErrors != 1 {
			t.Errorf("%d errors are counted, want 1", s.SwarmErrors+s.StoreErrors)
		}
	}
	const cause = "panic: runtime error: invalid memory address or nil pointer dereference"
	want := []string{"count the calls of swarm goal: record: " + cause, "share the state of run r: save: " + cause}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
}

// refusal is an error whose text needs a value. A nil pointer of it is an error that is not nil.
type refusal struct{ why string }

func (r *refusal) Error() string { return r.why }

func TestAnErrorWhoseTextPanicsIsAnOutcome(t *testing.T) {
	g := New(custom(t, profile.Parts{Detectors: []unloop.Detector{fragile{}}}), Options{})
	g.Before(t.Context(), Call{Tool: "search"})
	var none *refusal
	if d := g.After(t.Context(), Call{Tool: "search"}, Outcome{Err: none}); d.Code != "" || g.session.Run().StepAt(0).Outcome != unloop.Failed {
		t.Errorf("decision %q, step %+v", d.Code, g.session.Run().StepAt(0))
	}
}

// TestAToolThatPanicsHasFailed wraps tools that do not return, in a harness that survives it.
func TestAToolThatPanicsHasFailed(t *testing.T) {
	for name, tc := range map[string]struct {
		tool      ToolFunc
		error     string
		recovered any
	}{
		"a panic":                  {func(context.Context, json.RawMessage) (json.RawMessage, error) { panic("index out of range [3]") }, "panic: index out of range [3]", "index out of range [3]"},
		"the end of its goroutine": {func(context.Context, json.RawMessage) (json.RawMessage, error) { runtime.Goexit(); return nil, nil }, "the tool ended its goroutine", nil},
		"an error, as a tool should": {func(context.Context, json.RawMessage) (json.RawMessage, error) {
			return nil, errors.New("no such order")
		}, "no such order", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var failures []string
			g := New(load(t, "default"), Options{Run: "r", Now: ticking(), Events: func(e *unloop.Event, _ Decision) {
				if e.Type == unloop.ToolCallFailed {
					failures = append(failures, string(e.Error))
				}
			}})
			var recovered any
			var harness sync.WaitGroup
			harness.Go(func() {
				defer func() { recovered = recover() }()
				_, _ = g.Wrap("look_up", tc.tool)(t.Context(), json.RawMessage(`{"order":4711}`))
			})
			harness.Wait()
			if recovered != tc.recovered {
				t.Errorf("the caller recovers %v, want %v", recovered, tc.recovered)
			}
			if diff := cmp.Diff([]string{string(quoted(tc.error))}, failures); diff != "" {
				t.Errorf("failures (-want +got):\n%s", diff)
			}
		})
	}
}

// strikes halts at the third call, and keeps how many there were.
type strikes struct{ calls int }

func (s *strikes) Snapshot() ([]byte, error) { return json.Marshal(s.calls) }

func (s *strikes) Restore(data []byte) error {
	if err := json.Unmarshal(data, &s.calls); err != nil {
		return err
	}
	if s.calls < 0 || s.calls > 3 {
		return errors.New("calls must be from 0 to 3")
	}
	return nil
}

func (s *strikes) Decide(r *unloop.Run, _, _ []unloop.Finding) policy.Decision {
	if r.Current().Type != unloop.ToolCallStarted {
		return policy.Decision{}
	}
	if s.calls++; s.calls < 3 {
		return policy.Decision{}
	}
	return policy.Decision{Action: policy.Halt, Code: "third_call"}
}

func TestASnapshotOfACustomProfileContainsThePolicysState(t *testing.T) {
	parts := profile.Parts{
		Detectors: []unloop.Detector{fragile{}}, Policy: func() policy.Policy { return new(strikes) },
		Common: profile.Common{Nudges: map[string]string{"third_call": "That was the third."}},
	}
	p := custom(t, parts)
	g := New(p, Options{})
	g.Before(t.Context(), Call{Tool: "a"})
	g.Before(t.Context(), Call{Tool: "b"})
	data, err := g.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	restored, err := Restore(p, Options{}, data)
	if err != nil {
		t.Fatal(err)
	}
	if d := restored.Before(t.Context(), Call{Tool: "c"}); d.Action != policy.Halt || d.Nudge != "That was the third." {
		t.Errorf("the third call: %s %q", d.Action, d.Nudge)
	}
	if d := New(p, Options{}).Before(t.Context(), Call{Tool: "c"}); d.Action != policy.Allow {
		t.Errorf("the first call of another run: %s", d.Action)
	}
	for name, change := range map[string]func(m map[string]any){
		"a state that its policy rejects":  func(m map[string]any) { m["session"].(map[string]any)["policy"] = 4 },
		"a state of another kind":          func(m map[string]any) { m["session"].(map[string]any)["policy"] = []int{1} },
		"a number of events that is wrong": func(m map[string]any) { m["next"] = 1 },
	} {
		var m map[string]any
		if err := json.Unmarshal(data, &m); err != nil {
			t.Fatal(err)
		}
		change(m)
		changed, _ := json.Marshal(m) // it was JSON
		if _, err := Restore(p, Options{}, changed); err == nil {
			t.Errorf("%s was restored", name)
		}
	}
}

// explosive is a policy that panics when it restores the state of a run with calls.
type explosive struct{ strikes }

func (e *explosive) Restore(data []byte) error {
	if err := e.strikes.Restore(data); err != nil || e.calls > 0 {
		panic("a state with a fault")
	}
	return nil
}

func TestAStateThatPanicsIsAnError(t *testing.T) {
	p := custom(t, profile.Parts{Detectors: []unloop.Detector{fragile{}}, Policy: func() policy.Policy { return new(explosive) }})
	g := New(p, Options{})
	g.Before(t.Context(), Call{Tool: "a"})
	data, err := g.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(p, Options{}, data); err == nil || !strings.Contains(err.Error(), "a state with a fault") {
		t.Errorf("Restore returns no error (%v)", err)
	}
}
