package proxy

import (
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// blockCalls are the calls in a stream of the Messages API. A text takes the place of a blocked call, so that the numbers of blocks stay.
type blockCalls struct {
	*streamedAnswer
	open map[int]*streamedBlock // by the number of the block
}

// streamedBlock is a call as far as it was streamed.
type streamedBlock struct {
	Type  string         `json:"type"`
	ID    string         `json:"id"`
	Name  string         `json:"name"`
	Input jsontext.Value `json:"input"`

	json []byte // pieces of the input
}

// blockEvent is an event of a stream, as far as calls need it.
type blockEvent struct {
	Type  string         `json:"type"`
	Index *int           `json:"index"`
	Block *streamedBlock `json:"content_block"`
	Delta struct {
		JSON string `json:"partial_json"`
	} `json:"delta"`
}

func (anthropic) filter(a *streamedAnswer) callFilter {
	return &blockCalls{a, make(map[int]*streamedBlock)}
}

func (w *blockCalls) read(event []byte) {
	var e blockEvent
	if !decodeEvent(event, &e) {
		return
	}
	w.ended = e.Type == "message_delta"
	if e.Index == nil {
		return
	}
	if e.Type == "content_block_start" && e.Block != nil && e.Block.Type == "tool_use" {
		w.begun = true
		w.invalid = w.invalid || w.open[*e.Index] != nil // the earlier call with the number has not ended
		w.open[*e.Index] = e.Block
	}
	block := w.open[*e.Index]
	switch {
	case block == nil:
	case e.Type == "content_block_delta":
		block.json = append(block.json, e.Delta.JSON...)
	case e.Type == "content_block_stop":
		delete(w.open, *e.Index)
		if jsontext.Value(block.json).IsValid() {
			block.Input = block.json
		}
		call, err := jsonv2.Marshal(block, lenient)
		w.invalid = w.invalid || err != nil
		w.judge(*e.Index, w.trial.api.asItem(call), false)
	}
}

func (w *blockCalls) without(held []byte) []byte {
	var s stream
	eachEvent(held, func(event []byte) {
		var e blockEvent
		if !decodeEvent(event, &e) || e.Index == nil || w.blocked[*e.Index] == nil {
			s.raw(string(event))
			return
		}
		if e.Type == "content_block_start" {
			s.textBlock(*e.Index, w.blocked[*e.Index].text)
		}
	})
	return s.b.Bytes()
}
