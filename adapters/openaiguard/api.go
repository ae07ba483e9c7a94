package openaiguard

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/adapter"
)

// chat reads chat completions.
type chat struct{}

func (chat) Request(body []byte) adapter.Request {
	var in struct {
		Model    string
		Messages []struct {
			Role       string
			Content    json.RawMessage
			ToolCallID string `json:"tool_call_id"`
			ToolCalls  []struct {
				ID               string
				Function, Custom struct{ Name string }
			} `json:"tool_calls"`
		}
	}
	if json.Unmarshal(body, &in) != nil {
		return adapter.Request{}
	}
	out, tools := adapter.Request{Model: in.Model}, make(map[string]string)
	for i, m := range in.Messages {
		switch m.Role {
		case "assistant":
			out.Results = nil
			for _, c := range m.ToolCalls {
				tools[c.ID] = c.Function.Name + c.Custom.Name
			}
		case "tool":
			out.Results = append(out.Results, adapter.RequestResult{ID: m.ToolCallID, Tool: tools[m.ToolCallID], Output: adapter.JoinTexts(m.Content)})
		case "user":
			if i == len(in.Messages)-1 {
				out.User = adapter.AsText(adapter.JoinTexts(m.Content))
			}
		}
	}
	return out
}

func (chat) Answer(body []byte) adapter.Answer {
	var c openai.ChatCompletion
	if json.Unmarshal(body, &c) != nil {
		return adapter.Answer{}
	}
	return chatAnswer(&c)
}

// stream reads the chunks up to the first that does not fit.
func (chat) Stream(res *http.Response) adapter.Answer {
	stream := ssestream.NewStream[openai.ChatCompletionChunk](ssestream.NewDecoder(res), nil)
	var c openai.ChatCompletionAccumulator
	for stream.Next() && c.AddChunk(stream.Current()) {
	}
	a := chatAnswer(&c.ChatCompletion)
	if err := stream.Err(); err != nil {
		a.Err = err.Error()
	}
	return a
}

func chatAnswer(c *openai.ChatCompletion) adapter.Answer {
	u := c.Usage
	a := adapter.Answer{Model: c.Model, Usage: unloop.Usage{
		Input: u.PromptTokens, Output: u.CompletionTokens, CachedInput: u.PromptTokensDetails.CachedTokens,
		CacheWrite: u.PromptTokensDetails.CacheWriteTokens, Reasoning: u.CompletionTokensDetails.ReasoningTokens,
	}}
	if len(c.Choices) == 0 {
		return a
	}
	a.Text = c.Choices[0].Message.Content // which of several choices the agent uses is not known
	for _, wanted := range c.Choices[0].Message.ToolCalls {
		a.Calls = append(a.Calls, toolCall(wanted))
	}
	return a
}

// toolCall reads a call of a function, or of a custom tool.
func toolCall(wanted openai.ChatCompletionMessageToolCallUnion) adapter.ToolCall {
	if wanted.Type == "custom" {
		return adapter.ToolCall{ID: wanted.ID, Tool: wanted.Custom.Name, Args: adapter.AsJSON(wanted.Custom.Input)}
	}
	return adapter.ToolCall{ID: wanted.ID, Tool: wanted.Function.Name, Args: adapter.AsJSON(wanted.Function.Arguments)}
}

// responsesAPI reads responses. A request with previous_response_id has only what is new.
type responsesAPI struct{}

func (responsesAPI) Request(body []byte) adapter.Request {
	var in struct {
		Model string
		Input json.RawMessage
	}
	if json.Unmarshal(body, &in) != nil {
		return adapter.Request{}
	}
	out, tools := adapter.Request{Model: in.Model}, make(map[string]string)
	var items []struct {
		Type, Role, Name string
		CallID           string `json:"call_id"`
		Content, Output  json.RawMessage
	}
	if json.Unmarshal(in.Input, &items) != nil {
		_ = json.Unmarshal(in.Input, &out.User) // the input is a text; other input is not read
		return out
	}
	for i, item := range items {
		switch {
		case strings.HasSuffix(item.Type, "_call_output"):
			out.Results = append(out.Results, adapter.RequestResult{ID: item.CallID, Tool: tools[item.CallID], Output: adapter.JoinTexts(item.Output)})
		case item.CallID != "":
			out.Results, tools[item.CallID] = nil, item.Name
		case item.Role == "assistant":
			out.Results = nil
		case item.Role == "user" && i == len(items)-1:
			out.User = adapter.AsText(adapter.JoinTexts(item.Content))
		}
	}
	return out
}

func (responsesAPI) Answer(body []byte) adapter.Answer {
	var r responses.Response
	if json.Unmarshal(body, &r) != nil {
		return adapter.Answer{}
	}
	return responseAnswer(&r)
}

// stream reads the last event with a response, which is complete.
func (responsesAPI) Stream(res *http.Response) adapter.Answer {
	stream := ssestream.NewStream[responses.ResponseStreamEventUnion](ssestream.NewDecoder(res), nil)
	var last responses.Response
	for stream.Next() {
		switch e := stream.Current(); e.Type {
		case "error":
			return adapter.Answer{Err: e.Message}
		case "response.created", "response.in_progress", "response.completed", "response.incomplete", "response.failed":
			last = e.Response
		}
	}
	if err := stream.Err(); err != nil {
		return adapter.Answer{Err: err.Error()}
	}
	return responseAnswer(&last)
}

func responseAnswer(r *responses.Response) adapter.Answer {
	u := r.Usage
	a := adapter.Answer{Model: r.Model, Text: r.OutputText(), Usage: unloop.Usage{
		Input: u.InputTokens, Output: u.OutputTokens, CachedInput: u.InputTokensDetails.CachedTokens,
		CacheWrite: u.InputTokensDetails.CacheWriteTokens, Reasoning: u.OutputTokensDetails.ReasoningTokens,
	}}
	if r.Status == responses.ResponseStatusFailed {
		a.Err = "the response failed: " + r.Error.Message
	}
	for _, item := range r.Output {
		switch item.Type {
		case "function_call":
			a.Calls = append(a.Calls, adapter.ToolCall{ID: item.CallID, Tool: item.Name, Args: adapter.AsJSON(item.AsFunctionCall().Arguments)})
		case "custom_tool_call":
			a.Calls = append(a.Calls, adapter.ToolCall{ID: item.CallID, Tool: item.Name, Args: adapter.AsJSON(item.AsCustomToolCall().Input)})
		}
	}
	return a
}
