package guardtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/profile"
)

func load(t rapid.TB, name string) *profile.Profile {
	t.Helper()
	p, err := profile.New(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Patient is a store without deadlines, so that guards on a slow machine do not decide without it.
type Patient struct{ guard.Store }

// Save saves a change, however long it takes.
func (p Patient) Save(ctx context.Context, run guard.RunKey, c guard.Change) (guard.Saved, error) {
	return p.Store.Save(context.WithoutCancel(ctx), run, c)
}

// clock always returns the same time, so that a run judged by many guards has the times of a run judged by one.
func clock() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

func shared(t *testing.T, p *profile.Profile, s guard.Store, id string) *guard.Guard {
	return guard.New(p, guard.Options{Run: id, Now: clock, Shared: &guard.Shared{Store: Patient{s}, Project: "shop", OnError: failIfMissed(t)}})
}

// step is what an agent does next, from a small set, so that repetition is frequent.
type step struct {
	kind, tool, args, result int
	id                       string // of the call
}

func drawStep(t *rapid.T) step {
	small := func(label string, most int) int { return rapid.IntRange(0, most).Draw(t, label) }
	return step{kind: small("kind", 9), tool: small("tool", 2), args: small("args", 2), result: small("result", 2)}
}

// begin makes the first event of the step. It reports whether a second one follows: the end of a call that runs.
func (s step) begin(g *guard.Guard) (d guard.Decision, follows bool) {
	ctx := context.Background()
	switch {
	case s.kind == 0:
		return g.Text(ctx, unloop.RoleAssistant, "coder", "I will look at the file again and then run the tests."), false
	case s.kind == 1:
		return g.ModelCall(ctx, "coder", "model", 100, 0.01), false
	case s.kind == 2 && s.tool == 0:
		return g.Text(ctx, unloop.RoleUser, "", "Go on."), false
	case s.kind == 2:
		return g.MarkProgress(ctx, "found it"), false
	}
	d = g.Before(ctx, s.call())
	return d, !d.Stops()
}

// end makes the second event of the step.
func (s step) end(g *guard.Guard) guard.Decision {
	o := guard.Outcome{Result: json.RawMessage([]string{`"same"`, `"other text of a result"`, `{"state":"queued"}`}[s.result])}
	if s.kind == 9 {
		o.Err = errors.New("exit status 1")
	}
	return g.After(context.Background(), s.call(), o)
}

func (s step) call() guard.Call {
	return guard.Call{
		ID:   s.id,
		Tool: []string{"search", "read_file", "bash"}[s.tool],
		Args: json.RawMessage([]string{`{"q":"a"}`, `{"path":"a.go"}`, `{"command":"go test ./..."}`}[s.args]),
	}
}

// make makes the step under the guard that pick returns, which may be another one at each event.
func (s step) make(pick func() *guard.Guard) []guard.Decision {
	first, follows := s.begin(pick())
	if !follows {
		return []guard.Decision{first}
	}
	return []guard.Decision{first, s.end(pick())}
}

// manyGuardsAreOne gives each event of random runs to one of several guards, some of them new. The decisions, the state and the
// events must be those of one guard that judges all.
func manyGuardsAreOne(t *testing.T, s guard.Store) {
	var runs atomic.Int64
	rapid.Check(t, func(r *rapid.T) {
		p := load(r, rapid.SampledFrom(profile.Names()).Draw(r, "profile"))
		id := fmt.Sprint("run ", runs.Add(1))
		alone := guard.New(p, guard.Options{Run: id, Now: clock})
		guards := make([]*guard.Guard, rapid.IntRange(1, 4).Draw(r, "guards"))
		pick := func() *guard.Guard {
			k := rapid.IntRange(0, len(guards)-1).Draw(r, "guard")
			if guards[k] == nil || rapid.IntRange(0, 9).Draw(r, "new") == 0 {
				guards[k] = shared(t, p, s, id)
			}
			return guards[k]
		}
		for n := range rapid.IntRange(1, 25).Draw(r, "steps") {
			now := drawStep(r)
			want := now.make(func() *guard.Guard { return alone })
			got := now.make(pick)
			if diff := cmp.Diff(fieldsOf(want), fieldsOf(got)); diff != "" {
				r.Fatalf("step %d (-one guard +many):\n%s", n, diff)
			}
		}
		last := shared(t, p, s, id)
		if err := last.Load(t.Context()); err != nil {
			r.Fatal(err)
		}
		if diff := cmp.Diff(snapshot(r, alone), snapshot(r, last)); diff != "" {
			r.Fatalf("state (-one guard +many):\n%s", diff)
		}
	})
}

// fieldsOf returns the exported fields of decisions.
func fieldsOf(decisions []guard.Decision) (all []string) {
	for _, d := range decisions {
		all = append(all, fields(d))
	}
	return all
}

// fields returns the exported fields of a decision.
func fields(d guard.Decision) string {
	text, err := json.Marshal(d)
	if err != nil {
		panic(err) // a Decision always encodes
	}
	return string(text)
}

func snapshot(t rapid.TB, g *guard.Guard) string {
	t.Helper()
	data, err := g.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// guardsMeanwhile judges calls of one run by eight guards at once.
func guardsMeanwhile(t *testing.T, s guard.Store) {
	const guards, calls = 8, 4
	p := load(t, "looplens")
	var saved atomic.Int64
	var group sync.WaitGroup
	for k := range guards {
		g := guard.New(p, guard.Options{
			Run: "run", Now: clock, Shared: &guard.Shared{Store: Patient{s}, Project: "shop", OnError: failIfMissed(t)},
			Events: func(*unloop.Event, guard.Decision) { saved.Add(1) },
		})
		group.Go(func() {
			for n := range calls {
				c := guard.Call{ID: fmt.Sprint(k, " ", n), Tool: "search", Args: json.RawMessage(fmt.Sprintf(`{"q":"%d"}`, k))}
				g.Before(t.Context(), c)
				g.After(t.Context(), c, guard.Outcome{Result: json.RawMessage(`"found"`)})
			}
		})
	}
	group.Wait()
	last := shared(t, p, s, "run")
	if err := last.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := last.State().Calls; got != guards*calls {
		t.Errorf("the run has %d calls, want %d", got, guards*calls)
	}
	if n := saved.Load(); n != 2*guards*calls {
		t.Errorf("%d events were passed on, want %d", n, 2*guards*calls)
	}
}

// guardsShareLimits halts the runs of a project when all of them have made the calls of an hour, or spent its cost.
func guardsShareLimits(t *testing.T, s guard.Store) {
	for says, limits := range map[string]guard.Usage{"calls": {Calls: 5}, "cost": {Cost: 0.5}, "tokens": {Tokens: 500}} {
		t.Run(says, func(t *testing.T) {
			allowed, hour := 0, thisHour()
			for n := range 8 {
				g := guard.New(load(t, "default"), guard.Options{
					Run: fmt.Sprint("run ", n), Now: clock,
					Shared: &guard.Shared{Store: Patient{s}, Project: says, Limits: limits, OnError: failIfMissed(t)},
				})
				d := g.Before(t.Context(), guard.Call{Tool: "search"})
				if !d.Stops() {
					allowed++
					g.ModelCall(t.Context(), "", "model", 100, 0.1)
					continue
				}
				var halted *guard.LoopError
				if d.Code != guard.CodeProjectLimit || !errors.As(d.Err(), &halted) || g.State().Calls != 0 {
					t.Errorf("over the limit: %+v, %d calls in the run", d, g.State().Calls)
				}
			}
			if allowed != 5 && hour.Equal(thisHour()) { // the next hour has a limit of its own
				t.Errorf("%d calls were allowed, want 5", allowed)
			}
		})
	}
}
