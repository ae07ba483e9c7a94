package proxy

import (
	"encoding/json"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
	geminicli "github.com/unloop-ai/unloop/internal/ingest/gemini"
)

// gemini is the Gemini API's generateContent.
type gemini struct {
	stream bool // the answer is a list of chunks
	events bool // the chunks are server-sent events
}

func (gemini) list() string { return "contents" }

// geminiPart is a part of a content. One of its members is set.
type geminiPart struct {
	Text    string `json:"text"`
	Thought bool   `json:"thought"`
	Call    *struct {
		ID   string         `json:"id"`
		Name string         `json:"name"`
		Args jsontext.Value `json:"args"`
	} `json:"functionCall"`
	Response *struct {
		ID       string         `json:"id"`
		Name     string         `json:"name"`
		Response jsontext.Value `json:"response"`
	} `json:"functionResponse"`
}

func (gemini) addEvents(b *ingest.EventBuilder, at ingest.Location, item jsontext.Value) error {
	var content struct {
		Role  string       `json:"role"`
		Parts []geminiPart `json:"parts"`
	}
	if err := jsonv2.Unmarshal(item, &content, lenient); err != nil {
		return err
	}
	var texts, reminders []string
	for _, p := range content.Parts {
		switch {
		case p.Text == "" || p.Thought:
		case content.Role == "model" && isOwnText(p.Text):
		case content.Role != "model" && ingest.IsInserted(p.Text):
			reminders = append(reminders, p.Text)
		default:
			texts = append(texts, p.Text)
		}
	}
	if content.Role == "model" { // a call follows the text that announces it
		if err := addText(b, at, unloop.RoleAssistant, texts); err != nil {
			return err
		}
		return addParts(b, at, content.Parts)
	}
	if err := addParts(b, at, content.Parts); err != nil {
		return err
	}
	if err := addText(b, at, unloop.RoleSystem, reminders); err != nil {
		return err
	}
	return addText(b, at, unloop.RoleUser, texts)
}

// addParts sends the calls and results among the parts.
func addParts(b *ingest.EventBuilder, at ingest.Location, parts []geminiPart) error {
	for _, p := range parts {
		var err error
		switch {
		case p.Call != nil:
			err = b.Call(at, p.Call.ID, p.Call.Name, json.RawMessage(p.Call.Args))
		case p.Response != nil:
			output, reason := geminicli.Respond(p.Response.Response)
			err = b.Result(at, p.Response.ID, p.Response.Name, output, reason != "", reason)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (gemini) nudge(r *request, text string) ([]byte, error) {
	return r.appendItem(encode(map[string]any{"role": "user", "parts": []any{map[string]string{"text": text}}}))
}

func (g gemini) answer(_ *request, text string) answer {
	chunk := map[string]any{
		"candidates": []any{map[string]any{
			"content": map[string]any{"role": "model", "parts": []any{map[string]string{"text": text}}}, "finishReason": "STOP", "index": 0,
		}},
		"usageMetadata": map[string]int{"promptTokenCount": 0, "candidatesTokenCount": 0, "totalTokenCount": 0},
	}
	switch {
	case g.events:
		var s stream
		s.data(chunk)
		return s.answer()
	case g.stream:
		return answer{contentType: "application/json", body: encode([]any{chunk})}
	}
	return answer{contentType: "application/json", body: encode(chunk)}
}

func (gemini) failure(status int, text string) []byte {
	state := "FAILED_PRECONDITION"
	if status >= 500 {
		state = "UNAVAILABLE"
	}
	return encode(map[string]any{"error": map[string]any{"code": status, "message": text, "status": state}})
}
