package proxy

import (
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop/internal/ingest"
)

// chunkCalls are the calls in a stream of Chat Completions. All chunks from the second call on are held back until the answer ends, because
// the calls are numbered without gaps: a call behind a blocked one gets another number.
type chunkCalls struct {
	*holding
	open map[int]*chunkCall
	said bool // the answer has a text
}

// chunkCall is a call as far as it was streamed, or a piece of one.
type chunkCall struct {
	Index    int    `json:"index"`
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

func (chat) filter(h *holding) callFilter {
	return &chunkCalls{holding: h, open: make(map[int]*chunkCall)}
}

func (w *chunkCalls) take(event []byte) []byte {
	var e struct {
		Choices []struct {
			Index int `json:"index"`
			Delta struct {
				Content jsontext.Value `json:"content"`
				Calls   []chunkCall    `json:"tool_calls"`
			} `json:"delta"`
			Finish string `json:"finish_reason"`
		} `json:"choices"`
	}
	_, data, _, _ := eventData(event)
	ended := string(data) == "[DONE]"
	if jsonv2.Unmarshal(data, &e, lenient) == nil {
		for _, c := range e.Choices {
			w.invalid = w.invalid || c.Index != 0 // several answers
			w.said = w.said || ingest.UnquoteText(c.Delta.Content) != ""
			ended = ended || c.Finish != ""
			for k := range c.Delta.Calls {
				w.add(&c.Delta.Calls[k])
			}
		}
	}
	if w.calls < 2 {
		return event
	}
	w.events = append(w.events, event...)
	if !ended || w.invalid {
		return nil
	}
	w.calls = 0 // what follows passes
	return w.complete(w.release())
}

// add adds a piece of a call. Two calls with one number are no valid stream.
func (w *chunkCalls) add(piece *chunkCall) {
	c := w.open[piece.Index]
	if c == nil {
		w.calls++
		w.open[piece.Index] = piece
		return
	}
	w.invalid = w.invalid || piece.ID != "" && piece.ID != c.ID
	c.Function.Name += piece.Function.Name
	c.Function.Arguments += piece.Function.Arguments
}

// complete judges the calls. It returns the events that were held back without the blocked ones, and with a text that says so.
func (w *chunkCalls) complete(held []byte) []byte {
	numbers := make(map[int]int) // the new number of each call that passes
	reasons := []string{}
	for index := range len(w.open) {
		c := w.open[index]
		if c == nil {
			return held // the numbers have gaps
		}
		item := w.trial.api.asItem(encode(c))
		if call := w.trial.blocked(item); call != nil && index > 0 {
			w.blocked(call)
			reasons = append(reasons, call.text)
			continue
		}
		numbers[index] = len(numbers)
	}
	if len(reasons) == 0 {
		return held
	}
	text := strings.Join(reasons, "\n\n")
	if w.said {
		text = "\n\n" + text
	}
	out := chunkWith(held[:eventEnd(held)], text)
	for len(held) > 0 {
		end := eventEnd(held)
		out = append(out, renumberCalls(held[:end], numbers)...)
		held = held[end:]
	}
	return out
}

// chunkWith returns a chunk like another one that says a text.
func chunkWith(event []byte, text string) []byte {
	var chunk chatChunk
	_, data, _, _ := eventData(event)
	_ = jsonv2.Unmarshal(data, &chunk, lenient) // a member of another form stays empty
	chunk.Choices, chunk.Usage = []chatChoice{{Delta: map[string]string{"content": text}}}, nil
	var s stream
	s.data(chunk)
	return s.b.Bytes()
}

// renumberCalls returns a chunk with those pieces of calls that have a new number.
func renumberCalls(event []byte, numbers map[int]int) []byte {
	return changeEvent(event, []string{"choices", "0", "delta"}, func(delta jsontext.Value) (jsontext.Value, error) {
		var members map[string]jsontext.Value
		if err := jsonv2.Unmarshal(delta, &members, lenient); err != nil {
			return nil, err
		}
		var pieces, kept []jsontext.Value
		if err := jsonv2.Unmarshal(members["tool_calls"], &pieces, lenient); err != nil {
			return nil, err
		}
		for _, piece := range pieces {
			var c chunkCall
			if err := jsonv2.Unmarshal(piece, &c, lenient); err != nil {
				return nil, err
			}
			number, passes := numbers[c.Index]
			if !passes {
				continue
			}
			changed, err := change(piece, []string{"index"}, func(jsontext.Value) (jsontext.Value, error) { return encode(number), nil })
			if err != nil {
				return nil, err
			}
			kept = append(kept, changed)
		}
		delete(members, "tool_calls")
		if len(kept) > 0 {
			members["tool_calls"], _ = jsonv2.Marshal(kept, lenient) // values that were read always encode
		}
		return jsonv2.Marshal(members, lenient)
	})
}
