// Package codex reads the rollouts that Codex writes under ~/.codex/sessions, JSON Lines of {timestamp, type, payload}. The
// lines are two interleaved logs: response_item is the history of the model, and event_msg is what the display shows. Rollouts
// from before September 2025 have the items without an envelope, after a first line with the id.
//
// An event's Index counts the non-blank lines, from 0. The run is the id of the first session_meta. In a fork, the session_meta
// of its parent follows.
//
// Special cases:
//
//   - Messages are in both logs. Only the items are read.
//   - The result of a tool is in both logs, too. The item is the result as the model saw it. The display's event with the
//     same call id may have the exit status. They arrive in either order, so an outcome is held until the next message, call
//     or usage. If there is only an event, for a call in the items, it is the outcome at the end of the turn. Events of
//     other calls, which are the user's own commands and those inside a script, are skipped.
//   - Lines about a command (exit code, wall time, the id of a chunk, which is always new) precede its output, or JSON
//     contains both. The output without these lines is the result, because otherwise no two results would be equal. A call
//     whose exit code is not 0 failed.
//   - token_count repeats the session's total. Its increase is the usage of the previous model call. That event follows the
//     model's message, because no earlier line has the usage.
//   - compacted contains a history that replaces the previous one. It is not read, because the compacted steps still
//     happened. For the same reason, thread_rolled_back removes nothing.
//   - The program inserts some messages of role user: see ingest.IsInserted. They begin no turn. Messages of role developer are all
//     inserted and are skipped.
package codex

import (
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop/internal/ingest"
)

// Format is the format of rollouts.
func Format() ingest.Format {
	return ingest.Format{
		Name:   "codex",
		Title:  "Codex rollout (~/.codex/sessions/…/rollout-*.jsonl)",
		Sniff:  sniff,
		Decode: decode,
		Whole:  true,
		Grows:  true,
	}
}

func sniff(head []byte) bool {
	m, list := ingest.Members(head)
	if list {
		return false
	}
	_, wrapped := m["payload"]
	switch m["type"] {
	case "session_meta", "turn_context", "response_item", "event_msg", "compacted":
		return wrapped
	case "": // before there was an envelope
		_, instructed := m["instructions"]
		return instructed && m["id"] != "" && m["timestamp"] != ""
	}
	return false
}

// decoder holds what later lines need to know of earlier ones, among it a few words for each call.
type decoder struct {
	in    *ingest.Input
	emit  ingest.Emit
	trail *ingest.EventBuilder
	named bool // the run has its id from the input
	index int  // of the line at hand

	model string // of the turn
	usage usage  // latest totals
	calls map[string]*call
	held  []*outcome // not sent yet, in order
}

func decode(in *ingest.Input, emit ingest.Emit) error {
	d := &decoder{
		in: in, emit: emit, trail: ingest.NewEventBuilder(in.Run, emit), index: -1, calls: make(map[string]*call),
	}
	if err := in.EachLine(d.line); err != nil {
		return err
	}
	return d.flushAll()
}

func (d *decoder) line(line ingest.Line) error {
	d.index++
	var l struct {
		Time    jsontext.Value `json:"timestamp"`
		Type    string         `json:"type"`
		ID      jsontext.Value `json:"id"`
		Payload jsontext.Value `json:"payload"`
	}
	if err := d.in.Unmarshal(line.Number, line.Bytes, &l); err != nil {
		return err
	}
	p := part{d: d, line: line.Number, field: "payload", data: l.Payload}
	at := ingest.Location{Index: d.index, Time: ingest.Time(l.Time)}
	switch l.Type {
	case "":
		d.name(ingest.UnquoteText(l.ID))
	case "session_meta":
		return d.sessionMeta(p)
	case "turn_context":
		return d.turnContext(p)
	case "response_item":
		return d.item(at, p)
	case "event_msg":
		return d.event(at, p)
	default:
		if l.Payload.Kind() == 0 { // no envelope: the line is the item
			p.field, p.data = "", line.Bytes
			return d.item(at, p)
		}
	}
	return nil
}

// name gives the run the first id in the input.
func (d *decoder) name(id string) {
	if id != "" && !d.named {
		d.trail, d.named = ingest.NewEventBuilder(id, d.emit), true
	}
}

func (d *decoder) sessionMeta(p part) error {
	var meta struct {
		ID string `json:"id"`
	}
	if err := p.read(&meta); err != nil {
		return err
	}
	d.name(meta.ID)
	return nil
}

func (d *decoder) turnContext(p part) error {
	var turn struct {
		Model string `json:"model"`
	}
	if err := p.read(&turn); err != nil {
		return err
	}
	if turn.Model != "" {
		d.model = turn.Model
	}
	return nil
}

// part is a part of a line with its path in the line.
type part struct {
	d     *decoder
	line  int
	field string
	data  jsontext.Value
}

// read reads the part into v. A mistake is a *BadInput with its path in the line.
func (p part) read(v any) error {
	if len(p.data) == 0 {
		return p.d.in.Bad(p.line, p.field, "missing")
	}
	err := p.d.in.Unmarshal(p.line, p.data, v)
	var bad *ingest.BadInput
	if errors.As(err, &bad) && p.field != "" {
		if bad.Field != "" {
			bad.Field = "." + bad.Field
		}
		bad.Field = p.field + bad.Field
	}
	return err
}

// kind returns the part's type.
func (p part) kind() (string, error) {
	var kind struct {
		Type string `json:"type"`
	}
	err := p.read(&kind)
	return kind.Type, err
}
