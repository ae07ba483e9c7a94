package cline

import (
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

// Page is the format of ui_messages.json.
func Page() ingest.Format {
	return ingest.Format{
		Name:   "cline-ui",
		Title:  "Cline or Roo Code task (ui_messages.json)",
		Sniff:  sniffPage,
		Decode: decodePage,
		Whole:  true,
	}
}

// sniffPage looks for a message that has a time and the type say or ask.
func sniffPage(head []byte) bool {
	m, list := ingest.Members(head)
	_, time := m["ts"]
	speaks := m["type"] == "say" && m["say"] != "" || m["type"] == "ask" && m["ask"] != ""
	return list && time && speaks
}

// pageMessage is a message of the page, which the program says or asks.
type pageMessage struct {
	Time    jsontext.Value `json:"ts"`
	Type    string         `json:"type"`
	Ask     string         `json:"ask"`
	Say     string         `json:"say"`
	Text    string         `json:"text"`
	Partial bool           `json:"partial"`
	Model   struct {
		ID string `json:"modelId"`
	} `json:"modelInfo"`
}

// request is the text of a model call.
type request struct {
	Input      int64   `json:"tokensIn"`
	Output     int64   `json:"tokensOut"`
	CacheWrite int64   `json:"cacheWrites"`
	CacheRead  int64   `json:"cacheReads"`
	Cost       float64 `json:"cost"`
	Protocol   string  `json:"apiProtocol"` // anthropic or openai, in Roo Code
	Cancel     string  `json:"cancelReason"`
	Failure    string  `json:"streamingFailedMessage"`
}

// page is the state of a task as the page shows it.
type page struct {
	in     *ingest.Input
	events *ingest.EventBuilder
	tasked bool   // the task was read
	open   string // the tool of the last call, whose result may follow
	last   string // the last call that was asked for, because it is said again when it is approved
	output []string
}

func decodePage(in *ingest.Input, emit ingest.Emit) error {
	p := &page{in: in, events: ingest.NewEventBuilder(runOf(in), emit)}
	at := ingest.Location{}
	err := in.Elements(func(i int, value jsontext.Value) error {
		var m pageMessage
		if err := in.Unmarshal(in.Line(), value, &m); err != nil {
			return err
		}
		at = ingest.Location{Index: i, Time: ingest.Time(m.Time)}
		if m.Partial {
			return nil
		}
		return p.message(at, &m)
	})
	if err != nil {
		return err
	}
	return p.end(at, false, "")
}

func (p *page) message(at ingest.Location, m *pageMessage) error {
	kind := m.Say
	if m.Type == "ask" {
		kind = m.Ask
	}
	switch kind {
	case "command_output":
		p.output = append(p.output, m.Text)
		return nil
	case "mcp_server_response", "browser_action_result":
		p.output = append(p.output, m.Text)
		return p.end(at, false, "")
	case "error", "diff_error", "clineignore_error", "rooignore_error", "command_permission_denied":
		return p.end(at, true, m.Text)
	case "tool", "command", "use_mcp_server", "browser_action", "browser_action_launch":
		return p.call(at, kind, m)
	case "task", "text", "completion_result", "plan_mode_respond", "followup", "user_feedback":
		if err := p.end(at, false, ""); err != nil {
			return err
		}
		return p.text(at, kind, m.Text)
	case "api_req_started":
		if err := p.end(at, false, ""); err != nil {
			return err
		}
		return p.request(at, m)
	}
	return nil
}

// text sends what the person or the model said. The first text is the task.
func (p *page) text(at ingest.Location, kind, text string) error {
	role := unloop.RoleAssistant
	if kind == "task" || kind == "user_feedback" || !p.tasked {
		role = unloop.RoleUser
	}
	p.tasked = true
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return p.events.Message(at, role, text)
}

// request sends a model call. Its text is not JSON if the task is of a very old version.
func (p *page) request(at ingest.Location, m *pageMessage) error {
	p.last = ""
	var r request
	if json.Unmarshal([]byte(m.Text), &r) != nil {
		return nil
	}
	input := r.Input
	if r.Protocol != "openai" {
		input += r.CacheRead + r.CacheWrite
	}
	u := ingest.Usage{Model: m.Model.ID, Cost: max(0, r.Cost), Kinds: ingest.TokenKinds(unloop.Usage{
		Input: input, Output: r.Output, CachedInput: r.CacheRead, CacheWrite: r.CacheWrite,
	})}
	if u.Kinds != nil {
		u.Tokens = u.Kinds.Input + u.Kinds.Output
	}
	if r.Failure == "" && (r.Cancel == "" || r.Cancel == "user_cancelled") {
		return p.events.Model(at, u)
	}
	if err := p.events.Add(at, &unloop.Event{Type: unloop.LLMCallStarted, Model: u.Model}); err != nil {
		return err
	}
	reason := r.Failure
	if reason == "" {
		reason = r.Cancel
	}
	return p.events.Add(at, &unloop.Event{
		Type: unloop.LLMCallFailed, Model: u.Model, Error: ingest.Text(reason), Tokens: u.Tokens, Usage: u.Kinds, Cost: u.Cost,
	})
}

// call sends a call, unless it was asked for before: an approved call is asked and said.
func (p *page) call(at ingest.Location, kind string, m *pageMessage) error {
	if m.Text == p.last && p.open != "" {
		return nil
	}
	if err := p.end(at, false, ""); err != nil {
		return err
	}
	tool, args := callOf(kind, m.Text)
	p.open, p.last, p.output = tool, m.Text, p.output[:0]
	return p.events.Call(at, "", tool, args)
}

// callOf returns the tool and the arguments of a call. The text is JSON, or the command.
func callOf(kind, text string) (tool string, args json.RawMessage) {
	args = ingest.Arguments(jsontext.Value(ingest.Text(text)))
	m := ingest.MembersOf(string(args))
	switch kind {
	case "command":
		return "execute_command", append(append(json.RawMessage(`{"command":`), ingest.Text(text)...), '}')
	case "use_mcp_server":
		if name := ingest.UnquoteText(m["toolName"]); name != "" {
			return ingest.UnquoteText(m["serverName"]) + "/" + name, ingest.Arguments(m["arguments"])
		}
		return "access_mcp_resource", args
	case "tool":
		if name := ingest.UnquoteText(m["tool"]); name != "" {
			return name, args
		}
	case "browser_action_launch":
		return "browser_action", args
	}
	return kind, args
}

// end sends the outcome of the open call: the outputs since it began, or an unknown result if there are none.
func (p *page) end(at ingest.Location, failed bool, reason string) error {
	if p.open == "" {
		return nil
	}
	var output json.RawMessage
	if len(p.output) > 0 {
		output = ingest.Text(strings.Join(p.output, "\n"))
	}
	tool := p.open
	p.open, p.output = "", p.output[:0]
	return p.events.Result(at, "", tool, output, failed, reason)
}
