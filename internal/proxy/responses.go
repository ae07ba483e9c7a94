package proxy

import (
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/ingest/codex"
)

// responses is OpenAI's Responses API.
type responses struct{}

func (responses) list() string { return "input" }

// responsesItem is one item of a history. Which members have a meaning depends on the type.
type responsesItem struct {
	codex.Call
	Type    string         `json:"type"`
	Role    string         `json:"role"`
	Content jsontext.Value `json:"content"`
	Output  jsontext.Value `json:"output"`
	Error   jsontext.Value `json:"error"` // of an MCP call
}

func (responses) tell(b *ingest.EventBuilder, at ingest.Location, item jsontext.Value) error {
	var i responsesItem
	if err := jsonv2.Unmarshal(item, &i, lenient); err != nil {
		return err
	}
	switch {
	case i.Type == "message" || i.Type == "" && i.Role != "":
		return i.message(b, at)
	case strings.HasSuffix(i.Type, "_call_output"):
		output, failed, reason := codex.Outcome(i.Output)
		return b.Result(at, i.CallID, "", output, failed, reason)
	case strings.HasSuffix(i.Type, "_call"):
		return i.call(b, at)
	}
	return nil // reasoning and what is not known
}

func (i *responsesItem) message(b *ingest.EventBuilder, at ingest.Location) error {
	text := ingest.Content(i.Content)
	role := i.Role
	switch {
	case role == "developer" || role == unloop.RoleUser && ingest.IsInserted(text):
		role = unloop.RoleSystem
	case role == unloop.RoleAssistant && said(text):
		return nil
	}
	return tellText(b, at, role, []string{text})
}

func (i *responsesItem) call(b *ingest.EventBuilder, at ingest.Location) error {
	id, tool, args := i.Read(i.Type)
	if err := b.Call(at, id, tool, args); err != nil || i.Output.Kind() == 0 && i.Error.Kind() == 0 {
		return err
	}
	// A tool at the API's side has its result in the same item.
	failed := i.Error.Kind() != 0 && i.Error.Kind() != 'n'
	return b.Result(at, id, tool, ingest.Output(i.Output), failed, ingest.UnquoteText(i.Error))
}

func (responses) nudge(r *request, text string) ([]byte, error) {
	return r.appendItem(encode(map[string]any{
		"type": "message", "role": "user", "content": []any{map[string]string{"type": "input_text", "text": text}},
	}))
}

func (responses) answer(r *request, text string) answer {
	part := map[string]any{"type": "output_text", "text": text, "annotations": []any{}, "logprobs": []any{}}
	message := map[string]any{
		"type": "message", "id": newID("msg_"), "role": "assistant", "status": "completed", "content": []any{part},
	}
	response := responsesObject(r, "completed", []any{message})
	if !r.members.Stream {
		return answer{"application/json", encode(response)}
	}
	begun := responsesObject(r, "in_progress", []any{})
	begun["id"], begun["usage"] = response["id"], nil
	open := map[string]any{"type": "message", "id": message["id"], "role": "assistant", "status": "in_progress", "content": []any{}}
	empty := map[string]any{"type": "output_text", "text": "", "annotations": []any{}, "logprobs": []any{}}
	place := map[string]any{"item_id": message["id"], "output_index": 0, "content_index": 0}

	var s stream
	number := 0
	send := func(kind string, members ...map[string]any) {
		event := map[string]any{"type": kind, "sequence_number": number}
		for _, m := range members {
			for name, value := range m {
				event[name] = value
			}
		}
		s.event(kind, event)
		number++
	}
	send("response.created", map[string]any{"response": begun})
	send("response.in_progress", map[string]any{"response": begun})
	send("response.output_item.added", map[string]any{"output_index": 0, "item": open})
	send("response.content_part.added", place, map[string]any{"part": empty})
	send("response.output_text.delta", place, map[string]any{"delta": text, "logprobs": []any{}})
	send("response.output_text.done", place, map[string]any{"text": text, "logprobs": []any{}})
	send("response.content_part.done", place, map[string]any{"part": part})
	send("response.output_item.done", map[string]any{"output_index": 0, "item": message})
	send("response.completed", map[string]any{"response": response})
	return s.answer()
}

// responsesObject returns a response with all members that clients need.
func responsesObject(r *request, status string, output []any) map[string]any {
	return map[string]any{
		"id": newID("resp_"), "object": "response", "created_at": now(), "status": status, "error": nil,
		"incomplete_details": nil, "instructions": nil, "metadata": map[string]string{}, "model": r.members.Model,
		"output": output, "parallel_tool_calls": true, "temperature": 1, "top_p": 1, "tool_choice": "auto", "tools": []any{},
		"usage": map[string]any{
			"input_tokens": 0, "output_tokens": 0, "total_tokens": 0,
			"input_tokens_details": map[string]int{"cached_tokens": 0}, "output_tokens_details": map[string]int{"reasoning_tokens": 0},
		},
	}
}

func (responses) failure(status int, text string) []byte { return openAIFailure(status, text) }
