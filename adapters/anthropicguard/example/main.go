// Command example is an agent whose model asks for the same order again and again. The guard nudges it and then stops it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/unloop-ai/unloop/adapters/anthropicguard"
	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/profile"
)

func main() {
	model := httptest.NewServer(http.HandlerFunc(answer))
	defer model.Close()
	client := anthropic.NewClient(option.WithBaseURL(model.URL), option.WithAPIKey("none"))
	if err := run(context.Background(), os.Stdout, client); err != nil {
		fmt.Fprintln(os.Stderr, "example:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, client anthropic.Client) error {
	p, err := profile.New("default")
	if err != nil {
		return err
	}
	g := guard.New(p, guard.Options{Run: "order-4711"})
	defer g.Close()

	loop := anthropicguard.Loop{Client: client, Guard: g, Tools: map[string]guard.ToolFunc{
		"find_order": func(context.Context, json.RawMessage) (json.RawMessage, error) {
			fmt.Fprintln(out, "find_order finds nothing")
			return json.RawMessage(`{"orders":[]}`), nil
		},
	}}
	number := anthropic.ToolInputSchemaParam{Properties: map[string]any{"number": map[string]any{"type": "integer"}}}
	message, err := loop.Run(ctx, anthropic.MessageNewParams{
		Model:     "claude-haiku-4-5",
		MaxTokens: 4096,
		Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Where is order 4711?"))},
		Tools:     []anthropic.ToolUnionParam{anthropic.ToolUnionParamOfTool(number, "find_order")},
	})
	var stopped *guard.LoopError
	if errors.As(err, &stopped) {
		fmt.Fprintln(out, "stopped:", stopped.Nudge)
		return nil
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(out, message.Content[0].Text)
	return nil
}

// answer is the model: it wants the same call again, whatever it is told.
func answer(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, `{"id":"m","type":"message","role":"assistant","model":"scripted","stop_reason":"tool_use","content":[
		{"type":"tool_use","id":"toolu_1","name":"find_order","input":{"number":4711}}
	],"usage":{"input_tokens":100,"output_tokens":20}}`)
}
