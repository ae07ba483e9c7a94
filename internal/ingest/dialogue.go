package ingest

import (
	"bytes"
	"errors"
	"hash/maphash"
	"iter"
	"strconv"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Dialogue is a conversation as clients of model APIs log it: each request contains all messages.
type Dialogue struct {
	Builder  *EventBuilder    // of the run
	Messages []jsontext.Value // all messages; the position of a message is its Index
	Emitted  int              // number of messages that earlier records contained and that were sent
	Record   jsontext.Value   // the record of the conversation; nil for a bare list
	Request  jsontext.Value   // the object with the member messages: Record, or its request; nil for a bare list

	in    *Input
	line  int
	field string // path of Messages
}

// Dialogues reads an input of conversations: a list of messages, an object with "messages" (or with "request" or "body" that
// contains them), a list of those, or JSON Lines of any. Each is a run. The function send sends the events and returns how many
// messages it has sent: all of them, and one more if the record contains the model's reply.
//
// If the messages of a record begin with all messages of the previous record, the record continues its run. A log of growing
// requests is therefore one run, and each message is sent once. Only the previous record is compared. If conversations alternate
// in a log, or a client changes earlier messages, each record is a run.
//
// The id of the run is the record's "run_id", "conversation_id" or "id"; without one it is Input.Run, with the suffix "#2" for
// the second run of the input and so on.
func (in *Input) Dialogues(emit Emit, send func(*Dialogue) (emitted int, err error)) error {
	l := &dialogues{in: in, emit: emit, send: send, seed: maphash.MakeSeed()}
	lines, err := in.inLines()
	if err != nil {
		return err
	}
	if lines {
		return in.EachLine(func(line Line) error { return l.value(line.Number, line.Bytes) })
	}
	document, err := in.Document()
	if err != nil {
		return err
	}
	return l.value(0, document)
}

// inLines reports whether the first line is a complete value, as far as head shows it.
func (in *Input) inLines() (bool, error) {
	head, err := in.Head()
	if err != nil {
		return false, err
	}
	first, _, found := bytes.Cut(bytes.TrimSpace(head), []byte("\n"))
	return !found || jsontext.Value(first).IsValid(lenient), nil
}

// Path returns the path of the message at position i.
func (d *Dialogue) Path(i int) string { return Path(d.field, i) }

// Message reads the message at position i into v. An error is a *BadInput.
func (d *Dialogue) Message(i int, v any) error { return d.Unmarshal(d.Path(i), d.Messages[i], v) }

// CheckRole reports the role of the message at position i if it is not known. A message that is null has none.
func (d *Dialogue) CheckRole(i int, role string, known []string) {
	if d.Messages[i].Kind() == '{' {
		d.in.CheckRole(d.Path(i), role, known)
	}
}

// Unmarshal reads value, whose path is path, into v. An error is a *BadInput.
func (d *Dialogue) Unmarshal(path string, value jsontext.Value, v any) error {
	return Under(path, d.in.Unmarshal(d.line, value, v))
}

// Blocks reads the content of the message at path.
func (d *Dialogue) Blocks(path string, content jsontext.Value) ([]Block, error) {
	return d.in.Blocks(d.line, join(path, "content"), content)
}

// Answers yields the objects that may contain the model's answer, each with its path: the record, its response, and the body of
// the response.
func (d *Dialogue) Answers() iter.Seq2[string, jsontext.Value] {
	return func(yield func(string, jsontext.Value) bool) {
		var record, response struct {
			Response jsontext.Value `json:"response"`
			Body     jsontext.Value `json:"body"`
		}
		if d.Record == nil || !yield("", d.Record) || jsonv2.Unmarshal(d.Record, &record, lenient) != nil {
			return
		}
		if record.Response.Kind() != '{' || !yield("response", record.Response) {
			return
		}
		if jsonv2.Unmarshal(record.Response, &response, lenient) == nil && response.Body.Kind() == '{' {
			yield("response.body", response.Body)
		}
	}
}

// dialogues is the state about the previous record.
type dialogues struct {
	in   *Input
	emit Emit
	send func(*Dialogue) (int, error)
	seed maphash.Seed

	runs    int
	run     string        // the last run's id
	events  *EventBuilder // of the last run
	emitted int           // messages of the last run

	id    recordID
	count int    // of the messages
	sum   uint64 // hash of the messages
}

// value reads a line, or the whole input if it is not in lines.
func (l *dialogues) value(line int, v jsontext.Value) error {
	if v.Kind() != '[' || isMessages(v) {
		return l.item(line, "", v)
	}
	var list []jsontext.Value
	if err := l.in.Unmarshal(line, v, &list); err != nil {
		return err
	}
	for i, item := range list {
		if err := l.item(line, strconv.Itoa(i), item); err != nil {
			return err
		}
	}
	return nil
}

func isMessages(list jsontext.Value) bool {
	members, _ := Members(list)
	_, role := members["role"]
	return role
}

// item reads a record or a bare list of messages. It ignores an item without messages.
func (l *dialogues) item(line int, field string, v jsontext.Value) error {
	d := &Dialogue{in: l.in, line: line, field: field}
	var id recordID
	list := v
	if v.Kind() != '[' {
		var err error
		d.Record = v
		if list, id, err = l.find(d); err != nil || list == nil {
			return err
		}
	}
	if err := l.in.Unmarshal(line, list, &d.Messages); err != nil {
		return Under(d.field, err)
	}
	return l.dialogue(d, id)
}

// find returns the messages of a record, and sets their path.
func (l *dialogues) find(d *Dialogue) (list jsontext.Value, id recordID, err error) {
	d.Request = d.Record
	for range 3 { // the record, its request, and the body of the request
		var r record
		if err := l.in.Unmarshal(d.line, d.Request, &r); err != nil {
			return nil, id, Under(d.field, err)
		}
		if id.text == "" {
			id = r.id()
		}
		name := ""
		switch {
		case r.Messages != nil:
			d.field = join(d.field, "messages")
			return r.Messages, id, nil
		case r.Request.Kind() == '{':
			d.Request, name = r.Request, "request"
		case r.Body.Kind() == '{':
			d.Request, name = r.Body, "body"
		default:
			return nil, id, nil
		}
		d.field = join(d.field, name)
	}
	return nil, id, nil
}

type record struct {
	Run          jsontext.Value `json:"run_id"`
	Conversation jsontext.Value `json:"conversation_id"`
	ID           jsontext.Value `json:"id"`
	Messages     jsontext.Value `json:"messages"`
	Request      jsontext.Value `json:"request"`
	Body         jsontext.Value `json:"body"`
}

type recordID struct {
	text  string
	ofRun bool // it is the id of the run, not only of the record
}

func (r *record) id() recordID {
	for _, v := range []jsontext.Value{r.Run, r.Conversation} {
		if text := UnquoteText(v); text != "" {
			return recordID{text, true}
		}
	}
	return recordID{UnquoteText(r.ID), false}
}

func (l *dialogues) dialogue(d *Dialogue, id recordID) error {
	if len(d.Messages) == 0 {
		return nil
	}
	before, sum := l.sums(d.Messages)
	if !l.goesOn(id, len(d.Messages), before) {
		l.begin(id)
	}
	d.Builder, d.Emitted = l.events, l.emitted
	l.id, l.count, l.sum = id, len(d.Messages), sum
	emitted, err := l.send(d)
	l.emitted = max(l.emitted, emitted)
	return err
}

func (l *dialogues) begin(id recordID) {
	l.runs++
	run, number := id.text, "#"+strconv.Itoa(l.runs)
	switch {
	case run == "" && l.runs == 1:
		run = l.in.Run
	case run == "":
		run = l.in.Run + number
	case run == l.run: // two conversations have the same id
		run += number
	}
	l.run, l.events, l.emitted = run, NewEventBuilder(run, l.emit), 0
}

// goesOn reports whether a record of count messages continues the last run. before is the hash of its first messages, as many as
// the last record had. The same messages with the same record id are a retry.
func (l *dialogues) goesOn(id recordID, count int, before uint64) bool {
	switch {
	case l.count == 0 || count < l.count || before != l.sum:
		return false
	case count == l.count:
		return id.text != "" && id == l.id
	}
	return !id.ofRun || !l.id.ofRun || id == l.id
}

// sums returns the hash of as many messages as the last record had, and of all.
func (l *dialogues) sums(messages []jsontext.Value) (before, all uint64) {
	var h maphash.Hash
	h.SetSeed(l.seed)
	var dec jsontext.Decoder
	for i, m := range messages {
		if i == l.count {
			before = h.Sum64()
		}
		dec.Reset(bytes.NewReader(m), lenient)
		sumMessage(&h, &dec)
	}
	if len(messages) == l.count {
		before = h.Sum64()
	}
	return before, h.Sum64()
}

// sumMessage adds a message to h, without cache_control. It marks the latest message of each request, so the next request does
// not have it.
func sumMessage(h *maphash.Hash, dec *jsontext.Decoder) {
	for {
		token, err := dec.ReadToken()
		if err != nil {
			return
		}
		kind, n := dec.StackIndex(dec.StackDepth())
		text := token.String()
		if text == "cache_control" && kind == '{' && n%2 == 1 {
			if dec.SkipValue() != nil {
				return
			}
			continue
		}
		h.WriteByte(byte(token.Kind()))
		h.WriteString(text)
		h.WriteByte(0)
	}
}

// Under prefixes the field of err, a *BadInput, with path.
func Under(path string, err error) error {
	var bad *BadInput
	if errors.As(err, &bad) {
		bad.Field = join(path, bad.Field)
	}
	return err
}

// Path returns the path of element i of the list at path.
func Path(path string, i int) string { return join(path, strconv.Itoa(i)) }

func join(path, field string) string {
	if path == "" || field == "" {
		return path + field
	}
	return path + "." + field
}
