// Package codex reads the rollouts that Codex writes under ~/.codex/sessions, JSON Lines of {timestamp, type, payload}.
// The lines are two logs in one: response_item is what the model said and was told, event_msg is what the display
// shows. Rollouts from before September 2025 have the items without an envelope, after a first line with the id.
//
// An event's Index counts the lines that are not blank, from 0. The run is the id of the first session_meta; a fork has
// its parent's behind it.
//
// Special cases:
//
//   - Messages stand in both logs; only the items are read.
//   - A tool's result stands in both logs too. The item is the result, as the model saw it, and the display's event of
//     the same call id may tell the exit status. They come in either order, so that an outcome is held until the next
//     message, call or usage is told. An event alone, of a call that the items know, is the outcome at the turn's end.
//     Events of calls that the items do not know, the user's own commands and those inside a script, are skipped.
//   - What a command printed stands behind lines about it (exit code, wall time, a chunk's id, which is new each time)
//     or in JSON beside them. The output is what was printed, for else no two results were equal; a call whose exit
//     code is not 0 failed.
//   - token_count repeats the session's total. What it has grown is the usage of the model call before it: that event
//     follows what the model said, since nothing tells the usage earlier.
//   - compacted holds a history that replaces the one before it. It is not read: what was compacted happened all the
//     same. Nor does thread_rolled_back take anything back.
//   - Some messages of role user are put in by the program: see ingest.IsInserted. They begin no turn. Messages of role
//     developer are all put in and are skipped.
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
	usage usage  // as told last
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

// name gives the run the first id that the input tells.
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

// part is a part of a line, and where in the line it stands.
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
