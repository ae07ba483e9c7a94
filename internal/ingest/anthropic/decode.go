// Package anthropic reads conversations in the messages of Anthropic's Messages API, as application code, gateways
// and proxies log them: a list of messages; an object with "messages", which may be a request and may hold the
// response beside it; a list of these, or JSON Lines of them. Index is a message's position in its conversation; the
// system prompt, which stands beside the messages, has the Index 0, and the reply in a response comes behind the last
// message.
//
// A log of requests tells the whole conversation with each of them: Dialogues says when such records are one run.
// Tools that run at the API's side (web search, code execution) have their call and result in one message.
// A conversation of nothing but texts cannot be told from OpenAI's and is left to that decoder, which reads the same
// in it.
package anthropic

import (
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

func decode(in *ingest.Input, emit ingest.Emit) error { return in.Dialogues(emit, tell) }

// message is one of the list, or a response.
type message struct {
	Role    string         `json:"role"`
	Content jsontext.Value `json:"content"`
	Model   string         `json:"model"`
	Usage   *usage         `json:"usage"`
}

// usage counts tokens. Input leaves out what the cache took or gave.
type usage struct {
	Input      int64 `json:"input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	Output     int64 `json:"output_tokens"`
}

func tell(d *ingest.Dialogue) (told int, err error) {
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
		if err := m.tell(d, i, d.Path(i)); err != nil {
			return i, err
		}
	}
	if d.Emitted > end { // the same request once more
		return end, nil
	}
	for path, value := range d.Answers() {
		var m message
		if err := d.Unmarshal(path, value, &m); err != nil {
			return end, err
		}
		if m.Role == "assistant" {
			return end + 1, m.tell(d, end, path)
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
	return tellText(d, ingest.Location{}, unloop.RoleSystem, ingest.Content(request.System))
}

// tell sends what the message tells. What a user says comes behind the results it is sent with, for it begins a turn.
func (m *message) tell(d *ingest.Dialogue, index int, path string) error {
	blocks, err := d.Blocks(path, m.Content)
	if err != nil {
		return err
	}
	at := ingest.Location{Index: index}
	if m.Role != "assistant" {
		if err := d.Builder.Blocks(at, blocks); err != nil {
			return err
		}
		return tellText(d, at, m.Role, ingest.Prose(blocks))
	}
	if m.Usage != nil || m.Model != "" {
		if err := d.Builder.Model(at, m.took()); err != nil {
			return err
		}
	}
	if err := tellText(d, at, unloop.RoleAssistant, ingest.Prose(blocks)); err != nil {
		return err
	}
	return d.Builder.Blocks(at, blocks)
}

// tellText sends a message, unless it is blank or of a role that is not known.
func tellText(d *ingest.Dialogue, at ingest.Location, role, text string) error {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	switch role {
	case unloop.RoleSystem, unloop.RoleUser, unloop.RoleAssistant:
		return d.Builder.Message(at, role, text)
	}
	return nil
}

// took returns what the model call took that gave the message.
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
