package gemini

import (
	"encoding/json"
	"regexp"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

// lenient are the options with which the input is read.
var lenient = jsonv2.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// record is a message of the chat, with the calls that it requests.
type record struct {
	ID      string         `json:"id"`
	Type    string         `json:"type"`
	Time    jsontext.Value `json:"timestamp"`
	Content jsontext.Value `json:"content"`
	Model   string         `json:"model"`
	Tokens  *tokens        `json:"tokens"`
	Calls   []call         `json:"toolCalls"`

	index int
}

// tokens is the usage of the model call. Input includes Cached. Output includes neither Thoughts nor Tool.
type tokens struct {
	Input    int64 `json:"input"`
	Output   int64 `json:"output"`
	Cached   int64 `json:"cached"`
	Thoughts int64 `json:"thoughts"`
	Tool     int64 `json:"tool"`
	Total    int64 `json:"total"`
}

type call struct {
	ID     string         `json:"id"`
	Name   string         `json:"name"`
	Args   jsontext.Value `json:"args"`
	Result jsontext.Value `json:"result"`
	Status string         `json:"status"`
	Time   jsontext.Value `json:"timestamp"` // when it ended
}

func (r *record) send(trail *ingest.EventBuilder) error {
	at := ingest.Location{Index: r.index, Time: ingest.Time(r.Time)}
	switch r.Type {
	case "user":
		return r.message(trail, at, unloop.RoleUser)
	case "gemini":
	default:
		return nil
	}
	if r.Tokens != nil || r.Model != "" {
		if err := trail.Model(at, ingest.Usage{Model: r.Model, Tokens: r.Tokens.sum(), Kinds: r.Tokens.kinds()}); err != nil {
			return err
		}
	}
	if err := r.message(trail, at, unloop.RoleAssistant); err != nil {
		return err
	}
	for i := range r.Calls {
		if err := r.Calls[i].send(trail, at); err != nil {
			return err
		}
	}
	return nil
}

func (r *record) message(trail *ingest.EventBuilder, at ingest.Location, role string) error {
	text := r.text()
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return trail.Message(at, role, text)
}

// text returns the text of the record: a string, a part or a list of parts without thoughts.
func (r *record) text() string {
	var parts []struct {
		Text    string `json:"text"`
		Thought bool   `json:"thought"`
	}
	if r.Content.Kind() != '[' || jsonv2.Unmarshal(r.Content, &parts, lenient) != nil {
		return ingest.Content(r.Content)
	}
	var texts []string
	for _, p := range parts {
		if p.Text != "" && !p.Thought {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

func (t *tokens) sum() int64 {
	switch {
	case t == nil:
		return 0
	case t.Total != 0:
		return t.Total
	}
	return t.Input + t.Output + t.Thoughts + t.Tool
}

// kinds returns the tokens by kind. Tokens that tools added to the prompt are input.
func (t *tokens) kinds() *unloop.Usage {
	if t == nil {
		return nil
	}
	return ingest.TokenKinds(unloop.Usage{Input: t.Input + t.Tool, Output: t.Output + t.Thoughts, CachedInput: t.Cached, Reasoning: t.Thoughts})
}

// send sends the call, and its outcome if it has one. A waiting or running call has none.
func (c *call) send(trail *ingest.EventBuilder, at ingest.Location) error {
	if err := trail.Call(at, c.ID, c.Name, ingest.Arguments(c.Args)); err != nil {
		return err
	}
	output, reason := c.answer()
	failed := reason != ""
	switch c.Status {
	case "success":
	case "error":
		failed = true
	case "cancelled":
		failed = true
		if reason == "" {
			reason = "cancelled"
		}
	default:
		if c.Status != "" || output == nil {
			return nil
		}
	}
	if done := ingest.Time(c.Time); !done.IsZero() {
		at.Time = done
	}
	return trail.Result(at, c.ID, c.Name, output, failed, reason)
}

// answer returns the output of the tool, and the reason if it failed. An answer without a response is the output.
func (c *call) answer() (output json.RawMessage, reason string) {
	var parts []struct {
		Function struct {
			Response jsontext.Value `json:"response"`
		} `json:"functionResponse"`
	}
	if c.Result.Kind() == '[' && jsonv2.Unmarshal(c.Result, &parts, lenient) == nil {
		for _, p := range parts {
			if p.Function.Response.Kind() != 0 {
				return Respond(p.Function.Response)
			}
		}
	}
	if k := c.Result.Kind(); k == 0 || k == 'n' {
		return nil, ""
	}
	return ingest.Output(c.Result), ""
}

// Respond returns the parts of a function's response: usually {"output": …} or {"error": …}, the output WithoutProcessGroup.
func Respond(response jsontext.Value) (output json.RawMessage, reason string) {
	var r struct {
		Output jsontext.Value `json:"output"`
		Error  jsontext.Value `json:"error"`
	}
	if response.Kind() != '{' || jsonv2.Unmarshal(response, &r, lenient) != nil {
		return json.RawMessage(response), ""
	}
	switch {
	case r.Output.Kind() != 0:
		return WithoutProcessGroup(json.RawMessage(r.Output)), ""
	case r.Error.Kind() != 0 && r.Error.Kind() != 'n':
		return json.RawMessage(r.Error), why(r.Error)
	}
	return json.RawMessage(response), ""
}

// processGroup matches the line in a JSON string.
var processGroup = regexp.MustCompile(`(\\n)?Process Group PGID: \d+`)

// WithoutProcessGroup returns an output without the line that Gemini CLI adds with the number of the command's process group,
// because the number differs in each call. It returns outputs other than JSON strings unchanged.
func WithoutProcessGroup(output json.RawMessage) json.RawMessage {
	if len(output) == 0 || output[0] != '"' {
		return output
	}
	return processGroup.ReplaceAll(output, nil)
}

// why returns the content of a JSON string, and any other value as JSON.
func why(v jsontext.Value) string {
	if v.Kind() == '"' {
		return ingest.UnquoteText(v)
	}
	return string(v)
}
