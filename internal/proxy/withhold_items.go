package proxy

import (
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// itemCalls are the calls in a stream of the Responses API. A message takes the place of a blocked call, so that the numbers of items stay.
// The numbers of the events behind it change.
type itemCalls struct {
	*streamedAnswer
	latest jsontext.Value // the latest item that is complete
}

func (responses) filter(a *streamedAnswer) callFilter { return &itemCalls{streamedAnswer: a} }

// itemEvent is an event of a stream, as far as calls need it.
type itemEvent struct {
	Type   string         `json:"type"`
	Number *int           `json:"sequence_number"`
	Output *int           `json:"output_index"`
	Item   jsontext.Value `json:"item"`
}

func (w *itemCalls) read(event []byte) {
	var e itemEvent
	if !decodeEvent(event, &e) {
		return
	}
	w.ended = e.Type == "response.completed"
	item := w.trial.api.asItem(e.Item)
	w.begun = w.begun || item != nil
	if e.Type != "response.output_item.done" || e.Output == nil {
		return
	}
	if item != nil {
		w.judge(*e.Output, item, w.trial.api.mustStay(item, w.latest))
	}
	w.latest = e.Item.Clone()
}

func (w *itemCalls) without(held []byte) []byte {
	events := responsesStream{stream: &stream{}, number: -1}
	messages := make(map[int]jsontext.Value)
	eachEvent(held, func(event []byte) {
		var e itemEvent
		if !decodeEvent(event, &e) {
			events.raw(string(event))
			return
		}
		if e.Number != nil && events.number < 0 {
			events.number = *e.Number
		}
		if e.Output == nil || w.blocked[*e.Output] == nil {
			events.raw(string(changeItems(event, events.number, messages)))
			if e.Number != nil {
				events.number++
			}
			return
		}
		if at := *e.Output; messages[at] == nil {
			m := newResponsesMessage(newID("msg_"), at, w.blocked[at].text)
			messages[at] = encode(m.item("completed"))
			m.open(&events)
			m.close(&events, w.blocked[at].text)
		}
	})
	return events.b.Bytes()
}

// changeItems returns an event with a number, and with the messages at their places among the items of the answer.
func changeItems(event []byte, number int, messages map[int]jsontext.Value) []byte {
	event = changeEvent(event, []string{"sequence_number"}, func(jsontext.Value) (jsontext.Value, error) { return encode(number), nil })
	return changeEvent(event, []string{"response", "output"}, func(list jsontext.Value) (jsontext.Value, error) {
		var items []jsontext.Value
		if err := jsonv2.Unmarshal(list, &items, lenient); err != nil {
			return nil, err
		}
		for at, message := range messages {
			if at < len(items) {
				items[at] = message
			}
		}
		return jsonv2.Marshal(items, lenient)
	})
}
