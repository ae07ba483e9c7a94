// Package openaiguard has a tool loop with a guard in it for the Go client of OpenAI, and middleware that records what an agent does. It
// is a module of its own, so that only those who use it depend on the client.
package openaiguard

import (
	"context"
	"errors"
	"slices"

	"github.com/openai/openai-go/v3"

	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/internal/adapter"
)

// Loop is an agent: it sends requests to a model, and runs the tool calls of the answers under a guard. The calls of one answer run at
// the same time.
type Loop struct {
	Client openai.Client
	Guard  *guard.Guard // of the run
	Tools  map[string]guard.ToolFunc

	// OnChunk, if set, has the answers streamed, and receives each chunk.
	OnChunk func(openai.ChatCompletionChunk)
}

// Run sends the request, runs the tool calls of the answer, sends their results, and so on, until an answer has no calls. It returns that
// answer. The error is a *guard.LoopError if the guard halts the run, the client's if a request fails, and that of ctx if it is done.
// A failure of a tool is for the model and does not end the run. The request must describe the tools.
func (l *Loop) Run(ctx context.Context, request openai.ChatCompletionNewParams) (*openai.ChatCompletion, error) {
	request.Messages = slices.Clone(request.Messages)
	return adapter.RunLoop(ctx, l.Guard, l.Tools, &dialogue{l, request})
}

// dialogue is a conversation of a loop.
type dialogue struct {
	*Loop
	request openai.ChatCompletionNewParams
}

func (d *dialogue) Model() string { return string(d.request.Model) }

func (d *dialogue) UserText() string { return lastUserText(d.request.Messages) }

func (d *dialogue) Send(ctx context.Context, nudge string) (*openai.ChatCompletion, error) {
	request := d.request
	if nudge != "" {
		request.Messages = append(slices.Clone(request.Messages), openai.SystemMessage(nudge))
	}
	return d.send(ctx, request)
}

func (d *dialogue) Read(completion *openai.ChatCompletion) (answer adapter.Answer, waits bool) {
	answer = chatAnswer(completion)
	return answer, len(answer.Calls) > 0
}

func (d *dialogue) Continue(completion *openai.ChatCompletion, calls []adapter.ToolCall, results []adapter.ToolResult) {
	d.request.Messages = append(d.request.Messages, completion.Choices[0].Message.ToParam())
	for i, r := range results {
		d.request.Messages = append(d.request.Messages, openai.ToolMessage(r.Text, calls[i].ID))
	}
}

func (l *Loop) send(ctx context.Context, request openai.ChatCompletionNewParams) (*openai.ChatCompletion, error) {
	if l.OnChunk == nil {
		return l.Client.Chat.Completions.New(ctx, request)
	}
	request.StreamOptions.IncludeUsage = openai.Bool(true)
	stream := l.Client.Chat.Completions.NewStreaming(ctx, request)
	defer stream.Close()
	answer := new(openai.ChatCompletionAccumulator)
	for stream.Next() {
		if !answer.AddChunk(stream.Current()) {
			return nil, errors.New("the chunks of the stream do not fit together")
		}
		l.OnChunk(stream.Current())
	}
	return &answer.ChatCompletion, stream.Err()
}

// lastUserText returns the text of the last message if it is from the user: it starts a turn.
func lastUserText(messages []openai.ChatCompletionMessageParamUnion) string {
	if len(messages) == 0 || messages[len(messages)-1].OfUser == nil {
		return ""
	}
	content := messages[len(messages)-1].OfUser.Content
	text := content.OfString.Value
	for _, part := range content.OfArrayOfContentParts {
		if part.OfText != nil {
			text += part.OfText.Text
		}
	}
	return text
}
