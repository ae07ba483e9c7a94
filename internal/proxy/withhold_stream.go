package proxy

import (
	"bytes"
	"io"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// withholdStream is a stream of the Messages API or of Gemini without its blocked calls. A call is held back until it is complete; all else
// passes at once. A text takes the place of a blocked call, so that the numbers of blocks stay. The first call always passes, because the
// proxy does not know yet whether another one follows. The streams of OpenAI's APIs number their calls without gaps, and a client gets
// the number before the call is complete; calls in them are not taken out.
type withholdStream struct {
	body    io.ReadCloser
	trial   *trial
	blocked func(*withheld)

	chunk   []byte // what Read reads into
	in      []byte // the beginning of an event
	held    []byte // the events of a call that is not complete
	out     []byte // what Read returns next
	calls   int
	open    *streamedCall // nil outside of calls
	through bool          // an event is too long; all passes
	err     error         // of the body
}

// streamedCall is a call as far as it was streamed.
type streamedCall struct {
	Type  string         `json:"type"`
	ID    string         `json:"id"`
	Name  string         `json:"name"`
	Input jsontext.Value `json:"input"`

	index int
	json  []byte // pieces of the input
}

func newWithholdStream(body io.ReadCloser, t *trial, blocked func(*withheld)) *withholdStream {
	return &withholdStream{body: body, trial: t, blocked: blocked, chunk: make([]byte, 32<<10)}
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
		if w.err = err; err != nil || len(w.in)+len(w.held) > maxLine {
			w.through = true
		}
		if w.through {
			w.out = append(append(w.out, w.held...), w.in...)
			w.held, w.in = nil, nil
		}
	}
	n := copy(p, w.out)
	w.out = w.out[n:]
	return n, nil
}

// split takes the complete events.
func (w *withholdStream) split() {
	for !w.through {
		end := eventEnd(w.in)
		if end < 0 {
			return
		}
		if _, chunks := w.trial.api.(gemini); chunks {
			w.out = append(w.out, w.withoutCalls(w.in[:end])...)
		} else {
			w.take(w.in[:end])
		}
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

// withoutCalls returns an event of Gemini, whose calls are complete, without the blocked ones.
func (w *withholdStream) withoutCalls(event []byte) []byte {
	data, ok := bytes.CutPrefix(event, []byte("data:"))
	line, rest, _ := bytes.Cut(data, []byte{'\n'})
	if !ok || len(bytes.TrimSpace(rest)) > 0 {
		return event
	}
	var taken []*withheld
	changed, err := change(bytes.TrimSpace(line), w.trial.api.calls(), func(list jsontext.Value) (jsontext.Value, error) {
		var parts []jsontext.Value
		if err := jsonv2.Unmarshal(list, &parts, lenient); err != nil {
			return nil, err
		}
		for k, part := range parts {
			item := w.trial.api.asItem(part)
			if item == nil {
				continue
			}
			w.calls++
			if call := w.trial.blocked(item); call != nil && w.calls > 1 {
				taken = append(taken, call)
				parts[k] = w.trial.api.instead(call.text)
			}
		}
		return jsonv2.Marshal(parts, lenient)
	})
	if err != nil || len(taken) == 0 {
		return event
	}
	for _, call := range taken {
		w.blocked(call)
	}
	return slices.Concat([]byte("data: "), changed, []byte("\r\n\r\n"))
}

// take reads an event of the Messages API.
func (w *withholdStream) take(event []byte) {
	var e struct {
		Type  string        `json:"type"`
		Index int           `json:"index"`
		Block *streamedCall `json:"content_block"`
		Delta struct {
			JSON string `json:"partial_json"`
		} `json:"delta"`
	}
	for line := range bytes.Lines(event) {
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok && jsonv2.Unmarshal(data, &e, lenient) != nil {
			e.Type = "" // it passes
		}
	}
	if e.Type == "content_block_start" && e.Block != nil && e.Block.Type == "tool_use" && w.open == nil {
		w.calls++
		w.open = e.Block
		w.open.index = e.Index
	}
	if w.open == nil || w.calls == 1 {
		w.out = append(w.out, event...)
	} else {
		w.held = append(w.held, event...)
	}
	if w.open == nil || w.open.index != e.Index {
		return
	}
	switch e.Type {
	case "content_block_delta":
		w.open.json = append(w.open.json, e.Delta.JSON...)
	case "content_block_stop":
		w.complete()
	}
}

// complete judges the open call.
func (w *withholdStream) complete() {
	c, held := w.open, w.held
	w.open, w.held = nil, nil
	if jsontext.Value(c.json).IsValid() {
		c.Input = c.json
	}
	block, err := jsonv2.Marshal(c, lenient)
	var call *withheld
	if err == nil {
		call = w.trial.blocked(w.trial.api.asItem(block))
	}
	if call == nil || w.calls == 1 {
		w.out = append(w.out, held...)
		return
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
	w.out = append(w.out, s.b.Bytes()...)
}
