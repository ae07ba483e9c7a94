// Package openaiguard has a tool loop with a guard in it for the Go client of OpenAI, and middleware that records what an agent does. It
// is a module of its own, so that only those who use it depend on the client.
package openaiguard

import (
	"context"
	"errors"
	"slices"

	"github.com/openai/openai-go/v3"

	"github.com/unloop-ai/unloop"
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
	if text := lastUserText(request.Messages); text != "" {
		if err := l.Guard.Text(ctx, unloop.RoleUser, "", text).Err(); err != nil {
			return nil, err
		}
	}
	nudge := "" // about the latest answer; only the next request has it
	for {
		asked := request
		if nudge != "" {
			asked.Messages = append(slices.Clone(request.Messages), openai.SystemMessage(nudge))
		}
		completion, d, err := l.ask(ctx, asked)
		if err != nil {
			return nil, err
		}
		nudge = d.Note()
		answer := chatAnswer(completion)
		if len(answer.Calls) == 0 {
			return completion, nil
		}
		results, err := adapter.RunTools(ctx, l.Guard, l.Tools, answer.Calls)
		if err != nil {
			return nil, err
		}
		request.Messages = append(request.Messages, completion.Choices[0].Message.ToParam())
		for i, r := range results {
			request.Messages = append(request.Messages, openai.ToolMessage(r.Text, answer.Calls[i].ID))
		}
	}
}

// ask makes a model call, and returns the decision about it. The error is also that of the decision.
func (l *Loop) ask(ctx context.Context, request openai.ChatCompletionNewParams) (*openai.ChatCompletion, guard.Decision, error) {
	call := adapter.StartModelCall(ctx, l.Guard, string(request.Model))
	completion, err := l.send(adapter.Recorded(ctx), request)
	if err != nil {
		return nil, call.Failed(err.Error()), err
	}
	d := call.Answered(chatAnswer(completion))
	return completion, d, d.Err()
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
