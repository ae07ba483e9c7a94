package proxy

import (
	"bytes"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

// anthropic is Anthropic's Messages API.
type anthropic struct{}

func (anthropic) list() string { return "messages" }

// anthropicMessage is one message of a history.
type anthropicMessage struct {
	Role    string         `json:"role"`
	Content jsontext.Value `json:"content"`
}

func (anthropic) addEvents(b *ingest.EventBuilder, at ingest.Location, item jsontext.Value) error {
	var m anthropicMessage
	if err := jsonv2.Unmarshal(item, &m, lenient); err != nil {
		return err
	}
	blocks, err := (&ingest.Input{}).Blocks(0, "content", m.Content)
	if err != nil {
		return err
	}
	if m.Role != unloop.RoleUser { // a call follows the text that announces it
		if err := addTexts(b, at, m.Role, blocks); err != nil {
			return err
		}
		return b.Blocks(at, blocks)
	}
	if err := b.Blocks(at, blocks); err != nil {
		return err
	}
	return addTexts(b, at, m.Role, blocks)
}

// addTexts sends the texts among blocks as one message. What a client put into a user's message is the system's.
func addTexts(b *ingest.EventBuilder, at ingest.Location, role string, blocks []ingest.Block) error {
	var texts, reminders []string
	for _, block := range blocks {
		switch {
		case block.Type != "text" || role == unloop.RoleAssistant && isOwnText(block.Text):
		case role == unloop.RoleUser && ingest.IsInserted(block.Text):
			reminders = append(reminders, block.Text)
		default:
			texts = append(texts, block.Text)
		}
	}
	if err := addText(b, at, unloop.RoleSystem, reminders); err != nil {
		return err
	}
	return addText(b, at, role, texts)
}

// addText sends a message, unless it is blank or of a role that is not known.
func addText(b *ingest.EventBuilder, at ingest.Location, role string, texts []string) error {
	text := strings.Join(texts, "\n")
	if strings.TrimSpace(text) == "" {
		return nil
	}
	switch role {
	case unloop.RoleUser, unloop.RoleAssistant, unloop.RoleSystem:
		return b.Message(at, role, text)
	}
	return nil
}

// nudge appends a text block to the last message if that is the user's, behind the results in it, and a message otherwise.
func (anthropic) nudge(r *request, text string) ([]byte, error) {
	block := encode(map[string]string{"type": "text", "text": text})
	if len(r.items) > 0 {
		last := r.items[len(r.items)-1]
		var m anthropicMessage
		if err := jsonv2.Unmarshal(last.value, &m, lenient); err != nil {
			return nil, err
		}
		// The content is the last list of the message in its bytes only if it is found there once.
		if at := bytes.Index(last.value, m.Content); m.Role == unloop.RoleUser && m.Content.Kind() == '[' && at >= 0 && bytes.Count(last.value, m.Content) == 1 {
			end := last.end - len(last.value) + at + len(m.Content) - 1
			if len(bytes.Trim(m.Content, "[] \t\r\n")) > 0 {
				block = append([]byte{','}, block...)
			}
			return slices.Concat(r.body[:end], block, r.body[end:]), nil
		}
	}
	return r.appendItem(slices.Concat([]byte(`{"role":"user","content":[`), block, []byte(`]}`)))
}

func (anthropic) answer(r *request, text string) answer {
	usage := map[string]int{"input_tokens": 0, "output_tokens": 0}
	message := map[string]any{
		"id": newID("msg_"), "type": "message", "role": "assistant", "model": r.members.Model,
		"content": []any{map[string]string{"type": "text", "text": text}}, "stop_reason": "end_turn", "stop_sequence": nil,
		"usage": usage,
	}
	if !r.members.Stream {
		return answer{contentType: "application/json", body: encode(message)}
	}
	message["content"], message["stop_reason"] = []any{}, nil
	var s stream
	s.event("message_start", map[string]any{"type": "message_start", "message": message})
	s.textBlock(0, text)
	s.event("message_delta", map[string]any{
		"type": "message_delta", "delta": map[string]any{"stop_reason": "end_turn", "stop_sequence": nil},
		"usage": map[string]int{"output_tokens": 0},
	})
	s.event("message_stop", map[string]string{"type": "message_stop"})
	return s.answer()
}

// textBlock adds a block of text.
func (s *stream) textBlock(index int, text string) {
	s.event("content_block_start", map[string]any{
		"type": "content_block_start", "index": index, "content_block": map[string]string{"type": "text", "text": ""},
	})
	s.event("content_block_delta", map[string]any{
		"type": "content_block_delta", "index": index, "delta": map[string]string{"type": "text_delta", "text": text},
	})
	s.event("content_block_stop", map[string]any{"type": "content_block_stop", "index": index})
}

func (anthropic) failure(status int, text string) []byte {
	kind := "invalid_request_error"
	if status >= 500 {
		kind = "api_error"
	}
	return encode(map[string]any{"type": "error", "error": map[string]string{"type": kind, "message": text}})
}
