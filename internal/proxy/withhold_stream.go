package proxy

import (
	"bytes"
	"io"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// withholdStream is a stream without its blocked calls. A call is held back until it is complete; all else passes at once. The first call
// always passes, because the proxy does not know yet whether another one follows.
type withholdStream struct {
	body  io.ReadCloser
	calls callFilter

	chunk   []byte // what Read reads into
	in      []byte // the beginning of an event
	out     []byte // what Read returns next
	through bool   // all passes
	err     error  // of the body
}

// callFilter takes the blocked calls out of a stream of an API.
type callFilter interface {
	// take returns what passes of an event. The rest is held back.
	take(event []byte) []byte
	// held returns the events that are held back.
	held() []byte
	// broken reports whether the stream cannot be understood. All of it passes then.
	broken() bool
}

// holding is what the streams of all APIs keep.
type holding struct {
	trial   *trial
	blocked func(*withheld)
	calls   int    // how many have begun
	events  []byte // that are held back
	invalid bool
}

func (h *holding) held() []byte { return h.events }

func (h *holding) broken() bool { return h.invalid }

// release returns the events that are held back, and holds none.
func (h *holding) release() []byte {
	events := h.events
	h.events = nil
	return events
}

func newWithholdStream(body io.ReadCloser, t *trial, blocked func(*withheld)) *withholdStream {
	return &withholdStream{body: body, calls: t.api.filter(&holding{trial: t, blocked: blocked}), chunk: make([]byte, 32<<10)}
}

func (w *withholdStream) Close() error { return w.body.Close() }

func (w *withholdStream) Read(p []byte) (int, error) {
	for len(w.out) == 0 {
		if w.err != nil {
			return 0, w.err
		}
		n, err := w.body.Read(w.chunk)
		w.in = append(w.in, w.chunk[:n]...)
		w.split()
		if w.err = err; err != nil || len(w.in)+len(w.calls.held()) > maxLine || w.calls.broken() {
			w.through = true
		}
		if w.through {
			w.out = slices.Concat(w.out, w.calls.held(), w.in)
			w.calls, w.in = passing{}, nil
		}
	}
	n := copy(p, w.out)
	w.out = w.out[n:]
	return n, nil
}

// passing is a stream whose events pass.
type passing struct{}

func (passing) take(event []byte) []byte { return event }
func (passing) held() []byte             { return nil }
func (passing) broken() bool             { return false }

// split takes the complete events.
func (w *withholdStream) split() {
	for !w.through && !w.calls.broken() {
		end := eventEnd(w.in)
		if end < 0 {
			return
		}
		w.out = append(w.out, w.calls.take(w.in[:end])...)
		w.in = w.in[end:]
	}
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

// geminiCalls are the calls in a stream of Gemini. Each is complete.
type geminiCalls struct{ *holding }

func (gemini) filter(h *holding) callFilter { return geminiCalls{h} }

// take replaces the blocked calls of an event by texts.
func (g geminiCalls) take(event []byte) []byte {
	var blocked []*withheld
	changed := changeEvent(event, g.trial.api.calls(), func(list jsontext.Value) (jsontext.Value, error) {
		var parts []jsontext.Value
		if err := jsonv2.Unmarshal(list, &parts, lenient); err != nil {
			return nil, err
		}
		for k, part := range parts {
			item := g.trial.api.asItem(part)
			if item == nil {
				continue
			}
			g.calls++
			if call := g.trial.blocked(item); call != nil && g.calls > 1 {
				blocked = append(blocked, call)
				parts[k] = g.trial.api.instead(call.text)
			}
		}
		return jsonv2.Marshal(parts, lenient)
	})
	if len(blocked) == 0 {
		return event
	}
	for _, call := range blocked {
		g.blocked(call)
	}
	return changed
}

// blockCalls are the calls in a stream of the Messages API. A text takes the place of a blocked call, so that the numbers of blocks stay.
type blockCalls struct {
	*holding
	open *streamedBlock // nil outside of calls
}

func (anthropic) filter(h *holding) callFilter { return &blockCalls{holding: h} }

// streamedBlock is a call as far as it was streamed.
type streamedBlock struct {
	Type  string         `json:"type"`
	ID    string         `json:"id"`
	Name  string         `json:"name"`
	Input jsontext.Value `json:"input"`

	index int
	json  []byte // pieces of the input
}

func (w *blockCalls) take(event []byte) []byte {
	var e struct {
		Type  string         `json:"type"`
		Index int            `json:"index"`
		Block *streamedBlock `json:"content_block"`
		Delta struct {
			JSON string `json:"partial_json"`
		} `json:"delta"`
	}
	if _, data, _, ok := eventData(event); !ok || jsonv2.Unmarshal(data, &e, lenient) != nil {
		e.Type = "" // it passes
	}
	if e.Type == "content_block_start" && e.Block != nil && e.Block.Type == "tool_use" && w.open == nil {
		w.calls++
		w.open = e.Block
		w.open.index = e.Index
	}
	if w.open == nil {
		return event
	}
	var pass []byte
	if w.calls == 1 {
		pass = event
	} else {
		w.events = append(w.events, event...)
	}
	if w.open.index != e.Index {
		return pass
	}
	switch e.Type {
	case "content_block_delta":
		w.open.json = append(w.open.json, e.Delta.JSON...)
	case "content_block_stop":
		return append(pass, w.complete()...)
	}
	return pass
}

// complete judges the open call. It returns what passes of it.
func (w *blockCalls) complete() []byte {
	c, held := w.open, w.release()
	w.open = nil
	if jsontext.Value(c.json).IsValid() {
		c.Input = c.json
	}
	block, err := jsonv2.Marshal(c, lenient)
	var call *withheld
	if err == nil {
		call = w.trial.blocked(w.trial.api.asItem(block))
	}
	if call == nil || w.calls == 1 {
		return held
	}
	w.blocked(call)
	var s stream
	s.event("content_block_start", map[string]any{
		"type": "content_block_start", "index": c.index, "content_block": map[string]string{"type": "text", "text": ""},
	})
	s.event("content_block_delta", map[string]any{
		"type": "content_block_delta", "index": c.index, "delta": map[string]string{"type": "text_delta", "text": call.text},
	})
	s.event("content_block_stop", map[string]any{"type": "content_block_stop", "index": c.index})
	return s.b.Bytes()
}
