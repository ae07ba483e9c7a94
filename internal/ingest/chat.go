package ingest

import (
	"encoding/json"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
)

// ChatMessage is a message of OpenAI's chat completions API, in which many programs log conversations. Programs with additional
// fields embed it.
type ChatMessage struct {
	Role       string         `json:"role"` // system, developer, user, assistant, tool or function
	Name       string         `json:"name"` // the speaker; the tool's name if the role is tool or function
	Content    jsontext.Value `json:"content"`
	Refusal    string         `json:"refusal"` // the model's refusal, instead of a content
	ToolCalls  []ChatCall     `json:"tool_calls"`
	Function   *ChatFunction  `json:"function_call"` // the single call of a message in the API before tool calls
	ToolCallID string         `json:"tool_call_id"`
	Model      string         `json:"model"`
	Usage      *ChatUsage     `json:"usage"`
}

// ChatCall is a tool call that the model requests.
type ChatCall struct {
	ID       string        `json:"id"`
	Function *ChatFunction `json:"function"`
	Custom   *ChatCustom   `json:"custom"`
}

// ChatFunction is the called function. Its arguments are usually JSON in a string. Some servers with the same API send an object.
type ChatFunction struct {
	Name      string         `json:"name"`
	Arguments jsontext.Value `json:"arguments"`
}

// ChatCustom is a tool that takes free text, which is never parsed as JSON.
type ChatCustom struct {
	Name  string         `json:"name"`
	Input jsontext.Value `json:"input"`
}

// ChatUsage is the tokens of a model call.
type ChatUsage struct {
	Prompt        int64 `json:"prompt_tokens"`
	Completion    int64 `json:"completion_tokens"`
	Total         int64 `json:"total_tokens"`
	PromptDetails struct {
		Cached     int64 `json:"cached_tokens"`
		CacheWrite int64 `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// Kinds returns the tokens by kind, or nil if there is only a total.
func (u *ChatUsage) Kinds() *unloop.Usage {
	return TokenKinds(unloop.Usage{
		Input: u.Prompt, Output: u.Completion, CachedInput: u.PromptDetails.Cached, CacheWrite: u.PromptDetails.CacheWrite,
		Reasoning: u.CompletionDetails.Reasoning,
	})
}

// Tokens returns the sum of input and output.
func (u *ChatUsage) Tokens() int64 {
	if u.Total != 0 {
		return u.Total
	}
	return u.Prompt + u.Completion
}

// ChatRoles are the roles of the messages that Chat reads.
var ChatRoles = []string{"system", "developer", "user", "assistant", "tool", "function"}

// Chat sends the events of m: the model call if it has a usage or a model, then its text, then the requested tool calls. For a
// tool's result it sends a completed call, because the format has no failures. It ignores unknown roles.
func (t *EventBuilder) Chat(at Location, m *ChatMessage) error {
	switch m.Role {
	case "system", "developer":
		return t.chatText(at, unloop.RoleSystem, m)
	case "user":
		return t.chatText(at, unloop.RoleUser, m)
	case "assistant":
		return t.chatReply(at, m)
	case "tool", "function":
		return t.Result(at, m.ToolCallID, m.Name, Output(m.Content), false, "")
	}
	return nil
}

func (t *EventBuilder) chatText(at Location, role string, m *ChatMessage) error {
	if m.Name != "" {
		at.Agent = m.Name
	}
	text := Content(m.Content)
	if text == "" {
		text = m.Refusal
	}
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return t.Message(at, role, text)
}

func (t *EventBuilder) chatReply(at Location, m *ChatMessage) error {
	if m.Name != "" {
		at.Agent = m.Name
	}
	if m.Usage != nil || m.Model != "" {
		usage := Usage{Model: m.Model}
		if m.Usage != nil {
			usage.Tokens, usage.Kinds = m.Usage.Tokens(), m.Usage.Kinds()
		}
		if err := t.Model(at, usage); err != nil {
			return err
		}
	}
	if err := t.chatText(at, unloop.RoleAssistant, m); err != nil {
		return err
	}
	if m.Function != nil {
		if err := t.Call(at, "", m.Function.Name, Arguments(m.Function.Arguments)); err != nil {
			return err
		}
	}
	for _, c := range m.ToolCalls {
		if err := t.chatCall(at, c); err != nil {
			return err
		}
	}
	return nil
}

func (t *EventBuilder) chatCall(at Location, c ChatCall) error {
	if c.Custom != nil {
		return t.Call(at, c.ID, c.Custom.Name, raw(c.Custom.Input))
	}
	if c.Function != nil {
		return t.Call(at, c.ID, c.Function.Name, Arguments(c.Function.Arguments))
	}
	return nil
}

// Output returns the content of a tool result as raw JSON. A list of only text parts becomes its text, so that it equals the same
// text as a string. Other values stay unchanged, and no value stays none.
func Output(v jsontext.Value) json.RawMessage {
	if v.Kind() != '[' {
		return raw(v)
	}
	var parts []struct {
		Type string         `json:"type"`
		Text jsontext.Value `json:"text"`
	}
	if jsonv2.Unmarshal(v, &parts, lenient) != nil || len(parts) == 0 {
		return raw(v)
	}
	for _, p := range parts {
		if p.Type != "text" || p.Text.Kind() != '"' {
			return raw(v)
		}
	}
	return Text(Content(v))
}
