// Package anthropicguard has a tool loop with a guard in it for the Go client of Anthropic, and middleware that records what an agent
// does. It is a module of its own, so that only those who use it depend on the client.
package anthropicguard

import (
	"context"
	"slices"

	"github.com/anthropics/anthropic-sdk-go"

	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/internal/adapter"
)

// Loop is an agent: it sends requests to a model, and runs the tool calls of the answers under a guard. The calls of one answer run at
// the same time.
type Loop struct {
	Client anthropic.Client
	Guard  *guard.Guard // of the run
	Tools  map[string]guard.ToolFunc

	// OnEvent, if set, has the answers streamed, and receives each event.
	OnEvent func(anthropic.MessageStreamEventUnion)
}

// Run sends the request, runs the tool calls of the answer, sends their results, and so on, until an answer has no calls. It returns that
// answer. The error is a *guard.LoopError if the guard halts the run, the client's if a request fails, and that of ctx if it is done.
// A failure of a tool is for the model and does not end the run. The request must describe the tools.
func (l *Loop) Run(ctx context.Context, request anthropic.MessageNewParams) (*anthropic.Message, error) {
	request.Messages = slices.Clone(request.Messages)
	return adapter.RunLoop(ctx, l.Guard, l.Tools, &dialogue{l, request})
}

// dialogue is a conversation of a loop.
type dialogue struct {
	*Loop
	request anthropic.MessageNewParams
}

func (d *dialogue) Model() string { return string(d.request.Model) }

func (d *dialogue) UserText() string { return lastUserText(d.request.Messages) }

func (d *dialogue) Send(ctx context.Context, nudge string) (*anthropic.Message, error) {
	request := d.request
	if nudge != "" {
		request.System = append(slices.Clone(request.System), anthropic.TextBlockParam{Text: nudge})
	}
	return d.send(ctx, request)
}

func (d *dialogue) Read(message *anthropic.Message) (answer adapter.Answer, waits bool) {
	answer = answerOf(message)
	return answer, len(answer.Calls) > 0 && message.StopReason == anthropic.StopReasonToolUse
}

func (d *dialogue) Continue(message *anthropic.Message, calls []adapter.ToolCall, results []adapter.ToolResult) {
	blocks := make([]anthropic.ContentBlockParamUnion, len(results))
	for i, r := range results {
		blocks[i] = anthropic.NewToolResultBlock(calls[i].ID, r.Text, r.Failed)
	}
	d.request.Messages = append(d.request.Messages, message.ToParam(), anthropic.NewUserMessage(blocks...))
}

func (l *Loop) send(ctx context.Context, request anthropic.MessageNewParams) (*anthropic.Message, error) {
	if l.OnEvent == nil {
		return l.Client.Messages.New(ctx, request)
	}
	stream := l.Client.Messages.NewStreaming(ctx, request)
	defer stream.Close()
	message := new(anthropic.Message)
	for stream.Next() {
		if err := message.Accumulate(stream.Current()); err != nil {
			return nil, err
		}
		l.OnEvent(stream.Current())
	}
	return message, stream.Err()
}

// lastUserText returns the texts of the last message if it is from the user and has no results of tools: it starts a turn.
func lastUserText(messages []anthropic.MessageParam) (text string) {
	if len(messages) == 0 || messages[len(messages)-1].Role != anthropic.MessageParamRoleUser {
		return ""
	}
	for _, block := range messages[len(messages)-1].Content {
		switch {
		case block.OfToolResult != nil:
			return ""
		case block.OfText != nil:
			text += block.OfText.Text
		}
	}
	return text
}
