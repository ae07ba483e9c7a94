package guard_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/profile"
	"github.com/unloop-ai/unloop/swarm"
)

// A wrapped tool runs until the agent loops. The error then ends the run.
func ExampleGuard_Wrap() {
	p, err := profile.Load(profile.Source{Name: "agentium", Sets: []string{"action=abort"}})
	if err != nil {
		panic(err)
	}
	g := guard.New(p, guard.Options{Run: "order-4711"})
	defer g.Close()
	search := g.Wrap("search", func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`{"hits":[]}`), nil
	})
	for {
		result, err := search(context.Background(), json.RawMessage(`{"q":"order 4711"}`))
		var loop *guard.LoopError
		if errors.As(err, &loop) {
			fmt.Println("stopped:", loop.Tool, loop.Code, loop.Count)
			return
		}
		fmt.Println(string(result))
	}
	// Output:
	// {"hits":[]}
	// {"hits":[]}
	// {"hits":[]}
	// stopped: search loop-detected 4
}

// Before decides whether a call runs, and After whether the agent loops. A warning goes to the agent with the result.
func ExampleGuard_Before() {
	p, err := profile.New(profile.Default)
	if err != nil {
		panic(err)
	}
	ctx, g := context.Background(), guard.New(p, guard.Options{Run: "order-4711"})
	defer g.Close()
	for {
		call := guard.Call{Tool: "search", Args: json.RawMessage(`{"q":"order 4711"}`)}
		before := g.Before(ctx, call)
		if before.Stops() {
			fmt.Printf("before: %s, %q\n", before.Action, before.Code)
			return
		}
		result := json.RawMessage(`{"hits":[]}`) // of the tool
		after := g.After(ctx, call, guard.Outcome{Result: result})
		_, attached := after.Attach(map[string]any{"hits": nil}).(map[string]any)["_loop_guard"]
		fmt.Printf("after: %s, %q, attached %t\n", after.Action, after.Code, attached)
	}
	// Output:
	// after: allow, "", attached false
	// after: allow, "", attached false
	// after: warn, "nudge", attached true
	// after: allow, "", attached false
	// after: warn, "strong_nudge", attached true
	// after: allow, "", attached false
	// after: block, "blocked", attached true
	// before: block, "blocked"
}

// A group has a guard for each run, so the loop of one run does not stop another.
func ExampleGroup() {
	p, err := profile.Load(profile.Source{Name: "agentium", Sets: []string{"max_repeats=1"}})
	if err != nil {
		panic(err)
	}
	group := guard.NewGroup(p, nil, 1000)
	defer group.Close()
	call := guard.Call{Tool: "search", Args: json.RawMessage(`{"q":"order 4711"}`)}
	for _, run := range []string{"ada", "bob", "ada"} {
		d := group.Run(run).Before(context.Background(), call)
		fmt.Println(run, d.Action)
	}
	group.End("ada")
	fmt.Println("ada", group.Run("ada").Before(context.Background(), call).Action)
	// Output:
	// ada allow
	// bob allow
	// ada block
	// ada allow
}

// Workers with one goal share the counts of their calls. No worker repeats itself here, but together they do.
func ExampleSwarm() {
	p, err := profile.New(profile.Default)
	if err != nil {
		panic(err)
	}
	store, err := swarm.NewMemory(swarm.DefaultBounds())
	if err != nil {
		panic(err)
	}
	for worker := range 4 {
		name := fmt.Sprint("worker-", worker)
		g := guard.New(p, guard.Options{Run: name, Swarm: &guard.Swarm{
			Store: store, Name: "find the order", Worker: name, Limits: swarm.Limits{Calls: 3, Workers: 2},
		}})
		d := g.Before(context.Background(), guard.Call{Tool: "search", Args: json.RawMessage(`{"q":"order 4711"}`)})
		fmt.Printf("%s: %s, %q\n", name, d.Action, d.Code)
	}
	// Output:
	// worker-0: allow, ""
	// worker-1: allow, ""
	// worker-2: warn, "global_doom_loop"
	// worker-3: warn, "global_doom_loop"
}
