package einoguard

import (
	"context"

	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/internal/adapter"
)

// Model returns a model that records its calls in the guard of their context, from guard.NewContext: the tokens by kind, the message of
// the user that starts a turn, and the texts of the model. If the guard halts the run at one of them, the call fails with a
// *guard.LoopError. The name is that of the model for reports, unless an option of a call says another. A call whose context has no guard
// is not recorded.
func Model(name string, m model.ToolCallingChatModel) model.ToolCallingChatModel {
	return &guardedModel{name, m}
}

type guardedModel struct {
	name string
	next model.ToolCallingChatModel
}

// Generate calls the model.
func (m *guardedModel) Generate(ctx context.Context, input []*schema.Message, opts ...model.Option) (*schema.Message, error) {
	call, err := m.start(ctx, input, opts)
	if err != nil {
		return nil, err
	}
	answer, err := m.next.Generate(ctx, input, opts...)
	if call == nil {
		return answer, err
	}
	if err != nil {
		call.Failed(err.Error())
		return nil, err
	}
	return answer, call.Answered(answerOf(answer)).Err()
}

// Stream calls the model. The call ends with the stream.
func (m *guardedModel) Stream(ctx context.Context, input []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	call, err := m.start(ctx, input, opts)
	if err != nil {
		return nil, err
	}
	stream, err := m.next.Stream(ctx, input, opts...)
	if call == nil {
		return stream, err
	}
	if err != nil {
		call.Failed(err.Error())
		return nil, err
	}
	return forward(stream, func(chunks []*schema.Message, err error) ([]*schema.Message, error) {
		if err != nil {
			call.Failed(err.Error())
			return nil, err
		}
		answer, err := schema.ConcatMessages(chunks)
		if err != nil { // the agent fails with it, too
			call.Failed(err.Error())
			return nil, nil
		}
		return nil, call.Answered(answerOf(answer)).Err()
	}), nil
}

// start records the start of a call. It returns nil if the context has no guard.
func (m *guardedModel) start(ctx context.Context, input []*schema.Message, opts []model.Option) (*adapter.ModelCall, error) {
	g := guard.FromContext(ctx)
	if g == nil {
		return nil, nil
	}
	if n := len(input); n > 0 && input[n-1].Role == schema.User && input[n-1].Content != "" {
		if err := g.Text(ctx, unloop.RoleUser, "", input[n-1].Content).Err(); err != nil {
			return nil, err
		}
	}
	name := m.name
	if override := model.GetCommonOptions(nil, opts...).Model; override != nil {
		name = *override
	}
	return adapter.StartModelCall(ctx, g, name), nil
}

// WithTools returns the model with tools.
func (m *guardedModel) WithTools(tools []*schema.ToolInfo) (model.ToolCallingChatModel, error) {
	next, err := m.next.WithTools(tools)
	if err != nil {
		return nil, err
	}
	return &guardedModel{m.name, next}, nil
}

// GetType returns the type of the model in it, for callbacks.
func (m *guardedModel) GetType() string {
	name, _ := components.GetType(m.next)
	return name
}

// IsCallbacksEnabled reports whether the model in it calls the callbacks itself.
func (m *guardedModel) IsCallbacksEnabled() bool { return components.IsCallbacksEnabled(m.next) }

func answerOf(m *schema.Message) adapter.Answer {
	a := adapter.Answer{Text: m.Content}
	if m.ResponseMeta != nil && m.ResponseMeta.Usage != nil {
		u := m.ResponseMeta.Usage
		a.Usage = unloop.Usage{
			Input: int64(u.PromptTokens), Output: int64(u.CompletionTokens),
			CachedInput: int64(u.PromptTokenDetails.CachedTokens), Reasoning: int64(u.CompletionTokensDetails.ReasoningTokens),
		}
	}
	return a
}
