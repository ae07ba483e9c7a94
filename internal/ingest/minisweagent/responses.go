package minisweagent

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop/internal/ingest"
)

// item is a part of an answer of the Responses API.
type item struct {
	Type      string         `json:"type"`
	Content   jsontext.Value `json:"content"` // of a message
	CallID    string         `json:"call_id"`
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Arguments jsontext.Value `json:"arguments"`
}

// fromResponse returns the chat message that is equivalent to an answer of the Responses API. It omits reasoning.
func (d *decoder) fromResponse(index int, m *message) error {
	var items []item
	if len(m.Output) > 0 {
		if err := d.in.Unmarshal(0, m.Output, &items); err != nil {
			return d.in.Bad(0, "messages."+strconv.Itoa(index)+".output", "not a list of items")
		}
	}
	m.Role = "assistant"
	for _, it := range items {
		switch it.Type {
		case "message":
			m.Content = it.Content
		case "function_call":
			id := it.CallID
			if id == "" {
				id = it.ID
			}
			call := ingest.ChatFunction{Name: it.Name, Arguments: it.Arguments}
			m.ToolCalls = append(m.ToolCalls, ingest.ChatCall{ID: id, Function: &call})
		}
	}
	return nil
}
