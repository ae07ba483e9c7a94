package anthropicguard

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/adapter"
)

// Observe is middleware for option.WithMiddleware. It records in the guard of the request's context, from guard.NewContext: the model
// calls, the messages of the user and the model, and the tool calls that the model wants, with their results, which the next request
// contains. It reads messages, streamed or not. It changes nothing and never fails a request. A request whose context has no guard is
// not recorded, and the requests of a Loop are recorded by the Loop.
//
// Agents whose tools run under the guard use ObserveModel instead, since the guard already records the calls.
func Observe(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	return observe(req, next, true)
}

// ObserveModel is Observe without the tool calls and their results.
func ObserveModel(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	return observe(req, next, false)
}

func observe(req *http.Request, next option.MiddlewareNext, tools bool) (*http.Response, error) {
	if !strings.HasSuffix(req.URL.Path, "/messages") {
		return next(req)
	}
	return adapter.Observe(req, next, messages{}, tools)
}

// messages reads the Messages API.
type messages struct{}

// block is a part of a message in a request.
type block struct {
	Type, ID, Name, Text string
	ToolUseID            string `json:"tool_use_id"`
	Content              json.RawMessage
	IsError              bool `json:"is_error"`
}

func (messages) Request(body []byte) adapter.Request {
	var in struct {
		Model    string
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if json.Unmarshal(body, &in) != nil {
		return adapter.Request{}
	}
	out, tools := adapter.Request{Model: in.Model}, make(map[string]string)
	for i, m := range in.Messages {
		var blocks []block
		if json.Unmarshal(m.Content, &blocks) != nil {
			blocks = []block{{Type: "text", Text: adapter.AsText(m.Content)}}
		}
		if m.Role == "assistant" {
			out.Results = nil
		}
		text := ""
		for _, b := range blocks {
			switch b.Type {
			case "tool_use":
				tools[b.ID] = b.Name
			case "tool_result":
				out.Results = append(out.Results, adapter.RequestResult{
					ID: b.ToolUseID, Tool: tools[b.ToolUseID], Output: adapter.JoinTexts(b.Content), Failed: b.IsError,
				})
			case "text":
				text += b.Text
			}
		}
		if i == len(in.Messages)-1 && m.Role == "user" && len(out.Results) == 0 {
			out.User = text
		}
	}
	return out
}

func (messages) Answer(body []byte) adapter.Answer {
	var m anthropic.Message
	if json.Unmarshal(body, &m) != nil {
		return adapter.Answer{}
	}
	return answerOf(&m)
}

// Stream reads the events up to the first that does not fit.
func (messages) Stream(res *http.Response) adapter.Answer {
	stream := ssestream.NewStream[anthropic.MessageStreamEventUnion](ssestream.NewDecoder(res), nil)
	var m anthropic.Message
	for stream.Next() && m.Accumulate(stream.Current()) == nil {
	}
	a := answerOf(&m)
	if err := stream.Err(); err != nil {
		a.Err = err.Error()
	}
	return a
}

// answerOf reads a message. The API counts cached tokens beside the input; a usage counts them as part of it.
func answerOf(m *anthropic.Message) adapter.Answer {
	u := m.Usage
	a := adapter.Answer{Model: string(m.Model), Usage: unloop.Usage{
		Input:  u.InputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens,
		Output: u.OutputTokens, CachedInput: u.CacheReadInputTokens, CacheWrite: u.CacheCreationInputTokens, Reasoning: u.OutputTokensDetails.ThinkingTokens,
	}}
	for _, b := range m.Content {
		switch b.Type {
		case "text":
			a.Text += b.Text
		case "tool_use":
			a.Calls = append(a.Calls, adapter.ToolCall{ID: b.ID, Tool: b.Name, Args: adapter.AsJSON(string(b.Input))})
		}
	}
	return a
}
