// Package cursor reads two outputs of Cursor: what its command-line agent prints with --output-format stream-json, and the transcripts that
// the editor keeps in ~/.cursor/projects/*/agent-transcripts. Both are lines. An Index counts the lines that are not blank, from 0.
//
// The run of a stream is its session. A transcript has no id, time or usage, and no results, so its calls end with an unknown result; the
// run is the name of the file.
//
// Traps: a call is an object with one member, whose name is the tool ("readToolCall"), or "function". With --stream-partial-output, the
// text of an answer comes in fragments with a time, again with the id of the model call before a tool, and again as a whole at the end.
// The fragments are skipped, and the whole counts only with what follows the texts before. The usage is that of the whole run.
package cursor

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

// Stream is the format of the agent's --output-format stream-json.
func Stream() ingest.Format {
	return ingest.Format{
		Name:   "cursor-stream",
		Title:  "Cursor agent output (--output-format stream-json)",
		Sniff:  sniffStream,
		Decode: decodeStream,
		Whole:  true,
		Grows:  true,
	}
}

// sniffStream looks for the first line of a session, which has no tools (Claude Code's has them), or a line of a call.
func sniffStream(head []byte) bool {
	m, list := ingest.Members(head)
	switch {
	case list || !has(m, "session_id"):
		return false
	case m["type"] == "system":
		return m["subtype"] == "init" && !has(m, "tools") && !has(m, "uuid") && has(m, "permissionMode")
	}
	return m["type"] == "tool_call" && has(m, "tool_call")
}

func has(m map[string]string, name string) bool {
	_, ok := m[name]
	return ok
}

type line struct {
	Type    string         `json:"type"`
	Subtype string         `json:"subtype"`
	Session string         `json:"session_id"`
	Model   string         `json:"model"` // of the session
	Time    jsontext.Value `json:"timestamp_ms"`
	Answer  string         `json:"model_call_id"` // of an answer that is complete
	Message struct {
		Content jsontext.Value `json:"content"`
	} `json:"message"`
	CallID  string                    `json:"call_id"`
	Call    map[string]jsontext.Value `json:"tool_call"`
	IsError bool                      `json:"is_error"` // of the end
	Result  jsontext.Value            `json:"result"`
	Usage   usage                     `json:"usage"`
}

type usage struct {
	Input      int64 `json:"inputTokens"`
	Output     int64 `json:"outputTokens"`
	CacheRead  int64 `json:"cacheReadTokens"`
	CacheWrite int64 `json:"cacheWriteTokens"`
}

type decoder struct {
	in       *ingest.Input
	emit     ingest.Emit
	events   *ingest.EventBuilder
	index    int    // of the next line
	parts    bool   // the answers come in fragments
	answered string // the texts of the answers since the last message of the user
}

func decodeStream(in *ingest.Input, emit ingest.Emit) error {
	d := &decoder{in: in, emit: emit}
	return in.EachLine(d.line)
}

func (d *decoder) line(text ingest.Line) error {
	at := ingest.Location{Index: d.index}
	d.index++
	var l line
	if err := d.in.Unmarshal(text.Number, text.Bytes, &l); err != nil {
		return err
	}
	if d.events == nil || l.Type == "system" && l.Subtype == "init" && d.index > 1 {
		run := l.Session
		if run == "" {
			run = d.in.Run
		}
		d.events = ingest.NewEventBuilder(run, d.emit)
	}
	at.Time = ingest.Time(l.Time)
	switch l.Type {
	case "user":
		d.answered = ""
		return message(d.events, at, unloop.RoleUser, ingest.Content(l.Message.Content))
	case "assistant":
		return d.answer(at, &l)
	case "tool_call":
		return d.call(at, &l)
	case "result":
		return d.end(at, &l)
	}
	return nil
}

func message(events *ingest.EventBuilder, at ingest.Location, role, text string) error {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return events.Message(at, role, text)
}

// answer sends the text of an answer, unless it is a fragment.
func (d *decoder) answer(at ingest.Location, l *line) error {
	text := ingest.Content(l.Message.Content)
	if len(l.Time) > 0 && l.Answer == "" {
		d.parts = true
		return nil
	}
	if d.parts && len(l.Time) == 0 {
		text = strings.TrimPrefix(text, d.answered)
	}
	d.answered += text
	return message(d.events, at, unloop.RoleAssistant, text)
}

// call sends the start or the end of a call.
func (d *decoder) call(at ingest.Location, l *line) error {
	tool, c, err := d.tool(l.Call)
	if err != nil || tool == "" {
		return err
	}
	if l.Subtype == "started" {
		return d.events.Call(at, l.CallID, tool, ingest.Arguments(c.Args))
	}
	result := c.Result
	if len(result) == 0 {
		result = l.Result
	}
	output, failed, reason := outcome(result)
	return d.events.Result(at, l.CallID, tool, output, failed, reason)
}

// end sends the end of the run with its usage.
func (d *decoder) end(at ingest.Location, l *line) error {
	e := &unloop.Event{Type: unloop.RunCompleted, Status: l.Subtype}
	if l.IsError || l.Subtype != "" && l.Subtype != "success" {
		e.Type, e.Error = unloop.RunFailed, ingest.Text(ingest.UnquoteText(l.Result))
	}
	u := l.Usage
	if cached := u.CacheRead + u.CacheWrite; cached > u.Input { // it does not include them
		u.Input += cached
	}
	e.Usage = ingest.TokenKinds(unloop.Usage{Input: u.Input, Output: u.Output, CachedInput: u.CacheRead, CacheWrite: u.CacheWrite})
	if e.Usage != nil {
		e.Tokens = e.Usage.Input + e.Usage.Output
	}
	d.answered, d.parts = "", false
	return d.events.Add(at, e)
}

// call is a call of any tool.
type call struct {
	Args      jsontext.Value `json:"args"`
	Result    jsontext.Value `json:"result"`
	Name      string         `json:"name"` // of a function
	Arguments jsontext.Value `json:"arguments"`
}

// tool returns the tool and the call in it. Calls of MCP and of functions have the name of their tool among their members.
func (d *decoder) tool(object map[string]jsontext.Value) (string, *call, error) {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		tool, isCall := strings.CutSuffix(name, "ToolCall")
		if !isCall && name != "function" {
			continue
		}
		c := new(call)
		if err := d.in.Unmarshal(d.in.Line(), object[name], c); err != nil {
			return "", nil, ingest.Under("tool_call."+name, err)
		}
		if len(c.Args) == 0 {
			c.Args = c.Arguments
		}
		if tool == "mcp" {
			if m := ingest.MembersOf(string(c.Args)); m["args"] != nil {
				c.Name, c.Args = cmp.Or(ingest.UnquoteText(m["toolName"]), ingest.UnquoteText(m["name"])), m["args"]
			}
		}
		return cmp.Or(c.Name, tool), c, nil
	}
	return "", nil, nil
}
