package openaiguard

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"

	"github.com/unloop-ai/unloop"
)

// dialect reads the requests and the answers of an API.
type dialect interface {
	request(body []byte) request
	answer(body []byte) answer
	stream(res *http.Response) answer
}

// request is what is new in a request: the results after the latest answer of the model, and a last message of the user.
type request struct {
	model   string
	results []result
	user    string
}

// result is the result of a tool call. The tool is "" if the request does not contain the call.
type result struct {
	id, tool string
	output   json.RawMessage
}

// answer is the answer of a model.
type answer struct {
	model  string
	tokens int64
	usage  unloop.Usage
	text   string
	calls  []call
	err    string
}

type call struct{ id, tool, args string }

// chat reads chat completions.
type chat struct{}

func (chat) request(body []byte) request {
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
		return request{}
	}
	out, tools := request{model: in.Model}, make(map[string]string)
	for i, m := range in.Messages {
		switch m.Role {
		case "assistant":
			out.results = nil
			for _, c := range m.ToolCalls {
				tools[c.ID] = c.Function.Name + c.Custom.Name
			}
		case "tool":
			out.results = append(out.results, result{m.ToolCallID, tools[m.ToolCallID], textOf(m.Content)})
		case "user":
			if i == len(in.Messages)-1 {
				out.user = asText(textOf(m.Content))
			}
		}
	}
	return out
}

func (chat) answer(body []byte) answer {
	var c openai.ChatCompletion
	if json.Unmarshal(body, &c) != nil {
		return answer{}
	}
	return chatAnswer(&c)
}

// stream reads the chunks up to the first that does not fit.
func (chat) stream(res *http.Response) answer {
	stream := ssestream.NewStream[openai.ChatCompletionChunk](ssestream.NewDecoder(res), nil)
	var c openai.ChatCompletionAccumulator
	for stream.Next() && c.AddChunk(stream.Current()) {
	}
	a := chatAnswer(&c.ChatCompletion)
	if err := stream.Err(); err != nil {
		a.err = err.Error()
	}
	return a
}

func chatAnswer(c *openai.ChatCompletion) answer {
	u := c.Usage
	a := answer{model: c.Model, tokens: u.TotalTokens, usage: unloop.Usage{
		Input: u.PromptTokens, Output: u.CompletionTokens, CachedInput: u.PromptTokensDetails.CachedTokens,
		CacheWrite: u.PromptTokensDetails.CacheWriteTokens, Reasoning: u.CompletionTokensDetails.ReasoningTokens,
	}}
	if len(c.Choices) == 0 {
		return a
	}
	a.text = c.Choices[0].Message.Content // which of several choices the agent uses is not known
	for _, wanted := range c.Choices[0].Message.ToolCalls {
		name, args := toolOf(wanted)
		a.calls = append(a.calls, call{wanted.ID, name, args})
	}
	return a
}

// responsesAPI reads responses. A request with previous_response_id has only what is new.
type responsesAPI struct{}

func (responsesAPI) request(body []byte) request {
	var in struct {
		Model string
		Input json.RawMessage
	}
	if json.Unmarshal(body, &in) != nil {
		return request{}
	}
	out, tools := request{model: in.Model}, make(map[string]string)
	var items []struct {
		Type, Role, Name string
		CallID           string `json:"call_id"`
		Content, Output  json.RawMessage
	}
	if json.Unmarshal(in.Input, &items) != nil {
		_ = json.Unmarshal(in.Input, &out.user) // the input is a text; other input is not read
		return out
	}
	for i, item := range items {
		switch {
		case strings.HasSuffix(item.Type, "_call_output"):
			out.results = append(out.results, result{item.CallID, tools[item.CallID], textOf(item.Output)})
		case item.CallID != "":
			out.results, tools[item.CallID] = nil, item.Name
		case item.Role == "assistant":
			out.results = nil
		case item.Role == "user" && i == len(items)-1:
			out.user = asText(textOf(item.Content))
		}
	}
	return out
}

func (responsesAPI) answer(body []byte) answer {
	var r responses.Response
	if json.Unmarshal(body, &r) != nil {
		return answer{}
	}
	return responseAnswer(&r)
}

// stream reads the last event with a response, which is complete.
func (responsesAPI) stream(res *http.Response) answer {
	stream := ssestream.NewStream[responses.ResponseStreamEventUnion](ssestream.NewDecoder(res), nil)
	var last responses.Response
	for stream.Next() {
		switch e := stream.Current(); e.Type {
		case "error":
			return answer{err: e.Message}
		case "response.created", "response.in_progress", "response.completed", "response.incomplete", "response.failed":
			last = e.Response
		}
	}
	if err := stream.Err(); err != nil {
		return answer{model: last.Model, err: err.Error()}
	}
	return responseAnswer(&last)
}

func responseAnswer(r *responses.Response) answer {
	u := r.Usage
	a := answer{model: r.Model, tokens: u.TotalTokens, text: r.OutputText(), usage: unloop.Usage{
		Input: u.InputTokens, Output: u.OutputTokens, CachedInput: u.InputTokensDetails.CachedTokens,
		CacheWrite: u.InputTokensDetails.CacheWriteTokens, Reasoning: u.OutputTokensDetails.ReasoningTokens,
	}}
	if r.Status == responses.ResponseStatusFailed {
		a.err = "the response failed: " + r.Error.Message
	}
	for _, item := range r.Output {
		switch item.Type {
		case "function_call":
			a.calls = append(a.calls, call{item.CallID, item.Name, item.AsFunctionCall().Arguments})
		case "custom_tool_call":
			a.calls = append(a.calls, call{item.CallID, item.Name, item.AsCustomToolCall().Input})
		}
	}
	return a
}

// textOf returns content as one JSON string if all of its parts are texts, else unchanged.
func textOf(content json.RawMessage) json.RawMessage {
	var parts []struct{ Text *string }
	if json.Unmarshal(content, &parts) != nil || len(parts) == 0 {
		return content
	}
	text := ""
	for _, part := range parts {
		if part.Text == nil {
			return content
		}
		text += *part.Text
	}
	raw, _ := json.Marshal(text) // a string always encodes
	return raw
}
