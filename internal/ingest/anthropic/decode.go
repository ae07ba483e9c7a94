// Package anthropic reads conversations in the messages of Anthropic's Messages API, as application code, gateways and proxies
// log them: a list of messages; an object with "messages", which may be a request and may contain the response; a list of these,
// or JSON Lines of them. Index is the position of a message in its conversation. The system prompt, which is beside the messages,
// has the Index 0. The reply in a response follows the last message.
//
// Each request in a log contains the whole conversation. Dialogues decides which records are one run. Tools that run in the API
// (web search, code execution) have their call and result in one message. A conversation of texts only cannot be distinguished
// from OpenAI's. The OpenAI decoder reads it with the same result.
package anthropic

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

// Format returns the format of Anthropic's messages.
func Format() ingest.Format {
	return ingest.Format{
		Name:   "anthropic",
		Title:  "Anthropic messages",
		Sniff:  func(head []byte) bool { return ingest.DialectOf(head) == ingest.Anthropic },
		Decode: decode,
		Whole:  true,
	}
}

func decode(in *ingest.Input, emit ingest.Emit) error { return in.Dialogues(emit, sendMessages) }

// message is an element of the list, or a response.
type message struct {
	Role    string         `json:"role"`
	Content jsontext.Value `json:"content"`
	Model   string         `json:"model"`
	Usage   *usage         `json:"usage"`
}

// roles are the roles of a message.
var roles = []string{unloop.RoleUser, unloop.RoleAssistant, unloop.RoleSystem}

// usage counts tokens. Input does not include cached tokens.
type usage struct {
	Input      int64 `json:"input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	Output     int64 `json:"output_tokens"`
}

func sendMessages(d *ingest.Dialogue) (sent int, err error) {
	if d.Emitted == 0 {
		if err := tellSystem(d); err != nil {
			return 0, err
		}
	}
	end := len(d.Messages)
	for i := d.Emitted; i < end; i++ {
		var m message
		if err := d.Message(i, &m); err != nil {
			return i, err
		}
		d.CheckRole(i, m.Role, roles)
		if err := m.send(d, i, d.Path(i)); err != nil {
			return i, err
		}
	}
	if d.Emitted > end { // the same request again
		return end, nil
	}
	for path, value := range d.Answers() {
		var m message
		if err := d.Unmarshal(path, value, &m); err != nil {
			return end, err
		}
		if m.Role == "assistant" {
			return end + 1, m.send(d, end, path)
		}
	}
	return end, nil
}

func tellSystem(d *ingest.Dialogue) error {
	if d.Request == nil {
		return nil
	}
	var request struct {
		System jsontext.Value `json:"system"`
	}
	if err := d.Unmarshal("", d.Request, &request); err != nil {
		return err
	}
	return sendText(d, ingest.Location{}, unloop.RoleSystem, ingest.Content(request.System))
}

// send sends the events of the message. A user's text follows the results in the same message, because it begins a turn.
func (m *message) send(d *ingest.Dialogue, index int, path string) error {
	blocks, err := d.Blocks(path, m.Content)
	if err != nil {
		return err
	}
	at := ingest.Location{Index: index}
	if m.Role != "assistant" {
		if err := d.Builder.Blocks(at, blocks); err != nil {
			return err
		}
		return sendText(d, at, m.Role, ingest.Prose(blocks))
	}
	if m.Usage != nil || m.Model != "" {
		if err := d.Builder.Model(at, m.took()); err != nil {
			return err
		}
	}
	if err := sendText(d, at, unloop.RoleAssistant, ingest.Prose(blocks)); err != nil {
		return err
	}
	return d.Builder.Blocks(at, blocks)
}

// sendText sends a message, unless it is blank or its role is unknown.
func sendText(d *ingest.Dialogue, at ingest.Location, role, text string) error {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	if !slices.Contains(roles, role) {
		return nil
	}
	return d.Builder.Message(at, role, text)
}

// took returns the usage of the model call that returned the message.
func (m *message) took() ingest.Usage {
	u := ingest.Usage{Model: m.Model}
	if m.Usage != nil {
		input := m.Usage.Input + m.Usage.CacheWrite + m.Usage.CacheRead
		u.Tokens = input + m.Usage.Output
		u.Kinds = ingest.TokenKinds(unloop.Usage{
			Input: input, Output: m.Usage.Output, CachedInput: m.Usage.CacheRead, CacheWrite: m.Usage.CacheWrite,
		})
	}
	return u
}
