package guard

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
)

// memoryStore is a Store in memory without usage. It records what is asked, and fails while broken is set.
type memoryStore struct {
	mu     sync.Mutex
	latest Saved
	broken error
	hangs  bool
	saves  int
	over   *Usage // refuses changes that have limits; nil refuses none
}

func (m *memoryStore) Load(context.Context, RunKey) (Saved, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.latest, m.broken
}

func (m *memoryStore) Save(ctx context.Context, _ RunKey, c Change) (Saved, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.saves++
	if m.hangs {
		<-ctx.Done()
		return Saved{}, ctx.Err()
	}
	if m.broken != nil {
		return Saved{}, m.broken
	}
	conflict := m.latest
	if conflict.Status = Conflict; m.latest.Version != 0 && m.latest.Version != c.Version {
		return conflict, nil
	}
	if m.over != nil && c.Limits != (Usage{}) {
		conflict.Status, conflict.Used = OverLimit, *m.over
		return conflict, nil
	}
	m.latest = Saved{Version: m.latest.Version + 1, Data: c.Data}
	return Saved{Version: m.latest.Version}, nil
}

func searchCall(g *Guard, t *testing.T) Decision {
	t.Helper()
	c := Call{Tool: "search", Args: json.RawMessage(`{"q":"x"}`)}
	d := g.Before(t.Context(), c)
	if !d.Stops() {
		g.After(t.Context(), c, Outcome{Result: json.RawMessage(`[]`)})
	}
	return d
}

func TestAnEventIsOneRoundTripOnTheSameMachineAndTwoOnAnother(t *testing.T) {
	s := &memoryStore{}
	a := New(load(t, "default"), Options{Run: "run", Now: ticking(), Shared: &Shared{Store: s}})
	b := New(load(t, "default"), Options{Run: "run", Now: ticking(), Shared: &Shared{Store: s}})
	var trips []int
	for _, g := range []*Guard{a, a, b, b, a} {
		before := s.saves
		g.Text(t.Context(), unloop.RoleAssistant, "", "Next.")
		trips = append(trips, s.saves-before)
	}
	if diff := cmp.Diff([]int{1, 1, 2, 1, 2}, trips); diff != "" {
		t.Errorf("round trips (-want +got):\n%s", diff)
	}
}

func TestAGuardWithoutItsStoreDecidesAloneAndReportsOneError(t *testing.T) {
	s := &memoryStore{broken: errors.New("no route")}
	var told []error
	passed := 0
	g := New(load(t, "agentium", "max_repeats=2"), Options{
		Run: "run", Now: ticking(), Shared: &Shared{Store: s, OnError: func(err error) { told = append(told, err) }},
		Events: func(*unloop.Event, Decision) { passed++ },
	})
	var stops []bool
	for range 3 {
		stops = append(stops, searchCall(g, t).Stops())
	}
	if diff := cmp.Diff([]bool{false, false, true}, stops); diff != "" {
		t.Errorf("stops (-want +got):\n%s", diff)
	}
	if len(told) != 1 || !errors.Is(told[0], s.broken) || g.Stats().StoreErrors != 5 || passed != 6 {
		t.Errorf("told %v, %d errors, %d events", told, g.Stats().StoreErrors, passed)
	}
	s.broken = nil
	g.MarkProgress(t.Context(), "the store is back")
	other := New(load(t, "agentium", "max_repeats=2"), Options{Run: "run", Now: ticking(), Shared: &Shared{Store: s}})
	if err := other.Load(t.Context()); err != nil || other.State().Calls != 3 {
		t.Errorf("the store has %d calls, %v, want those that were judged without it", other.State().Calls, err)
	}
}

func TestAGuardWaitsForItsStoreUntilTheDeadline(t *testing.T) {
	for says, c := range map[string]struct {
		patience, waits time.Duration
		told            int
	}{
		"the caller gives up first": {5 * time.Millisecond, 5 * time.Millisecond, 0},
		"the guard gives up first":  {time.Hour, storeDeadline, 1},
	} {
		t.Run(says, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				told := 0
				g := New(load(t, "default"), Options{Run: "run", Shared: &Shared{Store: &memoryStore{hangs: true}, OnError: func(error) { told++ }}})
				ctx, cancel := context.WithTimeout(t.Context(), c.patience)
				defer cancel()
				began := time.Now()
				g.Before(ctx, Call{Tool: "search"})
				if waited := time.Since(began); waited != c.waits || told != c.told || g.Stats().StoreErrors != 1 {
					t.Errorf("waited %v, want %v; told %d times, want %d", waited, c.waits, told, c.told)
				}
			})
		})
	}
}

func TestAnUnreadableSnapshotRestartsTheRunAndIsReported(t *testing.T) {
	for says, data := range map[string][]byte{"random": []byte("no snapshot"), "empty": {}} {
		t.Run(says, func(t *testing.T) {
			var told error
			s := &memoryStore{latest: Saved{Version: 7, Data: data}}
			g := New(load(t, "default"), Options{Run: "run", Now: ticking(), Shared: &Shared{Store: s, OnError: func(err error) { told = err }}})
			searchCall(g, t)
			if told == nil || !strings.Contains(told.Error(), "run run") || g.State().Calls != 1 || s.latest.Version != 9 {
				t.Errorf("told %v, %d calls, version %d", told, g.State().Calls, s.latest.Version)
			}
		})
	}
}

func TestALimitInShadowModeIsOnlyReported(t *testing.T) {
	s := &memoryStore{over: &Usage{Calls: 10}}
	g := New(load(t, "default", "shadow=true"), Options{Run: "run", Now: ticking(), Shared: &Shared{Store: s, Project: "shop", Limits: Usage{Calls: 10}}})
	d := searchCall(g, t)
	if d.Action != policy.Allow || d.Shadow != policy.Halt || d.Code != CodeProjectLimit || g.State().Calls != 1 {
		t.Errorf("got %+v with %d calls in the run", d, g.State().Calls)
	}
}

func TestAnEventThatIsJudgedTwiceIsPassedOnOnce(t *testing.T) {
	s := &memoryStore{}
	var ids []string
	events := func(e *unloop.Event, _ Decision) { ids = append(ids, e.ID) }
	for range 3 {
		g := New(load(t, "default"), Options{Run: "run", Now: ticking(), Events: events, Shared: &Shared{Store: s}})
		searchCall(g, t)
	}
	if diff := cmp.Diff([]string{"g0", "g1", "g2", "g3", "g4", "g5"}, ids); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func FuzzDecompress(f *testing.F) {
	packed, err := compress([]byte(strings.Repeat("a snapshot ", 100)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(packed)
	f.Fuzz(func(t *testing.T, data []byte) {
		plain, err := decompress(data)
		if err != nil {
			return
		}
		again, err := compress(plain)
		if err != nil {
			t.Fatal(err)
		}
		if same, err := decompress(again); err != nil || string(same) != string(plain) {
			t.Errorf("%d bytes became %d, %v", len(plain), len(same), err)
		}
	})
}

func TestANudgeOfAPersonReachesTheAgentThroughAnotherGuard(t *testing.T) {
	s := &memoryStore{}
	a := New(load(t, "default"), Options{Run: "run", Now: ticking(), Shared: &Shared{Store: s}})
	b := New(load(t, "default"), Options{Run: "run", Now: ticking(), Shared: &Shared{Store: s}})
	a.Control(&unloop.Event{Type: unloop.Control, ID: "n", Name: unloop.ControlNudge, Text: "Read the log first."})
	b.MarkProgress(t.Context(), "a commit") // so that the next event of a is judged twice
	if d := searchCall(a, t); d.Action != policy.Warn || !strings.Contains(d.Nudge, "Read the log first.") {
		t.Errorf("the decision after the nudge is %+v", d)
	}
	a.Control(&unloop.Event{Type: unloop.Control, ID: "m", Name: unloop.ControlNudge, Text: "Ask me."})
	s.over, a.shared.Limits = &Usage{Calls: 10}, Usage{Calls: 10}
	a.shared.Project = "shop"
	if d := searchCall(a, t); d.Code != CodeProjectLimit {
		t.Errorf("over the limit: %+v", d)
	}
	s.over = nil
	if d := searchCall(a, t); !strings.Contains(d.Nudge, "Ask me.") {
		t.Errorf("the decision after the limit is %+v", d)
	}
	a.Control(&unloop.Event{Type: unloop.Control, ID: "h", Name: unloop.ControlHalt})
	if d := searchCall(b, t); d.Action != policy.Halt {
		t.Errorf("a halt on one machine is %v on another", d.Action)
	}
}

// meteredStore keeps the usage of each change.
type meteredStore struct {
	memoryStore
	used []Usage
}

func (m *meteredStore) Save(ctx context.Context, run RunKey, c Change) (Saved, error) {
	m.used = append(m.used, c.Use)
	return m.memoryStore.Save(ctx, run, c)
}

func TestNoEventTakesAwayFromTheUsageOfAProject(t *testing.T) {
	s := &meteredStore{}
	g := New(load(t, "default"), Options{Run: "run", Now: ticking(), Shared: &Shared{Store: s, Project: "shop", Limits: Usage{Cost: 10}}})
	for _, cost := range []float64{0.5, math.NaN(), -3, math.Inf(-1), math.Inf(1), math.MaxFloat64} {
		g.ModelCall(t.Context(), "", "model", 7, cost)
	}
	for _, tokens := range []int64{-7, math.MinInt64, math.MaxInt64} {
		g.ModelCall(t.Context(), "", "model", tokens, 0)
	}
	want := []Usage{{Tokens: 7, Cost: 0.5}, {Tokens: 7}, {Tokens: 7}, {Tokens: 7}, {Tokens: 7, Cost: maxCost}, {Tokens: 7, Cost: maxCost}, {}, {}, {Tokens: maxTokens}}
	if diff := cmp.Diff(want, s.used); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
}
