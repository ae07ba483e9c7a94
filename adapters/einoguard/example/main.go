// Command example is an agent whose model asks for the same order again and again. The guard nudges it and then stops it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"

	"github.com/unloop-ai/unloop/adapters/einoguard"
	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/profile"
)

func main() {
	if err := run(context.Background(), os.Stdout, scripted{}); err != nil {
		fmt.Fprintln(os.Stderr, "example:", err)
		os.Exit(1)
	}
}

type order struct {
	Number int `json:"number"`
}

func run(ctx context.Context, out io.Writer, chatModel model.ToolCallingChatModel) error {
	findOrder, err := utils.InferTool("find_order", "Finds an order.", func(context.Context, order) (string, error) {
		fmt.Fprintln(out, "find_order finds nothing")
		return "no orders", nil
	})
	if err != nil {
		return err
	}
	agent, err := react.NewAgent(ctx, &react.AgentConfig{
		ToolCallingModel: einoguard.Model("gpt-5.4-mini", chatModel),
		ToolsConfig: compose.ToolsNodeConfig{
			Tools:               []tool.BaseTool{findOrder},
			ToolCallMiddlewares: []compose.ToolMiddleware{einoguard.Tools()},
		},
		MaxStep: 100,
	})
	if err != nil {
		return err
	}

	p, err := profile.New("default")
	if err != nil {
		return err
	}
	g := guard.New(p, guard.Options{Run: "order-4711"})
	defer g.Close()
	ctx = guard.NewContext(ctx, g) // the run that the calls belong to
	answer, err := agent.Generate(ctx, []*schema.Message{schema.UserMessage("Where is order 4711?")})
	var stopped *guard.LoopError
	if errors.As(err, &stopped) {
		fmt.Fprintln(out, "stopped:", stopped.Nudge)
		return nil
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(out, answer.Content)
	return nil
}

// scripted is a model that wants the same call again, whatever it is told.
type scripted struct{}

func (scripted) Generate(context.Context, []*schema.Message, ...model.Option) (*schema.Message, error) {
	call := schema.FunctionCall{Name: "find_order", Arguments: `{"number":4711}`}
	return schema.AssistantMessage("", []schema.ToolCall{{ID: "call_1", Type: "function", Function: call}}), nil
}

func (s scripted) Stream(ctx context.Context, input []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	answer, err := s.Generate(ctx, input, opts...)
	return schema.StreamReaderFromArray([]*schema.Message{answer}), err
}

func (s scripted) WithTools([]*schema.ToolInfo) (model.ToolCallingChatModel, error) { return s, nil }
