package guard

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/swarm"
)

// crossing is a store at which another call of the same run begins and ends while one is counted.
type crossing struct {
	swarm.Store
	meanwhile func()
}

func (c *crossing) Record(context.Context, string, []swarm.Call) ([]swarm.Count, error) {
	if meanwhile := c.meanwhile; meanwhile != nil {
		c.meanwhile = nil
		meanwhile()
	}
	return []swarm.Count{{Calls: 100, Workers: 10}}, nil
}

func TestAFindingOfASwarmNamesTheCountedCall(t *testing.T) {
	store := &crossing{}
	g := New(load(t, "attocode"), Options{Now: ticking(), Swarm: &Swarm{Store: store, Name: "goal", Worker: "w"}})
	var inner Decision
	store.meanwhile = func() {
		inner = g.Before(t.Context(), Call{ID: "b", Tool: "fetch", Args: json.RawMessage(`{"url":"x"}`)})
	}
	outer := g.Before(t.Context(), Call{ID: "a", Tool: "search", Args: json.RawMessage(`{"q":"x"}`)})
	for _, tc := range []struct {
		d     Decision
		tool  string
		event string
	}{{outer, "search", "g0"}, {inner, "fetch", "g1"}} {
		if len(tc.d.Findings) != 1 || tc.d.Findings[0].Subject != tc.tool || tc.d.Findings[0].Event.ID != tc.event {
			t.Errorf("%s at %s: %+v", tc.tool, tc.event, tc.d.Findings)
		}
	}
}

// remote is a store that answers only with an error, when the context is done.
type remote struct{ swarm.Store }

func (remote) Record(ctx context.Context, _ string, _ []swarm.Call) ([]swarm.Count, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestACallWaitsForTheStoreUntilItsContextIsDone(t *testing.T) {
	for name, tc := range map[string]struct {
		patience time.Duration // of the caller
		waits    time.Duration
		told     bool
	}{
		"the caller gives up first": {patience: 5 * time.Millisecond, waits: 5 * time.Millisecond},
		"the guard gives up first":  {patience: time.Hour, waits: swarmDeadline, told: true},
		"the context is done":       {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var told error
				s := &Swarm{Store: remote{}, Name: "goal", Worker: "w", OnError: func(err error) { told = err }}
				g := New(load(t, "agentium", "max_repeats=1"), Options{Swarm: s})
				ctx, cancel := context.WithTimeout(t.Context(), tc.patience)
				defer cancel()
				began := time.Now()
				if d := g.Before(ctx, Call{Tool: "search"}); d.Stops() {
					t.Errorf("a context that is done stops the call: %+v", d)
				}
				if waited := time.Since(began); waited != tc.waits {
					t.Errorf("waited %v, want %v", waited, tc.waits)
				}
				if (told != nil) != tc.told || tc.told && !errors.Is(told, context.DeadlineExceeded) || g.Stats().SwarmErrors != 1 {
					t.Errorf("OnError received %v, %d errors are counted", told, g.Stats().SwarmErrors)
				}
				if d := g.Before(ctx, Call{Tool: "search"}); !d.Stops() {
					t.Error("the first call is missing from the run")
				}
			})
		})
	}
}

// silent is a store that returns no counts.
type silent struct{ remote }

func (silent) Record(context.Context, string, []swarm.Call) ([]swarm.Count, error) { return nil, nil }

func TestAStoreWithoutCountsIsReported(t *testing.T) {
	var told error
	s := &Swarm{Store: silent{}, Name: "goal", Worker: "w", OnError: func(err error) { told = err }}
	New(load(t, "default"), Options{Swarm: s}).Before(t.Context(), Call{Tool: "search"})
	if told == nil || told.Error() != "count the calls of swarm goal: the store returned 0 counts, want 1" {
		t.Errorf("OnError received %v", told)
	}
}

func TestADoneContextDoesNotChangeDecisions(t *testing.T) {
	done, cancel := context.WithCancel(t.Context())
	cancel()
	play := func(ctx context.Context) (all []string) {
		g := New(load(t, "default"), Options{Now: ticking()})
		for range 8 {
			c := Call{Tool: "search", Args: json.RawMessage(`{"q":"x"}`)}
			d := g.Before(ctx, c)
			if all = append(all, d.Code); !d.Stops() {
				all = append(all, g.After(ctx, c, Outcome{Result: json.RawMessage(`[]`)}).Code)
			}
		}
		return append(all, g.MarkProgress(ctx, "a commit").Code, g.Text(ctx, "user", "", "go on").Code)
	}
	if diff := cmp.Diff(play(t.Context()), play(done)); diff != "" {
		t.Errorf("-in time +done:\n%s", diff)
	}
}
