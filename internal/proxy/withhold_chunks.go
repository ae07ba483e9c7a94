package proxy

import (
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/nudge"
)

// chunkCalls are the calls in a stream of Chat Completions. The calls are numbered without gaps, so a call behind a blocked one gets another
// number.
type chunkCalls struct {
	*streamedAnswer
	open    map[int]*chunkCall
	hasText bool // the answer has a text
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

func (chat) filter(a *streamedAnswer) callFilter {
	return &chunkCalls{streamedAnswer: a, open: make(map[int]*chunkCall)}
}

func (w *chunkCalls) read(event []byte) {
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
	if !decodeEvent(event, &e) {
		return
	}
	for _, c := range e.Choices {
		w.invalid = w.invalid || c.Index != 0 // several answers
		w.hasText = w.hasText || ingest.UnquoteText(c.Delta.Content) != ""
		for k := range c.Delta.Calls {
			w.add(&c.Delta.Calls[k])
		}
		w.ended = w.begun && c.Finish != ""
	}
	for index := range len(w.open) {
		if w.ended && !w.invalid {
			w.judgeCall(index)
		}
	}
}

// add adds a piece of a call. Two calls with one number are no valid stream.
func (w *chunkCalls) add(piece *chunkCall) {
	w.begun = true
	c := w.open[piece.Index]
	if c == nil {
		w.open[piece.Index] = piece
		return
	}
	w.invalid = w.invalid || piece.ID != "" && piece.ID != c.ID
	c.Function.Name += piece.Function.Name
	c.Function.Arguments += piece.Function.Arguments
}

// judgeCall judges a call at the end of the answer. Numbers with gaps are no valid stream.
func (w *chunkCalls) judgeCall(index int) {
	c := w.open[index]
	if c == nil {
		w.invalid = true
		return
	}
	w.judge(index, w.trial.api.asItem(encode(c)), false)
}

func (w *chunkCalls) without(held []byte) []byte {
	numbers := make(map[int]int) // the new number of each call that passes
	text := ""
	for index := range len(w.judged) {
		if call := w.blocked[index]; call == nil {
			numbers[index] = len(numbers)
		} else {
			text = nudge.Join(text, call.text)
		}
	}
	if w.hasText {
		text = "\n\n" + text
	}
	var s stream
	eachEvent(held, func(event []byte) {
		s.raw(string(changeDelta(event, numbers, text)))
		text = ""
	})
	return s.b.Bytes()
}

// changeDelta returns a chunk with those pieces of calls that have a new number, and with a text behind its own.
func changeDelta(event []byte, numbers map[int]int, text string) []byte {
	return changeEvent(event, []string{"choices", "0", "delta"}, func(delta jsontext.Value) (jsontext.Value, error) {
		var members map[string]jsontext.Value
		if err := jsonv2.Unmarshal(delta, &members, lenient); err != nil {
			return nil, err
		}
		if text != "" {
			members["content"] = encode(ingest.UnquoteText(members["content"]) + text)
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
