package einoguard_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/unloop-ai/unloop/internal/adaptertest"
)

// script is a model that wants the calls of one step after another and then gives up. It keeps what it is asked.
type script struct {
	steps [][]adaptertest.Call
	asked [][]*schema.Message
}

func (s *script) Generate(ctx context.Context, input []*schema.Message, _ ...model.Option) (*schema.Message, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.asked = append(s.asked, input)
	n := len(s.asked)
	answer := schema.AssistantMessage("I give up.", nil)
	if n <= len(s.steps) {
		answer = schema.AssistantMessage("", calls(n, s.steps[n-1]))
	}
	answer.ResponseMeta = &schema.ResponseMeta{Usage: &schema.TokenUsage{
		PromptTokens: adaptertest.InputTokens, CompletionTokens: adaptertest.OutputTokens, PromptTokenDetails: schema.PromptTokenDetails{CachedTokens: 4},
	}}
	return answer, nil
}

// Stream returns the answer in two chunks.
func (s *script) Stream(ctx context.Context, input []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	answer, err := s.Generate(ctx, input, opts...)
	if err != nil {
		return nil, err
	}
	end := &schema.Message{Role: schema.Assistant, ResponseMeta: answer.ResponseMeta}
	answer.ResponseMeta = nil
	return schema.StreamReaderFromArray([]*schema.Message{answer, end}), nil
}

func (s *script) WithTools([]*schema.ToolInfo) (model.ToolCallingChatModel, error) { return s, nil }

func calls(n int, step []adaptertest.Call) (calls []schema.ToolCall) {
	for i, c := range step {
		calls = append(calls, schema.ToolCall{
			ID: fmt.Sprintf("call_%d_%d", n, i), Type: "function", Function: schema.FunctionCall{Name: c.Tool, Arguments: string(c.Args)},
		})
	}
	return calls
}

// archive is a tool of the works.
type archive struct{ adaptertest.Tool }

func (a archive) Info(context.Context) (*schema.ToolInfo, error) {
	parameter := map[string]*schema.ParameterInfo{a.Parameter: {Type: schema.String}}
	return &schema.ToolInfo{Name: a.Name, Desc: a.Name, ParamsOneOf: schema.NewParamsOneOfByParams(parameter)}, nil
}

func (a archive) InvokableRun(_ context.Context, args string, _ ...tool.Option) (string, error) {
	return a.Run(json.RawMessage(args))
}

// streaming is a tool of the works that streams its result in two chunks.
type streaming struct{ archive }

func (s streaming) InvokableRun() {} // it only streams

func (s streaming) StreamableRun(_ context.Context, args string, _ ...tool.Option) (*schema.StreamReader[string], error) {
	text, err := s.Run(json.RawMessage(args))
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderFromArray([]string{text[:3], text[3:]}), nil
}

// enhanced is a tool of the works whose result has parts.
type enhanced struct{ archive }

func (e enhanced) InvokableRun(_ context.Context, args *schema.ToolArgument, _ ...tool.Option) (*schema.ToolResult, error) {
	text, err := e.Run(json.RawMessage(args.Text))
	if err != nil {
		return nil, err
	}
	return &schema.ToolResult{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeText, Text: text}}}, nil
}

// tools returns the tools of the works in a form.
func tools(form func(archive) tool.BaseTool) (all []tool.BaseTool) {
	for _, t := range adaptertest.Tools {
		all = append(all, form(archive{t}))
	}
	return all
}

func invokable(a archive) tool.BaseTool  { return a }
func streamable(a archive) tool.BaseTool { return streaming{a} }
func withParts(a archive) tool.BaseTool  { return enhanced{a} }
