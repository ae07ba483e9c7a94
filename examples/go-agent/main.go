// Command go-agent is a small agent with a scripted model, to show what a guard does. The model looks for an order that does
// not exist, and never gives up by itself.
//
//	go run ./examples/go-agent            with the guard: nudged, then stopped
//	go run ./examples/go-agent -guard=""  without: it runs until its step limit
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/profile"
)

func main() {
	name := flag.String("guard", profile.Default, "the guard's profile; empty for no guard")
	flag.Parse()
	if err := run(os.Stdout, *name); err != nil {
		fmt.Fprintln(os.Stderr, "go-agent:", err)
		os.Exit(1)
	}
}

// maxSteps is the agent's own limit, which is all that stops it without a guard.
const maxSteps = 25

func run(out io.Writer, name string) error {
	tools := map[string]guard.ToolFunc{"find_order": findOrder, "list_shops": listShops}
	if name != "" {
		p, err := profile.New(name)
		if err != nil {
			return err
		}
		g := guard.New(p, guard.Options{Run: "order-4711"})
		defer g.Close()
		for tool, f := range tools {
			tools[tool] = g.Wrap(tool, f) // this is all that an agent needs
		}
	}
	seen := ""
	for step := range maxSteps {
		tool, args := nextCall(step)
		result, err := tools[tool](context.Background(), json.RawMessage(args))
		var loop *guard.LoopError
		if errors.As(err, &loop) {
			fmt.Fprintf(out, "%2d  stopped: %s\n", step+1, loop.Nudge)
			return nil
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%2d  %s %s\n      %s\n", step+1, tool, args, shorten(string(result)))
		seen += string(result)
	}
	fmt.Fprintf(out, "ran into the limit of %d steps; the guard said %d words\n", maxSteps, strings.Count(seen, "loop-guard"))
	return nil
}

// nextCall is the model: after a look at the shops it asks for the same order again and again, in slightly other words.
func nextCall(step int) (tool, args string) {
	if step == 0 {
		return "list_shops", `{}`
	}
	if step%2 == 0 {
		return "find_order", `{"number":4711,"shop":"north"}`
	}
	return "find_order", `{"shop":"north","number":4711}`
}

func listShops(context.Context, json.RawMessage) (json.RawMessage, error) {
	return json.RawMessage(`["north","south"]`), nil
}

func findOrder(context.Context, json.RawMessage) (json.RawMessage, error) {
	return json.RawMessage(`{"orders":[]}`), nil
}

func shorten(s string) string {
	const width = 200
	if len(s) <= width {
		return s
	}
	return s[:width] + "…"
}
