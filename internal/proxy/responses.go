package proxy

import (
	"maps"
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

func (responses) addEvents(b *ingest.EventBuilder, at ingest.Location, item jsontext.Value) error {
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
	case role == unloop.RoleAssistant && isOwnText(text):
		return nil
	}
	return addText(b, at, role, []string{text})
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
	if r.members.HistoryIsText {
		var err error
		if r, err = r.after(&haltedRequest{previous: r.members.Previous}); err != nil {
			return nil, err
		}
	}
	return r.appendItem(encode(map[string]any{
		"type": "message", "role": "user", "content": []any{map[string]string{"type": "input_text", "text": text}},
	}))
}

func (responses) answer(r *request, text string) answer {
	m := newResponsesMessage(newID("msg_"), 0, text)
	id := newID("resp_")
	response := responsesObject(r, id, "completed", []any{m.item("completed")})
	if !r.members.Stream {
		return answer{"application/json", encode(response), id}
	}
	begun := responsesObject(r, id, "in_progress", []any{})
	begun["usage"] = nil
	events := responsesStream{stream: &stream{}}
	events.send("response.created", map[string]any{"response": begun})
	events.send("response.in_progress", map[string]any{"response": begun})
	m.open(&events)
	m.close(&events, text)
	events.send("response.completed", map[string]any{"response": response})
	whole := events.answer()
	whole.id = id
	return whole
}

// responsesStream is a stream of the Responses API, whose events are numbered.
type responsesStream struct {
	*stream
	number int // of the next event
}

// send adds an event with all members of the objects.
func (s *responsesStream) send(kind string, objects ...map[string]any) {
	event := map[string]any{"type": kind, "sequence_number": s.number}
	for _, o := range objects {
		maps.Copy(event, o)
	}
	s.event(kind, event)
	s.number++
}

// responsesMessage is a message in the output of a response.
type responsesMessage struct {
	id    string
	index int // in the output
	text  string
	place map[string]any // of its text
}

func newResponsesMessage(id string, index int, text string) responsesMessage {
	return responsesMessage{id, index, text, map[string]any{"item_id": id, "output_index": index, "content_index": 0}}
}

// part returns the content of the message, with as much of the text as is written.
func (m *responsesMessage) part(text string) map[string]any {
	return map[string]any{"type": "output_text", "text": text, "annotations": []any{}, "logprobs": []any{}}
}

// item returns the message with its status: completed, or in_progress, which has no content.
func (m *responsesMessage) item(status string) map[string]any {
	content := []any{}
	if status == "completed" {
		content = append(content, m.part(m.text))
	}
	return map[string]any{"type": "message", "id": m.id, "role": "assistant", "status": status, "content": content}
}

// open adds the events that begin the message.
func (m *responsesMessage) open(s *responsesStream) {
	s.send("response.output_item.added", map[string]any{"output_index": m.index, "item": m.item("in_progress")})
	s.send("response.content_part.added", m.place, map[string]any{"part": m.part("")})
}

// close adds the events with the rest of the text and the end of the message.
func (m *responsesMessage) close(s *responsesStream, rest string) {
	s.send("response.output_text.delta", m.place, map[string]any{"delta": rest, "logprobs": []any{}})
	s.send("response.output_text.done", m.place, map[string]any{"text": m.text, "logprobs": []any{}})
	s.send("response.content_part.done", m.place, map[string]any{"part": m.part(m.text)})
	s.send("response.output_item.done", map[string]any{"output_index": m.index, "item": m.item("completed")})
}

// responsesObject returns a response with all members that clients need.
func responsesObject(r *request, id, status string, output []any) map[string]any {
	return map[string]any{
		"id": id, "object": "response", "created_at": now(), "status": status, "error": nil,
		"incomplete_details": nil, "instructions": nil, "metadata": map[string]string{}, "model": r.members.Model,
		"output": output, "parallel_tool_calls": true, "temperature": 1, "top_p": 1, "tool_choice": "auto", "tools": []any{},
		"usage": map[string]any{
			"input_tokens": 0, "output_tokens": 0, "total_tokens": 0,
			"input_tokens_details": map[string]int{"cached_tokens": 0}, "output_tokens_details": map[string]int{"reasoning_tokens": 0},
		},
	}
}

func (responses) failure(status int, text string) []byte { return openAIFailure(status, text) }
