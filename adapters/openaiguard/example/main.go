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

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/unloop-ai/unloop/adapters/openaiguard"
	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/profile"
)

func main() {
	model := httptest.NewServer(http.HandlerFunc(answer))
	defer model.Close()
	client := openai.NewClient(option.WithBaseURL(model.URL), option.WithAPIKey("none"))
	if err := run(context.Background(), os.Stdout, client); err != nil {
		fmt.Fprintln(os.Stderr, "example:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, client openai.Client) error {
	p, err := profile.New("default")
	if err != nil {
		return err
	}
	g := guard.New(p, guard.Options{Run: "order-4711"})
	defer g.Close()

	loop := openaiguard.Loop{Client: client, Guard: g, Tools: map[string]guard.ToolFunc{
		"find_order": func(context.Context, json.RawMessage) (json.RawMessage, error) {
			fmt.Fprintln(out, "find_order finds nothing")
			return json.RawMessage(`{"orders":[]}`), nil
		},
	}}
	answer, err := loop.Run(ctx, openai.ChatCompletionNewParams{
		Model:    "gpt-5.4-mini",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Where is order 4711?")},
		Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
			Name:       "find_order",
			Parameters: openai.FunctionParameters{"type": "object", "properties": map[string]any{"number": map[string]any{"type": "integer"}}},
		})},
	})
	var stopped *guard.LoopError
	if errors.As(err, &stopped) {
		fmt.Fprintln(out, "stopped:", stopped.Nudge)
		return nil
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(out, answer.Choices[0].Message.Content)
	return nil
}

// answer is the model: it wants the same call again, whatever it is told.
func answer(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, `{"id":"c","object":"chat.completion","model":"scripted","choices":[{"index":0,"finish_reason":"tool_calls","message":{
		"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"find_order","arguments":"{\"number\":4711}"}}]
	}}],"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120}}`)
}
