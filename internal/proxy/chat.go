package proxy

import (
	"encoding/json"
	"net/http"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop/internal/ingest"
)

// chat is OpenAI's Chat Completions API.
type chat struct{}

func (chat) list() string { return "messages" }

func (chat) addEvents(b *ingest.EventBuilder, at ingest.Location, item jsontext.Value) error {
	var m ingest.ChatMessage
	if err := jsonv2.Unmarshal(item, &m, lenient); err != nil {
		return err
	}
	switch {
	case m.Role == "assistant" && isOwnText(ingest.Content(m.Content)):
		m.Content = nil // its calls are the model's
	case m.Role == "user" && ingest.IsInserted(ingest.Content(m.Content)):
		m.Role = "system"
	}
	return b.Chat(at, &m)
}

func (chat) nudge(r *request, text string) ([]byte, error) {
	return r.appendItem(encode(map[string]string{"role": "user", "content": text}))
}

// chatChunk is a chunk of a streamed answer.
type chatChunk struct {
	ID      string       `json:"id"`
	Object  string       `json:"object"`
	Created int64        `json:"created"`
	Model   string       `json:"model"`
	Choices []chatChoice `json:"choices"`
	Usage   *chatUsage   `json:"usage,omitempty"`
}

type chatChoice struct {
	Index   int `json:"index"`
	Message any `json:"message,omitempty"`
	Delta   any `json:"delta,omitempty"` // an empty object is written
	Finish  any `json:"finish_reason"`
}

type chatUsage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

func (chat) answer(r *request, text string) answer {
	base := chatChunk{ID: newID("chatcmpl-"), Object: "chat.completion.chunk", Created: now(), Model: r.members.Model}
	message := map[string]any{"role": "assistant", "content": text}
	if !r.members.Stream {
		base.Object, base.Usage = "chat.completion", &chatUsage{}
		message["refusal"] = nil
		base.Choices = []chatChoice{{Message: message, Finish: "stop"}}
		return answer{contentType: "application/json", body: encode(base)}
	}
	var s stream
	chunk := base
	chunk.Choices = []chatChoice{{Delta: message}}
	s.data(chunk)
	chunk.Choices = []chatChoice{{Delta: map[string]any{}, Finish: "stop"}}
	s.data(chunk)
	if r.members.IncludeUsage {
		chunk.Choices, chunk.Usage = []chatChoice{}, &chatUsage{}
		s.data(chunk)
	}
	s.raw("data: [DONE]\n\n")
	return s.answer()
}

func (chat) failure(status int, text string) []byte { return openAIFailure(status, text) }

// openAIFailure returns the body of an error of OpenAI's APIs.
func openAIFailure(status int, text string) []byte {
	kind := "invalid_request_error"
	if status >= http.StatusInternalServerError {
		kind = "server_error"
	}
	return encode(map[string]any{"error": map[string]any{"message": text, "type": kind, "param": nil, "code": "unloop"}})
}

// encode returns v as JSON. v must be of a type that always encodes.
func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic("proxy: encode an answer: " + err.Error())
	}
	return data
}
