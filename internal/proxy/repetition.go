package proxy

import (
	"bytes"
	"cmp"
	"fmt"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop/internal/fingerprint"
)

// A streamed text repeats itself for certain if it ends in the same passage so often. The rule repeating_text judges a whole message
// with lower limits; these leave out tables and lists that an agent was asked for.
const (
	certainTimes  = 20
	certainPeriod = 20      // bytes of the passage
	certainBytes  = 4 << 10 // of all repetitions
)

// watchEvery is how many bytes of text come between two looks at a streamed text.
const watchEvery = 512

// maxWatched is the longest text of an answer that is ended, in bytes.
const maxWatched = 1 << 20

// ending looks for a repetition in the text of a stream, and ends the stream in the API's own form.
type ending struct {
	api     api
	text    []byte // of the current block
	thought bool   // the text is the model's reasoning
	seen    int    // bytes of text at the last look
	certain bool
	times   int    // how often the passage repeats
	notice  string // what the client reads at the end

	// Of the latest event:
	head     jsontext.Value // the object of the answer: a chunk, or the response
	index    int            // of the block
	open     bool           // a block of text is open
	item     string
	output   int
	number   int
	finished []jsontext.Value // items of a response that are complete
	bytes    int              // of these items
}

// streamEvent is an event of a stream, of any API, as far as the text needs it.
type streamEvent struct {
	Type    string         `json:"type"`
	Index   int            `json:"index"`
	Delta   jsontext.Value `json:"delta"` // a string in the Responses API
	Choices []struct {
		Index int `json:"index"`
		Delta struct {
			Content          string `json:"content"`
			Reasoning        string `json:"reasoning"`         // of OpenRouter and newer versions of vLLM
			ReasoningContent string `json:"reasoning_content"` // of DeepSeek and others
		} `json:"delta"`
	} `json:"choices"`
	Candidates []struct {
		Content struct {
			Parts []geminiPart `json:"parts"`
		} `json:"content"`
	} `json:"candidates"`
	Response jsontext.Value `json:"response"`
	Item     jsontext.Value `json:"item"`
	ItemID   string         `json:"item_id"`
	Output   int            `json:"output_index"`
	Content  int            `json:"content_index"`
	Number   int            `json:"sequence_number"`
}

// take reads the data of an event.
func (w *ending) take(data []byte) {
	var e streamEvent
	if w.certain || jsonv2.Unmarshal(data, &e, lenient) != nil {
		return
	}
	switch w.api.(type) {
	case chat:
		w.head = jsontext.Value(data).Clone()
		for _, c := range e.Choices {
			if c.Index == 0 {
				w.add(cmp.Or(c.Delta.ReasoningContent, c.Delta.Reasoning), true)
				w.add(c.Delta.Content, false)
			}
		}
	case gemini:
		for _, c := range e.Candidates {
			for _, p := range c.Content.Parts {
				w.add(p.Text, p.Thought)
			}
		}
	case anthropic:
		w.takeBlock(&e)
	case responses:
		w.takeResponse(&e)
	}
}

// takeBlock reads an event of the Messages API.
func (w *ending) takeBlock(e *streamEvent) {
	switch e.Type {
	case "content_block_start":
		w.text, w.seen, w.open, w.index = nil, 0, false, e.Index
	case "content_block_stop":
		w.open = false
	case "content_block_delta":
		var d struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}
		if jsonv2.Unmarshal(e.Delta, &d, lenient) == nil && d.Type == "text_delta" {
			w.open = true
			w.add(d.Text, false)
		}
	}
}

// takeResponse reads an event of the Responses API.
func (w *ending) takeResponse(e *streamEvent) {
	w.number = e.Number
	switch e.Type {
	case "response.created":
		w.head = e.Response.Clone()
	case "response.output_item.done":
		if w.bytes += len(e.Item); w.bytes <= maxDocument {
			w.finished = append(w.finished, e.Item.Clone())
		}
		w.text, w.seen = nil, 0
	case "response.output_text.delta", "response.reasoning_text.delta", "response.reasoning_summary_text.delta":
		var text string
		if e.Content == 0 && jsonv2.Unmarshal(e.Delta, &text, lenient) == nil {
			w.item, w.output = e.ItemID, e.Output
			w.add(text, e.Type != "response.output_text.delta")
		}
	}
}

// add looks at more of a text.
func (w *ending) add(text string, thought bool) {
	if text != "" && thought != w.thought {
		w.text, w.seen, w.thought = nil, 0, thought
	}
	if text == "" || len(w.text) > maxWatched || w.bytes > maxDocument {
		return
	}
	w.text = append(w.text, text...)
	if len(w.text)-w.seen < watchEvery || len(w.text) < certainBytes {
		return
	}
	w.seen = len(w.text)
	tail := w.text[max(0, len(w.text)-2*certainBytes):]
	period, times := fingerprint.TailPeriod(string(tail))
	if period >= certainPeriod && times >= certainTimes && period*times >= certainBytes {
		w.certain, w.times = true, times
		w.notice = fmt.Sprintf("\n\n%sThe answer was stopped here: its last %d bytes repeat.", haltPrefix, period)
	}
}

// end returns the events that end the stream.
func (w *ending) end() []byte {
	var s stream
	switch w.api.(type) {
	case chat:
		w.endChat(&s)
	case gemini:
		s.data(map[string]any{"candidates": []any{map[string]any{
			"content": map[string]any{"role": "model", "parts": []any{map[string]string{"text": w.notice}}}, "finishReason": "STOP", "index": 0,
		}}})
	case anthropic:
		s.event("content_block_delta", map[string]any{
			"type": "content_block_delta", "index": w.index, "delta": map[string]string{"type": "text_delta", "text": w.notice},
		})
		s.event("content_block_stop", map[string]any{"type": "content_block_stop", "index": w.index})
		s.event("message_delta", map[string]any{
			"type": "message_delta", "delta": map[string]any{"stop_reason": "end_turn", "stop_sequence": nil}, "usage": map[string]int{"output_tokens": 0},
		})
		s.event("message_stop", map[string]string{"type": "message_stop"})
	case responses:
		w.endResponse(&s)
	}
	return s.b.Bytes()
}

func (w *ending) endChat(s *stream) {
	chunk := map[string]any{}
	if jsonv2.Unmarshal(w.head, &chunk, lenient) != nil {
		return
	}
	for _, choice := range []map[string]any{
		{"index": 0, "delta": map[string]any{"content": w.notice}, "finish_reason": nil}, {"index": 0, "delta": map[string]any{}, "finish_reason": "stop"},
	} {
		chunk["choices"] = []any{choice}
		s.data(chunk)
	}
	s.raw("data: [DONE]\n\n")
}

// endResponse ends a message. Reasoning stays incomplete, and a message follows it.
func (w *ending) endResponse(s *stream) {
	response := map[string]any{}
	if jsonv2.Unmarshal(w.head, &response, lenient) != nil {
		return
	}
	text := string(w.text) + w.notice
	if w.thought {
		text, w.item, w.output = w.notice, newID("msg_"), w.output+1
	}
	m := newResponsesMessage(w.item, w.output, text)
	output := []any{}
	for _, i := range w.finished {
		output = append(output, i)
	}
	response["status"], response["output"] = "completed", append(output, m.item("completed"))
	events := responsesStream{stream: s, number: w.number + 1}
	if w.thought {
		m.open(&events)
	}
	m.close(&events, w.notice)
	events.send("response.completed", map[string]any{"response": response})
}

// complete reports whether the stream can be ended now: what is open is known.
func (w *ending) complete() bool {
	_, blocks := w.api.(anthropic)
	return w.certain && (!blocks || w.open) && !bytes.Contains(w.text, []byte(haltPrefix+"The answer was stopped"))
}
