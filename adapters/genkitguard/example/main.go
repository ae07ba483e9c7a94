// Command example is an agent whose model asks for the same order again and again. The guard nudges it and then stops it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"

	"github.com/unloop-ai/unloop/adapters/genkitguard"
	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/profile"
)

func main() {
	ctx := context.Background()
	g := genkit.Init(ctx)
	model := genkit.DefineModel(g, "example/scripted", &ai.ModelOptions{Supports: &ai.ModelSupports{Tools: true, Multiturn: true}}, answer)
	if err := run(ctx, os.Stdout, g, model); err != nil {
		fmt.Fprintln(os.Stderr, "example:", err)
		os.Exit(1)
	}
}

type order struct {
	Number int `json:"number"`
}

func run(ctx context.Context, out io.Writer, g *genkit.Genkit, model ai.Model) error {
	findOrder := genkit.DefineTool(g, "find_order", "Finds an order.",
		genkitguard.Tool("find_order", func(*ai.ToolContext, order) ([]string, error) {
			fmt.Fprintln(out, "find_order finds nothing")
			return []string{}, nil
		}))

	p, err := profile.New("default")
	if err != nil {
		return err
	}
	agent := guard.New(p, guard.Options{Run: "order-4711"})
	defer agent.Close()
	ctx = guard.NewContext(ctx, agent) // the run that the calls belong to
	answer, err := genkit.Generate(ctx, g,
		ai.WithModel(model),
		ai.WithPrompt("Where is order 4711?"),
		ai.WithTools(findOrder),
		ai.WithMaxTurns(50),
		ai.WithMiddleware(genkitguard.Model("gemini-2.5-flash")),
	)
	var stopped *guard.LoopError
	if errors.As(agent.Halted(), &stopped) {
		fmt.Fprintln(out, "stopped:", stopped.Nudge)
		return nil
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(out, answer.Text())
	return nil
}

// answer is the model: it wants the same call again, whatever it is told.
func answer(context.Context, *ai.ModelRequest, ai.ModelStreamCallback) (*ai.ModelResponse, error) {
	call := &ai.ToolRequest{Name: "find_order", Input: map[string]any{"number": 4711}}
	return &ai.ModelResponse{Message: ai.NewModelMessage(ai.NewToolRequestPart(call))}, nil
}
