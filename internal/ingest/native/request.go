package native

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

// Limits are the limits of a request.
type Limits struct {
	Events int // in one request
	Levels int // of nested objects and arrays in an event, its own object included
	Name   int // bytes of an id, or of a name of anything

	// Shorten and ShortenID return a name or an id of at most most bytes. They are called for names and ids that are longer than
	// Name.
	Shorten, ShortenID func(text string, most int) string
}

// Request is the decoded body of a request.
type Request struct {
	Items []Item
	Bad   []Refusal // in the order of the request
	Cut   []Refusal // fields of Items that were shortened, in the order of the request
	One   bool      // it is one object and not a list

	Unknown []Unknown // names without effect, each once, at most maxUnknown
}

// Item is an event, which shares no memory with the request. Its Index is its position in the request.
type Item struct {
	Event   *unloop.Event
	Project string // of its run; "" if the sender does not name one
}

// Unknown is an unknown name, and the position of its first event in the request, from 0.
type Unknown struct {
	ingest.Unknown
	Index int
}

// Field returns the field of the event at which the name is.
func (u Unknown) Field() string {
	switch u.Kind {
	case "event type":
		return "type"
	case "field of usage":
		return "usage." + u.Name
	}
	return u.Name
}

// maxUnknown is the maximum number of unknown names that are reported for one request.
const maxUnknown = 16

// Refusal is the error of one event of a request.
type Refusal struct {
	Index  int    // position in the request, from 0
	Field  string // "" for the whole event
	Reason string
}

// ReadRequest reads the body of a request: one event, an array of events, or, if lines is set or the body looks like it, one
// event per line. An invalid event does not affect the others if its end can be found. The error is a *ingest.BadInput for a body
// of another kind or with too many events. It reads about 0.3 GB/s.
func ReadRequest(body []byte, lines bool, l Limits) (*Request, error) {
	r := reader{limits: l, in: &ingest.Input{Name: "body"}, names: make(map[string]string)}
	r.take = r.member
	r.unknown = r.addUnknown
	r.scanner.data = body
	first := r.scanner.space()
	switch {
	case first == 0:
		return nil, r.in.Bad(0, "", "the body is empty")
	case lines || first == '{' && severalLines(body):
		return r.lines()
	case first == '[':
		if !r.scanner.array(2, r.element) {
			return nil, r.broken()
		}
	case first == '{':
		r.One = true
		if !r.element() {
			return nil, r.broken()
		}
	default:
		return nil, r.in.Bad(0, "", "want a JSON object, an array of objects, or one object per line")
	}
	if r.scanner.space() != 0 {
		r.scanner.fail("there is data after the JSON")
		return nil, r.broken()
	}
	return &r.Request, nil
}

// severalLines reports whether the first non-blank line looks like a whole object that is followed by another. Within an object,
// only a comma or the end of a list or an object follows a line that ends with a brace.
func severalLines(body []byte) bool {
	line, rest, _ := bytes.Cut(bytes.TrimLeft(body, " \t\r\n"), []byte("\n"))
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return bytes.HasSuffix(bytes.TrimRight(line, " \t\r"), []byte("}")) && len(rest) > 0 && bytes.IndexByte([]byte(",}]"), rest[0]) < 0
}

// reader reads one request.
type reader struct {
	Request
	limits  Limits
	in      *ingest.Input
	scanner scanner
	names   map[string]string // recurring strings
	take    func(name, value []byte)
	unknown func(ingest.Unknown)

	d      decoder // decodes the current event
	field  string  // the invalid field
	reason string
	index  int
}

func (r *reader) lines() (*Request, error) {
	body := r.scanner.data
	for len(body) > 0 {
		line, rest, _ := bytes.Cut(body, []byte("\n"))
		body = rest
		r.scanner = scanner{data: line}
		if r.scanner.space() == 0 {
			continue
		}
		if r.index >= r.limits.Events {
			return nil, r.tooMany()
		}
		if bad := len(r.Bad); !r.element() || r.scanner.space() != 0 {
			r.scanner.fail("there is data after the JSON object")
			r.drop(bad)
			r.Bad = append(r.Bad, Refusal{r.index - 1, "", r.syntax()})
		}
	}
	return &r.Request, nil
}

// drop removes the last element, whose line turned out to be invalid.
func (r *reader) drop(bad int) {
	r.Bad = r.Bad[:bad]
	if n := len(r.Items); n > 0 && r.Items[n-1].Event.Index == r.index-1 {
		r.Items = r.Items[:n-1]
		r.Cut = slices.DeleteFunc(r.Cut, func(c Refusal) bool { return c.Index == r.index-1 })
	}
}

// element reads one event. It reports whether the JSON is complete.
func (r *reader) element() bool {
	if r.index >= r.limits.Events {
		return r.scanner.fail("")
	}
	r.index++
	if c := r.scanner.space(); c != '{' {
		begin := r.scanner.at
		if !r.scanner.value(r.limits.Levels) {
			return false
		}
		r.Bad = append(r.Bad, Refusal{r.index - 1, "", "got a JSON " + kindOf(r.scanner.data[begin]) + ", want an event"})
		return true
	}
	r.d = decoder{names: r.names, unknown: r.unknown, event: unloop.Event{Index: r.index - 1}}
	r.field, r.reason = "", ""
	if !r.scanner.object(r.limits.Levels, r.take) {
		return false
	}
	r.keep()
	return true
}

func (r *reader) member(name, value []byte) {
	if !r.d.member(name, value) && r.reason == "" {
		r.field, r.reason = string(name), "a JSON "+kindOf(value[0])+" does not fit here, want "+wanted(string(name))
		if r.d.invalidTime {
			r.reason = wantTime
		}
	}
}

// keep adds the event that was read, or rejects it.
func (r *reader) keep() {
	e := &r.d.event
	if r.reason == "" {
		r.field, r.reason = r.mistake(e)
	}
	if r.reason != "" {
		r.Bad = append(r.Bad, Refusal{e.Index, r.field, r.reason})
		return
	}
	r.shorten(e)
	kept := new(unloop.Event)
	*kept = *e
	own(kept)
	r.Items = append(r.Items, Item{kept, r.d.project})
}

func (r *reader) addUnknown(u ingest.Unknown) {
	known := slices.ContainsFunc(r.Unknown, func(o Unknown) bool { return o.Kind == u.Kind && o.Name == u.Name })
	if !known && len(r.Unknown) < maxUnknown {
		r.Unknown = append(r.Unknown, Unknown{u, r.index - 1})
	}
}

// own copies the memory that an event shares with the request, as valid UTF-8.
func own(e *unloop.Event) {
	if e.Latency != nil {
		ms := *e.Latency
		e.Latency = &ms
	}
	n := len(e.Input) + len(e.Output) + len(e.Error) + len(e.Metadata)
	if n == 0 {
		return
	}
	memory := make([]byte, 0, n)
	for _, part := range [...]*json.RawMessage{&e.Input, &e.Output, &e.Error, &e.Metadata} {
		if *part != nil {
			begin := len(memory)
			memory = append(memory, *part...)
			*part = memory[begin:len(memory):len(memory)]
			if !utf8.Valid(*part) {
				*part = bytes.ToValidUTF8(*part, []byte("\ufffd"))
			}
		}
	}
}

// firstTime and lastTime are the years that nanoseconds since 1970 can represent.
const firstTime, lastTime = 1678, 2261

// mistake returns the error of an event whose members have the right types.
func (r *reader) mistake(e *unloop.Event) (field, reason string) {
	switch year := e.Time.Year(); {
	case e.RunID == "":
		return "run_id", "an event needs the id of its run"
	case e.Type == "":
		return "type", "an event needs a type"
	case !e.Time.IsZero() && (year < firstTime || year > lastTime):
		return "timestamp", fmt.Sprintf("the time is not between the years %d and %d", firstTime, lastTime)
	case e.Tokens < 0:
		return "tokens", "must not be negative"
	case e.Usage != nil && min(e.Usage.Input, e.Usage.Output, e.Usage.CachedInput, e.Usage.CacheWrite, e.Usage.Reasoning) < 0:
		return "usage", "must not be negative"
	case e.Cost < 0:
		return "cost", "must not be negative"
	case e.Latency != nil && *e.Latency < 0:
		return "latency_ms", "must not be negative"
	case len(e.Metadata) > 0 && e.Metadata[0] != '{':
		return "metadata", "want an object"
	}
	return "", ""
}

// shorten cuts ids and names that are too long, and records which. It also replaces characters that databases cannot store.
func (r *reader) shorten(e *unloop.Event) {
	for _, f := range [...]struct {
		name string
		text *string
		isID bool
	}{
		{"event_id", &e.ID, true},
		{"run_id", &e.RunID, true},
		{"project", &r.d.project, false},
		{"type", (*string)(&e.Type), false},
		{"agent", &e.Agent, false},
		{"name", &e.Name, false},
		{"status", &e.Status, false},
		{"model", &e.Model, false},
		{"tool", &e.Tool, false},
		{"call_id", &e.CallID, true},
		{"role", &e.Role, false},
		{"parent_event_id", &e.ParentEventID, true},
		{"span_id", &e.SpanID, true},
		{"trace_id", &e.TraceID, true},
	} {
		if *f.text == "" {
			continue
		}
		if strings.IndexByte(*f.text, 0) >= 0 {
			*f.text = strings.ReplaceAll(*f.text, "\x00", "\ufffd")
		}
		if had := len(*f.text); had > r.limits.Name {
			shorten := r.limits.Shorten
			if f.isID {
				shorten = r.limits.ShortenID
			}
			*f.text = shorten(*f.text, r.limits.Name)
			r.Cut = append(r.Cut, Refusal{e.Index, f.name, fmt.Sprintf("shortened from %d bytes to %d", had, len(*f.text))})
		}
	}
}

// broken returns the error of a body that is not complete JSON.
func (r *reader) broken() error {
	if r.index >= r.limits.Events && r.scanner.fault == "" {
		return r.tooMany()
	}
	field := ""
	if !r.One && r.index > 0 {
		field = strconv.Itoa(r.index - 1)
	}
	return r.in.Bad(0, field, r.syntax())
}

func (r *reader) syntax() string {
	return fmt.Sprintf("not valid JSON at byte %d: %s", r.scanner.at, r.scanner.fault)
}

func (r *reader) tooMany() error {
	return r.in.Bad(0, "", fmt.Sprintf("more than %d events in one request", r.limits.Events))
}

func kindOf(first byte) string {
	switch first {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}
