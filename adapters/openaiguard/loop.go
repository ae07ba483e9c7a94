// Package openaiguard has a tool loop with a guard in it for the Go client of OpenAI, and middleware that records what an agent does. It
// is a module of its own, so that only those who use it depend on the client.
package openaiguard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/openai/openai-go/v3"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/guard"
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
	note := "" // a nudge about the latest answer, which only the next request has
	for {
		answer, err := l.ask(ctx, request, note)
		if err != nil {
			return nil, err
		}
		if len(answer.Choices) == 0 {
			return nil, errors.New("the model's answer has no choices")
		}
		message := answer.Choices[0].Message
		if note, err = l.judge(ctx, answer); err != nil {
			return nil, err
		}
		if len(message.ToolCalls) == 0 {
			return answer, nil
		}
		results, err := l.call(ctx, message.ToolCalls)
		if err != nil {
			return nil, err
		}
		request.Messages = append(append(request.Messages, message.ToParam()), results...)
	}
}

// ask makes a model call and records it.
func (l *Loop) ask(ctx context.Context, request openai.ChatCompletionNewParams, note string) (*openai.ChatCompletion, error) {
	if note != "" {
		request.Messages = append(slices.Clone(request.Messages), openai.SystemMessage(note))
	}
	model, began := string(request.Model), time.Now()
	l.Guard.Record(ctx, unloop.Event{Type: unloop.LLMCallStarted, Model: model})
	answer, err := l.send(ctx, request)
	if err != nil {
		l.Guard.Record(ctx, failed(model, err.Error(), began))
		return nil, err
	}
	return answer, l.Guard.Record(ctx, completed(chatAnswer(answer), began)).Err()
}

func (l *Loop) send(ctx context.Context, request openai.ChatCompletionNewParams) (*openai.ChatCompletion, error) {
	ctx = context.WithValue(ctx, recorded{}, true)
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

// judge records the text of an answer. It returns the nudge about it.
func (l *Loop) judge(ctx context.Context, answer *openai.ChatCompletion) (note string, err error) {
	text := answer.Choices[0].Message.Content
	if text == "" {
		return "", nil
	}
	d := l.Guard.Text(ctx, unloop.RoleAssistant, "", text)
	return d.Note(), d.Err()
}

// call runs the calls of one answer, and returns their results in the same order.
func (l *Loop) call(ctx context.Context, calls []openai.ChatCompletionMessageToolCallUnion) ([]openai.ChatCompletionMessageParamUnion, error) {
	results := make([]openai.ChatCompletionMessageParamUnion, len(calls))
	halts := make([]error, len(calls))
	var running sync.WaitGroup
	for i, call := range calls {
		running.Go(func() {
			name, args := toolOf(call)
			text, err := l.run(ctx, name, args)
			results[i], halts[i] = openai.ToolMessage(text, call.ID), err
		})
	}
	running.Wait()
	for _, err := range halts {
		if err != nil {
			return nil, err
		}
	}
	return results, ctx.Err()
}

// run runs one call and returns what the model gets. The error is a *guard.LoopError.
func (l *Loop) run(ctx context.Context, name, args string) (string, error) {
	tool, ok := l.Tools[name]
	if !ok {
		tool = func(context.Context, json.RawMessage) (json.RawMessage, error) {
			return nil, fmt.Errorf("unknown tool %q; the tools are %s", name, strings.Join(slices.Sorted(maps.Keys(l.Tools)), ", "))
		}
	}
	asked := func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		return tool(ctx, json.RawMessage(args))
	}
	result, err := l.Guard.Wrap(name, asked)(ctx, asJSON(args))
	var halt *guard.LoopError
	if errors.As(err, &halt) {
		return "", err
	}
	if err != nil {
		return "error: " + err.Error(), nil
	}
	return asText(result), nil
}

// toolOf returns the tool and the arguments of a call of a function, or of a custom tool.
func toolOf(call openai.ChatCompletionMessageToolCallUnion) (name, args string) {
	if call.Type == "custom" {
		return call.Custom.Name, call.Custom.Input
	}
	return call.Function.Name, call.Function.Arguments
}

// asJSON returns text if it is JSON, else text as a JSON string: models do not always write JSON.
func asJSON(text string) json.RawMessage {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	raw, _ := json.Marshal(text) // a string always encodes
	return raw
}

// asText returns the text of a JSON string, and other JSON unchanged.
func asText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
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
