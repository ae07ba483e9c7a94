package guard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/profile"
	"github.com/unloop-ai/unloop/swarm"
)

// acting are the profiles whose policies act.
var acting = []string{"default", "agentium", "cycles", "attocode", "loopguard", "loopdetection"}

// ticking is a clock that goes on by a second at each reading.
func ticking() func() time.Time {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return func() time.Time { now = now.Add(time.Second); return now }
}

func load(t testing.TB, name string, sets ...string) *profile.Profile {
	t.Helper()
	p, err := profile.Load(profile.Source{Name: name, Sets: sets})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// move is what an agent does, made of a few bytes, so that repetition is frequent.
type move struct{ Kind, Tool, Args, Result byte }

func (m move) make(g *Guard) (decisions []Decision) {
	tools := []string{"search", "read_file", "bash", "get_status"}
	args := []string{`{"q":"a"}`, `{"path":"a.go"}`, `{"command":"go test ./..."}`, `{"q":"a","page":2}`, ``, `not json`}
	results := []string{`"same"`, `"other"`, `{"state":"queued"}`, `"--- FAIL: TestX (0.01s)"`, `null`}
	switch m.Kind % 8 {
	case 0:
		return []Decision{g.Text(context.Background(), unloop.RoleAssistant, "coder", "I will look at the file once more and then run the tests.")}
	case 1:
		if m.Tool%4 == 0 {
			return []Decision{g.ResetTurn(context.Background())}
		}
		return []Decision{g.MarkProgress(context.Background(), "found it")}
	}
	c := Call{Tool: tools[int(m.Tool)%len(tools)], Args: json.RawMessage(args[int(m.Args)%len(args)])}
	before := g.Before(context.Background(), c)
	if before.Stops() {
		return []Decision{before}
	}
	o := Outcome{Result: json.RawMessage(results[int(m.Result)%len(results)])}
	if m.Kind%8 == 7 {
		o.Err = errors.New("exit status 1")
	}
	return []Decision{before, g.After(context.Background(), c, o)}
}

func TestAFailureHasTheTextThatATraceHas(t *testing.T) {
	var texts []string
	g := New(load(t, acting[0]), Options{Events: func(e *unloop.Event, _ Decision) { texts = append(texts, string(e.Error)) }})
	g.After(context.Background(), Call{Tool: "grep"}, Outcome{Err: errors.New(`<error>no "x" & y</error>`)})
	if want := `"<error>no \"x\" & y</error>"`; len(texts) != 1 || texts[0] != want {
		t.Errorf("got %s, want %s", texts, want)
	}
}

func moves() *rapid.Generator[[]move] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) move {
		small := rapid.ByteRange(0, 7)
		return move{small.Draw(t, "kind"), small.Draw(t, "tool") / 2, small.Draw(t, "args") / 2, small.Draw(t, "result") / 3}
	}), 1, 80)
}

func TestARestoredGuardContinuesAsTheOriginalWould(t *testing.T) {
	for _, name := range acting {
		p := load(t, name)
		rapid.Check(t, func(t *rapid.T) {
			all := moves().Draw(t, "moves")
			cut := rapid.IntRange(0, len(all)).Draw(t, "cut")
			clock := func() time.Time { return time.Unix(1_767_323_045, 0) }
			whole, broken := New(p, Options{Run: "r", Now: clock}), New(p, Options{Run: "r", Now: clock})
			for _, m := range all[:cut] {
				m.make(whole)
				m.make(broken)
			}
			data, err := broken.Snapshot()
			if err != nil {
				t.Fatal(err)
			}
			restored, err := Restore(p, Options{Run: "r", Now: clock}, data)
			if err != nil {
				t.Fatal(err)
			}
			for i, m := range all[cut:] {
				want, got := m.make(whole), m.make(restored)
				if diff := cmp.Diff(want, got, cmp.AllowUnexported(Decision{})); diff != "" {
					t.Fatalf("%s: move %d after the cut (-whole +restored):\n%s", name, i, diff)
				}
			}
			if diff := cmp.Diff(whole.State(), restored.State()); diff != "" {
				t.Fatalf("%s: the states differ:\n%s", name, diff)
			}
			if diff := cmp.Diff(whole.Stats(), restored.Stats()); diff != "" {
				t.Fatalf("%s: the counts differ:\n%s", name, diff)
			}
		})
	}
}

func TestInvalidSnapshotsAreRejected(t *testing.T) {
	p := load(t, "default")
	g := New(p, Options{})
	move{2, 0, 0, 0}.make(g)
	good, err := g.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{
		"no JSON":                  `{`,
		"another version":          strings.Replace(string(good), `"version":2`, `"version":9`, 1),
		"another profile":          strings.Replace(string(good), `"profile":"default"`, `"profile":"cycles"`, 1),
		"a run of another version": strings.Replace(string(good), `"run":{"version":7`, `"run":{"version":9`, 1),
		"steps without calls":      strings.Replace(string(good), `"Calls":1`, `"Calls":7`, 1),
	} {
		if data == string(good) {
			t.Fatalf("%s: the snapshot was not changed: %s", name, good)
		}
		if _, err := Restore(p, Options{}, []byte(data)); err == nil {
			t.Errorf("%s: Restore returns no error", name)
		}
	}
}

func TestTheDefaultProfileNudgesThenBlocksThenHalts(t *testing.T) {
	g := New(load(t, "default"), Options{Now: ticking()})
	c := Call{Tool: "search", Args: json.RawMessage(`{"q":"the same"}`)}
	var seen []string
	for range 20 {
		d := g.Before(t.Context(), c)
		if d.Action != policy.Allow {
			seen = append(seen, "before "+d.Code)
		}
		if d.Action == policy.Halt {
			break
		}
		if d.Stops() {
			continue
		}
		if d = g.After(t.Context(), c, Outcome{Result: json.RawMessage(`[]`)}); d.Action != policy.Allow {
			seen = append(seen, "after "+d.Code)
		}
	}
	want := []string{"after nudge", "after strong_nudge", "after blocked", "before blocked", "before blocked", "before halted"}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if d := g.Before(t.Context(), Call{Tool: "search", Args: json.RawMessage(`{"q":"another thing"}`)}); d.Stops() {
		t.Errorf("another call was stopped: %s", d.Code)
	}
}

func TestABatchOverDifferentItemsIsNotStopped(t *testing.T) {
	g := New(load(t, "default"), Options{Now: ticking()})
	for k := range 60 {
		c := Call{Tool: "get_stock", Args: json.RawMessage(fmt.Sprintf(`{"sku":"KLM-%03d"}`, k))}
		if d := g.Before(t.Context(), c); d.Stops() {
			t.Fatalf("item %d: %s", k, d.Code)
		}
		if d := g.After(t.Context(), c, Outcome{Result: json.RawMessage(`{"in_stock":true}`)}); d.Stops() {
			t.Fatalf("after item %d: %s", k, d.Code)
		}
	}
}

func TestAUserMessageAndAllowLetTheAgentContinue(t *testing.T) {
	for name, speak := range map[string]func(*Guard){
		"a user's message": func(g *Guard) { g.Text(t.Context(), unloop.RoleUser, "", "go on, the index is being built") },
		"an override":      func(g *Guard) { g.Allow(t.Context(), "I know") },
	} {
		g := New(load(t, "default"), Options{Now: ticking()})
		c := Call{Tool: "search", Args: json.RawMessage(`{"q":"the same"}`)}
		blocked := false
		for !blocked {
			if d := g.Before(t.Context(), c); d.Stops() {
				blocked = true
				break
			}
			g.After(t.Context(), c, Outcome{Result: json.RawMessage(`[]`)})
		}
		speak(g)
		if d := g.Before(t.Context(), c); d.Stops() {
			t.Errorf("after %s the call is still stopped", name)
		}
	}
}

func TestFormsOfADecision(t *testing.T) {
	block := Decision{Action: policy.Block, Code: "x", Count: 4, Nudge: "stop it", tool: "t", prefix: profile.MessagePrefix{Tag: "loop-guard"}}
	if got := string(block.Result()); got != `{"error":"[loop-guard] stop it","loop_blocked":true}` {
		t.Errorf("result %s", got)
	}
	hint := block
	hint.prefix = profile.MessagePrefix{Tag: "loop-detected", Text: true}
	if got := string(hint.Result()); got != `"[loop-detected] stop it"` {
		t.Errorf("hint %s", got)
	}
	warn := block
	warn.Action = policy.Warn
	for name, tc := range map[string]struct{ result, want any }{
		"a text":         {"found", "found [loop-guard] stop it"},
		"raw text":       {json.RawMessage(`"found"`), json.RawMessage(`"found [loop-guard] stop it"`)},
		"raw list":       {json.RawMessage(`[1]`), json.RawMessage(`{"_loop_guard":{"action":"warn","code":"x","count":4,"message":"stop it"},"result":[1]}`)},
		"an object":      {map[string]any{"a": 1}, map[string]any{"a": 1, "_loop_guard": map[string]any{"action": "warn", "code": "x", "count": 4, "message": "stop it"}}},
		"a large number": {json.RawMessage(`[12345678901234567890]`), json.RawMessage(`{"_loop_guard":{"action":"warn","code":"x","count":4,"message":"stop it"},"result":[12345678901234567890]}`)},
		"broken JSON":    {json.RawMessage(`{`), json.RawMessage(`{`)},
		"raw lines":      {json.RawMessage("{\"a\":1}\n{\"a\":2}\n"), json.RawMessage("{\"a\":1}\n{\"a\":2}\n")},
		"a raw line":     {json.RawMessage("\"found\"\n"), json.RawMessage(`"found [loop-guard] stop it"`)},
	} {
		if diff := cmp.Diff(tc.want, warn.Attach(tc.result)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	allow := Decision{}
	if got := allow.Attach("as it is"); got != "as it is" {
		t.Errorf("an allowed result became %v", got)
	}
	halt := block
	halt.Action = policy.Halt
	var loop *LoopError
	if err := fmt.Errorf("agent: %w", halt.Err()); !errors.As(err, &loop) || loop.Tool != "t" || loop.Count != 4 || loop.Code != "x" || loop.Retryable() {
		t.Errorf("error %v", err)
	}
	if block.Err() != nil {
		t.Error("Err returns an error for a block")
	}
}

func TestWrap(t *testing.T) {
	p := load(t, "agentium", "max_repeats=2")
	g := New(p, Options{})
	ran := 0
	tool := g.Wrap("fetch", func(context.Context, json.RawMessage) (json.RawMessage, error) {
		ran++
		return json.RawMessage(`"page"`), nil
	})
	for i := range 4 {
		result, err := tool(context.Background(), json.RawMessage(`{"u":1}`))
		if err != nil {
			t.Fatal(err)
		}
		if hinted := strings.Contains(string(result), "[loop-detected]"); hinted != (i >= 2) {
			t.Errorf("call %d gave %s", i, result)
		}
	}
	if ran != 2 {
		t.Errorf("the tool ran %d times, want 2", ran)
	}
	g = New(load(t, "agentium", "max_repeats=1", "action=abort"), Options{})
	failing := g.Wrap("fetch", func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, errors.New("no") })
	if _, err := failing(context.Background(), nil); err == nil || err.Error() != "no" {
		t.Errorf("the tool's own error became %v", err)
	}
	var loop *LoopError
	if _, err := failing(context.Background(), nil); !errors.As(err, &loop) {
		t.Errorf("the halt became %v", err)
	}
}

func TestTheErrorOfAWrappedToolCarriesTheNudge(t *testing.T) {
	down := errors.New("the host is down")
	fetch := New(load(t, "default"), Options{Now: ticking()}).Wrap("fetch", func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, down })
	nudged := false
	for range 6 {
		_, err := fetch(t.Context(), json.RawMessage(`{"u":1}`))
		if !errors.Is(err, down) {
			t.Fatalf("the tool's error became %v", err)
		}
		nudged = nudged || strings.HasPrefix(err.Error(), "the host is down [loop-guard] ")
	}
	if !nudged {
		t.Error("six equal failures, and no nudge")
	}
}

func TestARecordedEventIsJudgedAndHandedOn(t *testing.T) {
	var got []unloop.Event
	g := New(load(t, "default"), Options{Run: "r", Now: ticking(), Events: func(e *unloop.Event, _ Decision) { got = append(got, *e.Clone()) }})
	g.Record(t.Context(), unloop.Event{Type: unloop.LLMCallCompleted, Model: "m", Tokens: 15, Usage: &unloop.Usage{Input: 10, Output: 5}})
	g.Record(t.Context(), unloop.Event{ID: "mine", Type: unloop.RunCompleted})
	if len(got) != 2 || got[0].ID != "g0" || got[0].Usage == nil || got[0].RunID != "r" || got[0].Time.IsZero() || got[1].ID != "mine" || got[1].Index != 1 {
		t.Errorf("events %+v", got)
	}
}

func TestAGuardTellsWhyTheRunWasHaltedUntilTheUserSpeaks(t *testing.T) {
	for name, reset := range map[string]func(*Guard){
		"a message of the user":            func(g *Guard) { g.Text(t.Context(), unloop.RoleUser, "", "Go on.") },
		"an Allow":                         func(g *Guard) { g.Allow(t.Context(), "it is fine") },
		"an order of a person to continue": func(g *Guard) { g.Control(&unloop.Event{ID: "o", Type: unloop.Override}) },
	} {
		t.Run(name, func(t *testing.T) {
			g := New(load(t, "agentium", "max_repeats=1", "action=abort"), Options{Now: ticking()})
			g.Before(t.Context(), Call{Tool: "t"})
			if err := g.Halted(); err != nil {
				t.Errorf("halted before the loop: %v", err)
			}
			want := g.Before(t.Context(), Call{Tool: "t"}).Err()
			g.Text(t.Context(), unloop.RoleAssistant, "", "Again.")
			if diff := cmp.Diff(want, g.Halted()); want == nil || diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			reset(g)
			if err := g.Halted(); err != nil {
				t.Errorf("still halted: %v", err)
			}
		})
	}
}

func TestAContextHasTheGuardOfARun(t *testing.T) {
	g := New(load(t, "default"), Options{})
	if FromContext(t.Context()) != nil || FromContext(NewContext(t.Context(), g)) != g {
		t.Error("the context does not have its guard, or has one without being given it")
	}
}

func TestShadowModeReportsAndDoesNotAct(t *testing.T) {
	g := New(load(t, "agentium", "max_repeats=1", "shadow=true"), Options{})
	c := Call{Tool: "t"}
	g.Before(t.Context(), c)
	d := g.Before(t.Context(), c)
	if d.Action != policy.Allow || d.Shadow != policy.Block || d.Code != "loop-detected" || d.Stops() {
		t.Errorf("decision %+v", d)
	}
	if s := g.Stats(); s.Shadowed != 1 || s.Actions["block"] != 1 {
		t.Errorf("stats %+v", s)
	}
}

func TestAListenerCannotDelayOrBreakTheAgent(t *testing.T) {
	release := make(chan struct{})
	var mu sync.Mutex
	var heard []string
	g := New(load(t, "agentium"), Options{Listeners: []Listener{
		func(n Notice) { mu.Lock(); heard = append(heard, n.Stage+" "+n.Decision.Action.String()); mu.Unlock() },
		func(Notice) { panic("a broken listener") },
		func(Notice) { <-release },
	}})
	const calls = 3 * backlog
	for range calls {
		g.Before(t.Context(), Call{Tool: "t"})
	}
	close(release)
	g.Close()
	if s := g.Stats(); s.Decisions != calls || s.DroppedNotices < calls-backlog {
		t.Errorf("%d decisions, %d dropped notices", s.Decisions, s.DroppedNotices)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(heard) == 0 || !slices.Contains(heard, "before block") {
		t.Errorf("the good listener heard %d notices", len(heard))
	}
	g.Before(t.Context(), Call{Tool: "t"}) // the guard goes on without them
}

func TestAResultInPlaceOfTheToolsIsANoticeOfAResult(t *testing.T) {
	var heard []string
	g := New(load(t, "agentium", "max_repeats=1"), Options{Listeners: []Listener{func(n Notice) {
		heard = append(heard, strings.TrimSpace(n.Event+" "+n.Error+" "+string(n.Result[:min(len(n.Result), 16)])))
	}}})
	for range 2 {
		g.Before(t.Context(), Call{Tool: "t"})
	}
	g.Close()
	if diff := cmp.Diff([]string{"decision", `tool.result loop-detected "[loop-detected]`}, heard); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAGroupSeparatesRunsAndEvictsIdleOnes(t *testing.T) {
	p := load(t, "agentium", "max_repeats=1")
	group := NewGroup(p, nil, shardCount) // one per shard
	group.Run("a").Before(t.Context(), Call{Tool: "t"})
	if d := group.Run("b").Before(t.Context(), Call{Tool: "t"}); d.Stops() {
		t.Error("run b was stopped by what run a did")
	}
	for k := range 10 * shardCount {
		group.Run(fmt.Sprint("other ", k))
	}
	if d := group.Run("a").Before(t.Context(), Call{Tool: "t"}); d.Stops() || group.Dropped() == 0 {
		t.Errorf("run a was not forgotten; dropped %d", group.Dropped())
	}
	group.End("a")
	var wait sync.WaitGroup
	for w := range 16 {
		wait.Go(func() {
			for k := range 200 {
				g := group.Run(fmt.Sprint("shared ", k%20))
				g.Before(t.Context(), Call{Tool: fmt.Sprint("tool ", w, k)})
			}
		})
	}
	wait.Wait()
	heard := 0
	told := NewGroup(p, func(string) Options { return Options{Listeners: []Listener{func(Notice) { heard++ }}} }, 0)
	told.Run("one").Before(t.Context(), Call{Tool: "t"})
	told.Close()
	if heard != 1 {
		t.Errorf("closing the group waited for %d notices, want 1", heard)
	}
}

func TestALoopOfASwarmIsWarnedAbout(t *testing.T) {
	p := load(t, "attocode")
	store, err := swarm.NewMemory(swarm.DefaultBounds())
	if err != nil {
		t.Fatal(err)
	}
	guards := make([]*Guard, 5)
	for k := range guards {
		guards[k] = New(p, Options{Now: ticking(), Swarm: &Swarm{Store: store, Name: "goal", Worker: fmt.Sprint("w", k)}})
	}
	var codes []string
	for round := range 2 {
		for _, g := range guards {
			c := Call{Tool: "search", Args: json.RawMessage(`{"query":"x"}`)}
			if d := g.Before(t.Context(), c); d.Action != policy.Allow {
				codes = append(codes, fmt.Sprint(round, " ", d.Code, " ", d.Count))
			}
			g.After(t.Context(), c, Outcome{Result: json.RawMessage(`"r"`)})
		}
	}
	if diff := cmp.Diff([]string{"1 global_doom_loop 10"}, codes); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// gone is a store that does not respond.
type gone struct{ swarm.Store }

func (gone) Record(ctx context.Context, _ string, _ []swarm.Call) ([]swarm.Count, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestAGuardDecidesWithoutAnUnavailableStore(t *testing.T) {
	var said []error
	g := New(load(t, "attocode"), Options{Swarm: &Swarm{Store: gone{}, Name: "goal", Worker: "w", OnError: func(err error) { said = append(said, err) }}})
	var last Decision
	for range 3 {
		last = g.Before(t.Context(), Call{Tool: "t"})
	}
	if last.Action != policy.Warn || last.Code != "doom_loop" {
		t.Errorf("the own verdict is %s %s", last.Action, last.Code)
	}
	if len(said) != 1 || g.Stats().SwarmErrors != 3 {
		t.Errorf("said %v, lost %d", said, g.Stats().SwarmErrors)
	}
}

func FuzzGuard(f *testing.F) {
	f.Add([]byte{2, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 7, 1, 1, 3, 0, 0, 0, 0, 1, 0, 0, 0})
	profiles := make([]*profile.Profile, len(acting))
	for k, name := range acting {
		profiles[k] = load(f, name)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, p := range profiles {
			clock := func() time.Time { return time.Unix(1_767_323_045, 0) }
			mixed := NewGroup(p, func(string) Options { return Options{Now: clock} }, 0)
			alone := New(p, Options{Now: clock})
			for rest := data; len(rest) >= 4; rest = rest[4:] {
				m := move{rest[0], rest[1], rest[2], rest[3]}
				m.make(mixed.Run("noise"))
				want, got := m.make(alone), m.make(mixed.Run("run"))
				if diff := cmp.Diff(want, got, cmp.AllowUnexported(Decision{})); diff != "" {
					t.Fatalf("another run's state shows (-alone +mixed):\n%s", diff)
				}
			}
		}
	})
}
