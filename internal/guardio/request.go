package guardio

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/names"
)

// ops are the operations, in the order in which an error lists them.
var ops = []string{"before", "after", "text", "user", "progress", "allow", "control", "state", "stats", "reset", "snapshot", "restore"}

// acts are the orders of people. A pause is not among them, because the client does the waiting.
var acts = []string{unloop.ControlNudge, unloop.ControlHalt, unloop.ControlResume, "allow"}

// mistake is the error of a request.
type mistake struct{ Code, Message string }

// request is a line. Its raw JSON shares the memory of the line.
type request struct {
	id                                                   []byte // as sent; nil for none
	op, run, worker, agent, tool, role, text, act, order string
	args, result, failure, snapshot                      json.RawMessage // nil if absent; failure is a string
	hints                                                *unloop.ToolHints
	took                                                 time.Duration
	bad                                                  *mistake // the first error
}

// parser reads requests. It reuses its memory.
type parser struct {
	dec    *jsontext.Decoder
	buffer bytes.Buffer
}

// parse reads a line. An error is in q.bad. The id is set even then, if it could be read.
func (p *parser) parse(line []byte, q *request) {
	*q = request{}
	if err := p.members(line, q); err != nil {
		q.bad = &mistake{"bad_json", whyBad(err)}
		return
	}
	q.check()
}

// errNoObject means that a line is JSON, but not an object.
var errNoObject = errors.New("it is not an object")

// errMore means that there is data after the object.
var errMore = errors.New("there is data after the object")

// members reads the members of the object in line. It accepts duplicate names and invalid UTF-8, so that they do not leave an
// agent without its guard.
func (p *parser) members(line []byte, q *request) error {
	if p.dec == nil {
		p.dec = jsontext.NewDecoder(&p.buffer)
	}
	p.buffer = *bytes.NewBuffer(line)
	p.dec.Reset(&p.buffer, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if p.dec.PeekKind() != '{' {
		if _, err := p.dec.ReadValue(); err != nil {
			return err
		}
		return errNoObject
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return err
	}
	for p.dec.PeekKind() == '"' {
		name, err := p.value(line)
		if err != nil {
			return err
		}
		value, err := p.value(line)
		if err != nil {
			return err
		}
		q.take(name, value)
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return err
	}
	if _, err := p.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return errMore
	}
	return nil
}

// value reads a value and returns its part of the line.
func (p *parser) value(line []byte) ([]byte, error) {
	v, err := p.dec.ReadValue()
	if err != nil {
		return nil, err
	}
	end := int(p.dec.InputOffset())
	return line[end-len(v) : end], nil
}

func whyBad(err error) string {
	const wanted = "want one JSON object per line: "
	var syntax *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.EOF):
		return wanted + "the line is empty"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return wanted + "the line is incomplete"
	case errors.As(err, &syntax) && syntax.Err != nil:
		return fmt.Sprintf("%sbyte %d: %v", wanted, syntax.ByteOffset, syntax.Err)
	}
	return wanted + err.Error()
}

// take reads a member. It ignores unknown members.
func (q *request) take(name, value []byte) {
	if bytes.IndexByte(name, '\\') >= 0 {
		name, _ = jsontext.AppendQuote(nil, unquote(name)) // without escapes
	}
	switch string(name[1 : len(name)-1]) {
	case "id":
		q.setID(value)
	case "op":
		q.op = q.name("op", value)
	case "run":
		q.run = q.short("run", value)
	case "worker":
		q.worker = q.short("worker", value)
	case "agent":
		q.agent = names.Shorten(q.name("agent", value), names.Max)
	case "tool":
		q.tool = names.Shorten(q.name("tool", value), names.Max)
	case "role":
		q.role = q.name("role", value)
	case "text":
		q.text = q.name("text", value)
	case "act":
		q.act = q.name("act", value)
	case "order":
		q.order = q.short("order", value)
	case "args":
		q.args = arguments(value)
	case "result":
		q.result = value
	case "error":
		q.setError(value)
	case "snapshot":
		q.snapshot = value
	case "annotations":
		q.setHints(value)
	case "duration_ms":
		q.setDuration(value)
	}
}

// wrong records the first error of a field.
func (q *request) wrong(field, why string, args ...any) {
	if q.bad == nil {
		q.bad = &mistake{"bad_field", field + ": " + fmt.Sprintf(why, args...)}
	}
}

func (q *request) setID(value []byte) {
	q.id = nil
	if value[0] == 'n' {
		return
	}
	if len(value) > maxID {
		q.wrong("id", "it has %d bytes, want at most %d", len(value), maxID)
		return
	}
	q.id = bytes.ToValidUTF8(value, []byte("\ufffd"))
}

// name reads a string. null means absent.
func (q *request) name(field string, value []byte) string {
	switch jsontext.Kind(value[0]) {
	case '"':
		return unquote(value)
	case 'n':
		return ""
	}
	q.wrong(field, "want a string, not %s", kindName(value))
	return ""
}

// short reads a name with at most maxName bytes, because the process keeps many such names.
func (q *request) short(field string, value []byte) string {
	name := q.name(field, value)
	if len(name) > maxName {
		q.wrong(field, "it has %d bytes, want at most %d", len(name), maxName)
	}
	return name
}

func (q *request) setError(value []byte) {
	q.failure = nil
	if q.name("error", value); value[0] == '"' {
		q.failure = value
	}
}

func (q *request) setHints(value []byte) {
	q.hints = nil
	if value[0] == 'n' {
		return
	}
	hints := new(unloop.ToolHints)
	if value[0] != '{' || json.Unmarshal(value, hints) != nil {
		q.wrong("annotations", "want an object such as {\"readOnlyHint\":true}")
		return
	}
	q.hints = hints
}

func (q *request) setDuration(value []byte) {
	q.took = 0
	if value[0] == 'n' {
		return
	}
	const most = 1e12
	ms, err := strconv.ParseFloat(string(value), 64)
	if err != nil || ms < 0 || ms > most {
		q.wrong("duration_ms", "want a number of milliseconds from 0 to %.0f", most)
		return
	}
	q.took = time.Duration(ms * float64(time.Millisecond))
}

// check validates the members that the operation requires.
func (q *request) check() {
	if q.bad != nil {
		return
	}
	if q.role == "" {
		q.role = unloop.RoleAssistant
	}
	switch {
	case !slices.Contains(ops, q.op):
		q.bad = &mistake{"unknown_op", fmt.Sprintf("op: unknown operation %q; operations: %s", q.op, strings.Join(ops, ", "))}
	case q.tool == "" && (q.op == "before" || q.op == "after"):
		q.wrong("tool", "it is missing; want the name of the called tool")
	case q.op == "text" && !slices.Contains([]string{unloop.RoleAssistant, unloop.RoleUser, unloop.RoleSystem}, q.role):
		q.wrong("role", "invalid role %q: want assistant, user or system", q.role)
	case q.op == "control" && !slices.Contains(acts, q.act):
		q.wrong("act", "invalid act %q: want %s", q.act, strings.Join(acts, ", "))
	case q.op == "restore" && (q.snapshot == nil || q.snapshot[0] != '{'):
		q.wrong("snapshot", "want the object from the answer to a snapshot")
	}
}

// arguments returns the arguments of a call as the model sent them. Some APIs encode them as a string that contains an object;
// the result is then the object.
func arguments(value []byte) json.RawMessage {
	if !bytes.HasPrefix(value, []byte(`"{`)) {
		return value
	}
	inner := jsontext.Value(unquote(value))
	if !inner.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
		return value
	}
	return json.RawMessage(inner)
}

// unquote returns the text of a JSON string. Invalid UTF-8 is replaced.
func unquote(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') < 0 && isASCII(quoted) {
		return string(quoted[1 : len(quoted)-1])
	}
	text, _ := jsontext.AppendUnquote(nil, quoted) // the error only reports invalid UTF-8
	return string(text)
}

func isASCII(text []byte) bool {
	for _, b := range text {
		if b >= 0x80 {
			return false
		}
	}
	return true
}

func kindName(value []byte) string {
	switch jsontext.Value(value).Kind() {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '0':
		return "a number"
	case '"':
		return "a string"
	}
	return string(value)
}
