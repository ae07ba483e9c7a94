package proxy

import (
	"bytes"
	"io"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxHeld is how much of a stream is held back, in bytes: about half a minute of a model's answer. Clients wait longer for the next event.
const maxHeld = 512 << 10

// withholdStream is a stream without its blocked calls. From its first call on, a stream is held back until the answer ends: an answer
// keeps at least one call, and only then it is known whether that is another one.
type withholdStream struct {
	body    io.ReadCloser
	filter  callFilter // nil when all passes
	answer  *streamedAnswer
	blocked func(*withheld)

	chunk []byte // what Read reads into
	in    []byte // the beginning of an event
	held  []byte // the events that are held back
	out   []byte // what Read returns next
	err   error  // of the body
}

// callFilter takes the blocked calls out of a stream of an API.
type callFilter interface {
	// read reads the next event.
	read(event []byte)
	// without returns the events that are held back without the blocked calls.
	without(held []byte) []byte
}

// streamedAnswer is what is known of the calls in a stream, of any API.
type streamedAnswer struct {
	trial   *trial
	begun   bool         // a call has begun
	ended   bool         // all calls are complete
	invalid bool         // the stream cannot be understood, and all of it passes
	judged  map[int]bool // the numbers of the calls that are complete
	blocked map[int]*withheld
}

// judge judges the call with the number, which is complete. Two calls with one number are no valid stream: they would be taken out together.
func (a *streamedAnswer) judge(number int, item jsontext.Value, stays bool) {
	a.invalid = a.invalid || a.judged[number]
	a.judged[number] = true
	if call := a.trial.blocked(item); call != nil && !stays {
		a.blocked[number] = call
	}
}

func newWithholdStream(body io.ReadCloser, t *trial, blocked func(*withheld)) *withholdStream {
	answer := &streamedAnswer{trial: t, judged: make(map[int]bool), blocked: make(map[int]*withheld)}
	return &withholdStream{body: body, filter: t.api.filter(answer), answer: answer, blocked: blocked, chunk: make([]byte, 32<<10)}
}

func (w *withholdStream) Close() error { return w.body.Close() }

func (w *withholdStream) Read(p []byte) (int, error) {
	for len(w.out) == 0 {
		if w.err != nil {
			return 0, w.err
		}
		n, err := w.body.Read(w.chunk)
		w.in = append(w.in, w.chunk[:n]...)
		if bytes.IndexByte(w.chunk[:n], '\n') >= 0 { // an event ends with a line; a long line is not searched again for each of its pieces
			w.split()
		}
		if w.err = err; w.filter == nil || err != nil || len(w.held)+len(w.in) > maxHeld {
			w.out = slices.Concat(w.out, w.held, w.in)
			w.filter, w.held, w.in = nil, nil, nil
		}
	}
	n := copy(p, w.out)
	w.out = w.out[n:]
	return n, nil
}

// split takes the complete events.
func (w *withholdStream) split() {
	for w.filter != nil {
		end := eventEnd(w.in)
		if end < 0 {
			return
		}
		event := w.in[:end]
		w.in = w.in[end:]
		w.filter.read(event)
		if !w.answer.begun {
			w.out = append(w.out, event...)
			continue
		}
		w.held = append(w.held, event...)
		if w.answer.ended || w.answer.invalid {
			w.release()
		}
	}
}

// release lets the events pass that are held back, without the blocked calls as long as one call remains. All further events pass.
func (w *withholdStream) release() {
	if n := len(w.answer.blocked); n > 0 && n < len(w.answer.judged) && !w.answer.invalid {
		w.held = w.filter.without(w.held)
		for _, call := range w.answer.blocked {
			w.blocked(call)
		}
	}
	w.filter = nil
}

// eventEnd returns the offset behind the first event, and -1 if it is not complete.
func eventEnd(data []byte) int {
	for from := 0; ; {
		n := bytes.IndexByte(data[from:], '\n')
		if n < 0 {
			return -1
		}
		line := bytes.TrimSuffix(data[from:from+n], []byte("\r"))
		if from += n + 1; len(line) == 0 {
			return from
		}
	}
}

// eachEvent calls do with each of the events.
func eachEvent(events []byte, do func(event []byte)) {
	for len(events) > 0 {
		end := eventEnd(events)
		do(events[:end])
		events = events[end:]
	}
}

// eventData returns the data of an event, if that is one line, and what precedes and follows it.
func eventData(event []byte) (before, data, after []byte, ok bool) {
	at := 0
	for line := range bytes.Lines(event) {
		rest, is := bytes.CutPrefix(line, []byte("data:"))
		if is && ok {
			return nil, nil, nil, false
		}
		if is {
			trimmed := bytes.TrimSpace(rest)
			from := at + len("data:") + bytes.Index(rest, trimmed)
			before, data, after, ok = event[:from], trimmed, event[from+len(trimmed):], true
		}
		at += len(line)
	}
	return before, data, after, ok
}

// decodeEvent decodes the data of an event, and reports whether it could.
func decodeEvent(event []byte, to any) bool {
	_, data, _, ok := eventData(event)
	return ok && jsonv2.Unmarshal(data, to, lenient) == nil
}

// changeEvent returns an event with other data, and the same event if the change fails.
func changeEvent(event []byte, path []string, to func(jsontext.Value) (jsontext.Value, error)) []byte {
	before, data, after, ok := eventData(event)
	if !ok {
		return event
	}
	changed, err := change(data, path, to)
	if err != nil {
		return event
	}
	return slices.Concat(before, changed, after)
}
