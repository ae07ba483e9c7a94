package proxy

import (
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// partCalls are the calls in a stream of Gemini. Each is complete in one part of a chunk.
type partCalls struct{ *streamedAnswer }

func (gemini) filter(a *streamedAnswer) callFilter { return partCalls{a} }

func (w partCalls) read(event []byte) {
	var e struct {
		Candidates []struct {
			Content struct {
				Parts []jsontext.Value `json:"parts"`
			} `json:"content"`
			Finish string `json:"finishReason"`
		} `json:"candidates"`
	}
	if !decodeEvent(event, &e) || len(e.Candidates) == 0 {
		return
	}
	for _, part := range e.Candidates[0].Content.Parts {
		if item := w.trial.api.asItem(part); item != nil {
			w.begun = true
			w.judge(len(w.judged), item, w.trial.api.mustStay(part, nil))
		}
	}
	w.ended = w.begun && e.Candidates[0].Finish != ""
}

func (w partCalls) without(held []byte) []byte {
	var s stream
	calls := 0
	eachEvent(held, func(event []byte) {
		s.raw(string(changeEvent(event, w.trial.api.calls(), func(list jsontext.Value) (jsontext.Value, error) {
			var parts []jsontext.Value
			if err := jsonv2.Unmarshal(list, &parts, lenient); err != nil {
				return nil, err
			}
			for k, part := range parts {
				if w.trial.api.asItem(part) == nil {
					continue
				}
				if call := w.blocked[calls]; call != nil {
					parts[k] = w.trial.api.instead(call.text)
				}
				calls++
			}
			return jsonv2.Marshal(parts, lenient)
		})))
	})
	return s.b.Bytes()
}
