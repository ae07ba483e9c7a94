package codex

import (
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
		return d.call(at, p, strings.TrimSuffix(kind, "_call"))
	case strings.HasSuffix(kind, "_output"):
		return d.result(at, p)
	}
	return nil
}

func (d *decoder) message(at ingest.Location, p part) error {
	var m struct {
		Role    string         `json:"role"`
		Content jsontext.Value `json:"content"`
	}
	if err := p.read(&m); err != nil {
		return err
	}
	switch m.Role {
	case unloop.RoleUser, unloop.RoleAssistant, unloop.RoleSystem:
	default:
		return nil
	}
	var texts []string
	for _, text := range parts(m.Content) {
		if m.Role != unloop.RoleUser || !injected(text) {
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

// injected reports whether the program, not the user, wrote a part of a user message. The program adds instructions, the
// environment, and notices, each in its own tag.
func injected(text string) bool {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "# AGENTS.md instructions") {
		return true
	}
	for _, tag := range []string{
		"environment_context", "user_instructions", "additional_context", "skill", "recommended_plugins",
		"turn_aborted", "user_shell_command", "subagent_notification", "agent_message_board_notification",
	} {
		if strings.HasPrefix(text, "<"+tag+">") && strings.HasSuffix(text, "</"+tag+">") {
			return true
		}
	}
	return false
}

// call sends a call. tool is the name by the item's type, for calls without a name.
func (d *decoder) call(at ingest.Location, p part, tool string) error {
	var c struct {
		ID        string         `json:"id"`
		CallID    string         `json:"call_id"`
		Name      string         `json:"name"`
		Namespace string         `json:"namespace"` // mcp__server, of a tool named without it
		Arguments jsontext.Value `json:"arguments"` // of a function: JSON in a string
		Input     jsontext.Value `json:"input"`     // of a custom tool: free text
		Action    jsontext.Value `json:"action"`    // of the shell and of a search
	}
	if err := p.read(&c); err != nil {
		return err
	}
	if c.Name != "" {
		tool = c.Name
	}
	if c.Namespace != "" {
		tool = strings.TrimSuffix(c.Namespace, "__") + "__" + tool
	}
	id := c.CallID
	if id == "" {
		id = c.ID
	}
	args := ingest.Arguments(c.Arguments)
	switch {
	case c.Input.Kind() != 0:
		args = json.RawMessage(c.Input)
	case c.Action.Kind() != 0:
		args = json.RawMessage(c.Action)
	}
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
