package codex

import (
	"cmp"
	"encoding/json"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

// lenient are the options with which the input is read.
var lenient = jsonv2.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// item sends the events of an item of the model's history. Calls and results have several types (function_call, custom_tool_call,
// local_shell_call, web_search_call …).
func (d *decoder) item(at ingest.Location, p part) error {
	kind, err := p.kind()
	switch {
	case err != nil:
		return err
	case kind == "message":
		return d.message(at, p)
	case strings.HasSuffix(kind, "_call"):
		return d.call(at, p, kind)
	case strings.HasSuffix(kind, "_output"):
		return d.result(at, p)
	}
	return nil
}

// roles are the roles of a message. Those of the role developer are instructions of the program.
var roles = []string{unloop.RoleUser, unloop.RoleAssistant, unloop.RoleSystem, "developer"}

func (d *decoder) message(at ingest.Location, p part) error {
	var m struct {
		Role    string         `json:"role"`
		Content jsontext.Value `json:"content"`
	}
	if err := p.read(&m); err != nil {
		return err
	}
	d.in.CheckRole(p.field, m.Role, roles)
	switch m.Role {
	case unloop.RoleUser, unloop.RoleAssistant, unloop.RoleSystem:
	default:
		return nil
	}
	var texts []string
	for _, text := range parts(m.Content) {
		if m.Role != unloop.RoleUser || !ingest.IsInserted(text) {
			texts = append(texts, text)
		}
	}
	text := strings.Join(texts, "\n")
	if strings.TrimSpace(text) == "" {
		return nil
	}
	flush := d.flush
	if m.Role == unloop.RoleUser { // the previous turn is over
		flush = d.flushAll
	}
	if err := flush(); err != nil {
		return err
	}
	return d.trail.Message(at, m.Role, text)
}

// parts returns the text of each part of a content.
func parts(content jsontext.Value) []string {
	values := []jsontext.Value{content}
	if content.Kind() == '[' {
		values = nil
		if jsonv2.Unmarshal(content, &values, lenient) != nil {
			return nil
		}
	}
	var texts []string
	for _, v := range values {
		if text := ingest.Content(v); text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// Call is an item that calls a tool. Which members it has depends on its type.
type Call struct {
	ID        string         `json:"id"`
	CallID    string         `json:"call_id"`
	Name      string         `json:"name"`
	Namespace string         `json:"namespace"` // mcp__server, of a tool named without it
	Arguments jsontext.Value `json:"arguments"` // of a function: JSON in a string
	Input     jsontext.Value `json:"input"`     // of a custom tool: free text
	Action    jsontext.Value `json:"action"`    // of the shell and of a search
}

// Read returns the id of the call, its tool and its arguments. kind is the type of the item, which names the tool of a call
// without a name.
func (c *Call) Read(kind string) (id, tool string, args json.RawMessage) {
	id, tool = cmp.Or(c.CallID, c.ID), cmp.Or(c.Name, strings.TrimSuffix(kind, "_call"))
	if c.Namespace != "" {
		tool = strings.TrimSuffix(c.Namespace, "__") + "__" + tool
	}
	switch {
	case c.Input.Kind() != 0:
		args = json.RawMessage(c.Input)
	case c.Action.Kind() != 0:
		args = json.RawMessage(c.Action)
	default:
		args = ingest.Arguments(c.Arguments)
	}
	return id, tool, args
}

// call sends a call.
func (d *decoder) call(at ingest.Location, p part, kind string) error {
	var c Call
	if err := p.read(&c); err != nil {
		return err
	}
	id, tool, args := c.Read(kind)
	if err := d.flush(); err != nil {
		return err
	}
	if id != "" {
		d.calls[id] = &call{tool: tool}
	}
	return d.trail.Call(at, id, tool, args)
}

// result holds the result of a call, which is sent later.
func (d *decoder) result(at ingest.Location, p part) error {
	var r struct {
		CallID string         `json:"call_id"`
		Output jsontext.Value `json:"output"`
		Tools  jsontext.Value `json:"tools"` // what a search for tools has found
	}
	if err := p.read(&r); err != nil {
		return err
	}
	output, v := open(r.Output)
	if r.Output.Kind() == 0 && r.Tools.Kind() != 0 {
		output = json.RawMessage(r.Tools)
	}
	d.hold(&outcome{at: at, id: r.CallID, output: output, verdict: v, item: true})
	return nil
}
