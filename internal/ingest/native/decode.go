// Package native reads unloop's own events as JSON Lines: one event per line, in the JSON form of unloop.Event. Events of several
// runs may be interleaved, late and duplicate. Index counts the events of the file, from 0.
package native

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

// Format describes the decoder.
func Format() ingest.Format {
	return ingest.Format{Name: "unloop", Title: "unloop events, JSON Lines", Sniff: sniff, Decode: decode, Grows: true}
}

// sniff requires a type as on the wire, and an id of the event or of the run.
func sniff(head []byte) bool {
	members, list := ingest.Members(head)
	if list {
		return false
	}
	_, run := members["run_id"]
	_, event := members["event_id"]
	_, payload := members["payload"]
	_, message := members["message"]
	return members["type"] != "" && (run || event) && !payload && !message
}

// decoder reuses its memory for each line.
type decoder struct {
	in      *ingest.Input
	event   unloop.Event
	project string // of the event's run; "" if the event names none
	latency float64
	names   map[string]string // recurring strings
	index   int

	invalidTime bool                 // the time of the event is a text that is no time
	unknown     func(ingest.Unknown) // takes unknown members and types; nil to take none
}

func decode(in *ingest.Input, emit ingest.Emit) error {
	d := decoder{in: in, names: make(map[string]string), unknown: in.Unknown}
	return in.EachLine(func(line ingest.Line) error {
		if err := d.read(line); err != nil {
			return err
		}
		if d.project != "" && in.Project != nil {
			in.Project(d.project)
		}
		return emit(&d.event)
	})
}

// wantTime is the error of a text that is no time.
const wantTime = "invalid time: want RFC 3339, or a number since 1970"

// wanted says which JSON value fits a field of an event that does not take all.
func wanted(field string) string {
	switch field {
	case "sequence", "tokens":
		return "a whole number"
	case "cost", "latency_ms":
		return "a finite number"
	case "usage", "annotations":
		return "an object"
	case "timestamp":
		return "a time"
	}
	return "a string"
}

func (d *decoder) read(line ingest.Line) error {
	d.event, d.project = unloop.Event{Index: d.index}, ""
	d.index++
	d.invalidTime = false
	err := d.in.Object(line.Number, line.Bytes, d.take)
	if d.invalidTime {
		return d.in.Bad(line.Number, "timestamp", wantTime)
	}
	if err != nil {
		return err
	}
	e := &d.event
	if e.Type == "" {
		return d.in.Bad(line.Number, "type", "an event needs a type")
	}
	if e.RunID == "" {
		e.RunID = d.in.Run
	}
	if e.ID == "" {
		e.ID = "#" + strconv.Itoa(e.Index)
	}
	return nil
}

// take reads one member of an event. If its value has the wrong type, it returns what fits.
func (d *decoder) take(name, value []byte) (want string) {
	if d.member(name, value) {
		return ""
	}
	return wanted(string(name))
}

// member reads one member of an event and reports whether its value has the right type. It ignores unknown members.
func (d *decoder) member(name, value []byte) bool {
	e := &d.event
	switch string(name) {
	case "event_id":
		return d.text(&e.ID, value, false)
	case "run_id":
		return d.text(&e.RunID, value, true)
	case "sequence":
		return integer(&e.Sequence, value)
	case "timestamp":
		e.Time = ingest.Time(value)
		ok := !e.Time.IsZero() || isNull(value)
		d.invalidTime = !ok && value[0] == '"'
		return ok
	case "type":
		ok := d.text((*string)(&e.Type), value, true)
		if e.Type != "" && !slices.Contains(eventTypes, string(e.Type)) {
			d.report("event type", string(e.Type), eventTypes)
		}
		return ok
	case "agent":
		return d.text(&e.Agent, value, true)
	case "name":
		return d.text(&e.Name, value, true)
	case "status":
		return d.text(&e.Status, value, true)
	case "model":
		return d.text(&e.Model, value, true)
	case "tool":
		return d.text(&e.Tool, value, true)
	case "call_id":
		return d.text(&e.CallID, value, false)
	case "role":
		return d.text(&e.Role, value, true)
	case "text":
		return d.text(&e.Text, value, false)
	case "parent_event_id":
		return d.text(&e.ParentEventID, value, false)
	case "span_id":
		return d.text(&e.SpanID, value, false)
	case "trace_id":
		return d.text(&e.TraceID, value, true)
	case "project":
		return d.text(&d.project, value, true)
	}
	return d.content(name, value)
}

// content reads the members with the arguments and the result of a call.
func (d *decoder) content(name, value []byte) bool {
	e := &d.event
	switch string(name) {
	case "input":
		e.Input = present(value)
	case "output":
		e.Output = value // null is a result without information
	case "error":
		e.Error = present(value)
	case "metadata":
		e.Metadata = present(value)
	case "tokens":
		return integer(&e.Tokens, value)
	case "cost":
		return number(&e.Cost, value)
	case "latency_ms":
		if isNull(value) {
			return true
		}
		e.Latency = &d.latency
		return number(&d.latency, value)
	case "usage":
		if !object(&e.Usage, value) {
			return false
		}
		d.checkUsage(value)
	case "annotations":
		return object(&e.Hints, value)
	default:
		if unknown := string(name); !slices.Contains(answerMembers, unknown) {
			d.report("field", unknown, fields)
		}
	}
	return true
}

// checkUsage reports the unknown members of usage.
func (d *decoder) checkUsage(value []byte) {
	if d.unknown == nil {
		return
	}
	Members(value, func(name, _ []byte) {
		if !slices.Contains(usageFields, string(name)) {
			d.report("field of usage", string(name), usageFields)
		}
	})
}

// report passes an unknown name on.
func (d *decoder) report(kind, name string, known []string) {
	if d.unknown != nil {
		d.unknown(ingest.Unknown{Kind: kind, Name: name, Known: known})
	}
}

// answerMembers are members that a server adds to the events that it returns. They may be sent back to it.
var answerMembers = []string{"content", "analysis", "notices", "warnings"}

// The names that the format defines.
var (
	fields = []string{
		"event_id", "run_id", "project", "sequence", "timestamp", "type", "agent", "name", "status", "model", "tool", "call_id", "role", "text",
		"parent_event_id", "span_id", "trace_id", "input", "output", "error", "metadata", "tokens", "cost", "latency_ms", "usage", "annotations",
	}
	usageFields = []string{"input_tokens", "output_tokens", "cached_input_tokens", "cache_write_tokens", "reasoning_tokens"}
	eventTypes  = ingest.EventTypes()
)

// object reads a small object into new memory.
func object[T any](to **T, value []byte) bool {
	if isNull(value) {
		return true
	}
	*to = new(T)
	return value[0] == '{' && jsonv2.Unmarshal(value, *to, lenient) == nil
}

// lenient are the options with which objects are read, the same as for their events.
var lenient = jsonv2.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

func isNull(value []byte) bool { return len(value) > 0 && value[0] == 'n' }

func present(value []byte) json.RawMessage {
	if isNull(value) {
		return nil
	}
	return value
}

// maxNames is the maximum number of recurring strings that are kept.
const maxNames = 4096

// text reads a string. Recurring strings are kept once.
func (d *decoder) text(to *string, value []byte, recurs bool) bool {
	if isNull(value) {
		return true
	}
	if len(value) < 2 || value[0] != '"' {
		return false
	}
	plain := value[1 : len(value)-1]
	if bytes.IndexByte(plain, '\\') >= 0 || !utf8.Valid(plain) {
		*to = ingest.UnquoteText(value)
		return true
	}
	if !recurs {
		*to = string(plain)
		return true
	}
	if known, ok := d.names[string(plain)]; ok {
		*to = known
		return true
	}
	*to = string(plain)
	if len(d.names) < maxNames {
		d.names[*to] = *to
	}
	return true
}

func integer(to *int64, value []byte) bool {
	if isNull(value) {
		return true
	}
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil {
		var f float64
		ok := number(&f, value)
		*to = int64(f)
		return ok && f == float64(*to)
	}
	*to = n
	return true
}

func number(to *float64, value []byte) bool {
	if isNull(value) {
		return true
	}
	n, err := strconv.ParseFloat(string(value), 64)
	*to = n
	return err == nil && jsontext.Value(value).Kind() == '0'
}
