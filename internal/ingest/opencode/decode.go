// Package opencode reads sessions as "opencode export" writes them: one JSON document with the session and its messages, each of which
// has parts. An Index counts the messages, from 0.
//
// A message of the assistant has one or more steps, each from a part "step-start" to a part "step-finish", which has the usage of the
// model call. A part "tool" is a call with its outcome.
//
// Traps: the usage of a message is that of its steps, so it counts only if it has none. Input tokens exclude cached ones, and output
// tokens exclude reasoning in newer versions; the total shows which. Texts that are synthetic were inserted by the program, and ignored
// ones the model did not see. A shell command that fails is "completed", with its exit code in the metadata. The sessions of sub-agents
// are exported separately.
package opencode

import (
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

// Format returns the format of exported sessions.
func Format() ingest.Format {
	return ingest.Format{
		Name:   "opencode",
		Title:  "opencode session (opencode export)",
		Sniff:  sniff,
		Decode: decode,
		Whole:  true,
	}
}

// sniff looks for the session, whose id begins with ses.
func sniff(head []byte) bool {
	members, list := ingest.Members(ingest.Member(head, "info"))
	return !list && strings.HasPrefix(members["id"], "ses")
}

type session struct {
	Info struct {
		ID string `json:"id"`
	} `json:"info"`
	Messages []message `json:"messages"`
}

type message struct {
	Info struct {
		Role  string `json:"role"`
		Agent string `json:"agent"`
		Model string `json:"modelID"`
		Time  struct {
			Created   jsontext.Value `json:"created"`
			Completed jsontext.Value `json:"completed"`
		} `json:"time"`
		Error  *failure `json:"error"`
		Cost   float64  `json:"cost"`
		Tokens *tokens  `json:"tokens"`
	} `json:"info"`
	Parts []part `json:"parts"`
}

type failure struct {
	Name string `json:"name"`
	Data struct {
		Message string `json:"message"`
	} `json:"data"`
}

func (f *failure) String() string {
	if f.Data.Message == "" {
		return f.Name
	}
	return f.Name + ": " + f.Data.Message
}

type tokens struct {
	Total     int64 `json:"total"`
	Input     int64 `json:"input"`
	Output    int64 `json:"output"`
	Reasoning int64 `json:"reasoning"`
	Cache     struct {
		Read  int64 `json:"read"`
		Write int64 `json:"write"`
	} `json:"cache"`
}

// part is a part of any type.
type part struct {
	Type string `json:"type"`

	Text      string `json:"text"` // of a text
	Synthetic bool   `json:"synthetic"`
	Ignored   bool   `json:"ignored"`

	Tool   string `json:"tool"` // of a call
	CallID string `json:"callID"`
	State  state  `json:"state"`

	Cost   float64 `json:"cost"` // of the end of a step
	Tokens *tokens `json:"tokens"`

	Error *failure `json:"error"` // of a retry
}

type state struct {
	Status   string         `json:"status"` // pending, running, completed or error
	Input    jsontext.Value `json:"input"`
	Output   jsontext.Value `json:"output"`
	Error    string         `json:"error"`
	Metadata struct {
		Exit jsontext.Value `json:"exit"` // of a shell; null if it was killed
	} `json:"metadata"`
	Time struct {
		Start jsontext.Value `json:"start"`
		End   jsontext.Value `json:"end"`
	} `json:"time"`
}

func decode(in *ingest.Input, emit ingest.Emit) error {
	var s session
	if err := in.UnmarshalDocument(&s); err != nil {
		return err
	}
	if s.Messages == nil {
		return in.Bad(0, "messages", "missing")
	}
	run := s.Info.ID
	if run == "" {
		run = in.Run
	}
	d := decoder{ingest.NewEventBuilder(run, emit)}
	for i := range s.Messages {
		m := &s.Messages[i]
		at := ingest.Location{Index: i, Time: ingest.Time(m.Info.Time.Created)}
		in.CheckRole(ingest.Path("messages", i)+".info", m.Info.Role, []string{"user", "assistant"})
		var err error
		switch m.Info.Role {
		case "user":
			err = d.user(at, m)
		case "assistant":
			at.Agent = m.Info.Agent
			err = d.assistant(at, m)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

type decoder struct{ events *ingest.EventBuilder }

// user sends the texts of the user, and those that the program inserted as messages of the system.
func (d decoder) user(at ingest.Location, m *message) error {
	for _, p := range m.Parts {
		if p.Type != "text" || p.Ignored || strings.TrimSpace(p.Text) == "" {
			continue
		}
		role := unloop.RoleUser
		if p.Synthetic {
			role = unloop.RoleSystem
		}
		if err := d.events.Message(at, role, p.Text); err != nil {
			return err
		}
	}
	return nil
}

// assistant sends the steps of a message: each model call, then its texts and calls.
func (d decoder) assistant(at ingest.Location, m *message) error {
	if !m.hasSteps() && m.Info.Tokens != nil && m.Info.Error == nil {
		if err := d.events.Model(at, m.Info.Tokens.usage(m.Info.Model, m.Info.Cost)); err != nil {
			return err
		}
	}
	for i, p := range m.Parts {
		if err := d.part(at, m, i, &p); err != nil {
			return err
		}
	}
	if m.Info.Error == nil {
		return nil
	}
	at.Time = timeOr(m.Info.Time.Completed, at.Time)
	if err := d.events.Add(at, &unloop.Event{Type: unloop.LLMCallStarted, Model: m.Info.Model}); err != nil {
		return err
	}
	return d.events.Add(at, &unloop.Event{Type: unloop.LLMCallFailed, Model: m.Info.Model, Error: ingest.Text(m.Info.Error.String())})
}

func (m *message) hasSteps() bool {
	for _, p := range m.Parts {
		if p.Type == "step-finish" {
			return true
		}
	}
	return false
}

func (d decoder) part(at ingest.Location, m *message, i int, p *part) error {
	switch p.Type {
	case "step-start":
		if end := stepEnd(m.Parts[i+1:]); end != nil && end.Tokens != nil {
			return d.events.Model(at, end.Tokens.usage(m.Info.Model, end.Cost))
		}
	case "text":
		if !p.Synthetic && !p.Ignored && strings.TrimSpace(p.Text) != "" {
			return d.events.Message(at, unloop.RoleAssistant, p.Text)
		}
	case "tool":
		return d.call(at, p)
	case "retry":
		e := &unloop.Event{Type: unloop.RetryTriggered}
		if p.Error != nil {
			e.Error = ingest.Text(p.Error.String())
		}
		return d.events.Add(at, e)
	}
	return nil
}

// stepEnd returns the end of the step that has begun before the parts, or nil if it has none.
func stepEnd(parts []part) *part {
	for i := range parts {
		switch parts[i].Type {
		case "step-finish":
			return &parts[i]
		case "step-start":
			return nil
		}
	}
	return nil
}

// call sends a call, and its outcome if it has ended.
func (d decoder) call(at ingest.Location, p *part) error {
	s := &p.State
	start, end := at, at
	start.Time, end.Time = timeOr(s.Time.Start, at.Time), timeOr(s.Time.End, at.Time)
	if err := d.events.Call(start, p.CallID, p.Tool, ingest.Arguments(s.Input)); err != nil {
		return err
	}
	switch s.Status {
	case "completed":
		exit := string(s.Metadata.Exit)
		failed := exit != "" && exit != "0" && exit != "null"
		return d.events.Result(end, p.CallID, p.Tool, ingest.Output(s.Output), failed, "")
	case "error":
		return d.events.Result(end, p.CallID, p.Tool, nil, true, s.Error)
	}
	return nil
}

func timeOr(v jsontext.Value, other time.Time) time.Time {
	if t := ingest.Time(v); !t.IsZero() {
		return t
	}
	return other
}

// usage returns the usage of a model call. An event's input includes cached tokens, and its output includes reasoning.
func (t *tokens) usage(model string, cost float64) ingest.Usage {
	input := t.Input + t.Cache.Read + t.Cache.Write
	output := t.Output
	if t.Total > input+output {
		output += t.Reasoning
	}
	return ingest.Usage{Model: model, Tokens: input + output, Cost: cost, Kinds: ingest.TokenKinds(unloop.Usage{
		Input: input, Output: output, CachedInput: t.Cache.Read, CacheWrite: t.Cache.Write, Reasoning: t.Reasoning,
	})}
}
