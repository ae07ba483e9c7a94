package proxy

import (
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// itemCalls are the calls in a stream of the Responses API. A message takes the place of a blocked call, so that the numbers of items stay.
// The numbers of the events behind it change.
type itemCalls struct {
	*holding
	open     int  // the number of the call's item; -1 outside of calls
	mustStay bool // the open call cannot be blocked
	reasoned bool // the latest item is reasoning, which wants its call behind it
	first    int  // the number of the first event that is held back
	count    int  // events with a number that are held back
	shift    int  // how many more events the client has got
	messages map[int]jsontext.Value
}

func (responses) filter(h *holding) callFilter {
	return &itemCalls{holding: h, open: -1, messages: make(map[int]jsontext.Value)}
}

// itemEvent is an event of a stream, as far as calls need it.
type itemEvent struct {
	Type   string         `json:"type"`
	Number *int           `json:"sequence_number"`
	Output int            `json:"output_index"`
	Item   jsontext.Value `json:"item"`
}

func (w *itemCalls) take(event []byte) []byte {
	var e itemEvent
	if _, data, _, ok := eventData(event); !ok || jsonv2.Unmarshal(data, &e, lenient) != nil {
		e = itemEvent{Output: w.open} // it passes, or belongs to the open call
	}
	if e.Type == "response.output_item.added" {
		var released []byte
		if w.open >= 0 { // the API sends two items at once
			released = w.renumbered(w.release())
		}
		w.open = -1
		if w.trial.api.asItem(e.Item) != nil {
			w.calls++
			w.open, w.mustStay, w.count = e.Output, w.reasoned || w.calls == 1, 0
		}
		if w.open < 0 || w.mustStay {
			return append(released, w.renumbered(event)...)
		}
		w.hold(event, &e)
		return released
	}
	done := e.Type == "response.output_item.done"
	if done {
		w.reasoned = typeOf(e.Item) == "reasoning"
	}
	switch {
	case w.open < 0:
		return w.renumbered(event)
	case done && e.Output == w.open:
		return w.complete(event, &e)
	case w.mustStay:
		return w.renumbered(event)
	case e.Output != w.open: // the API sends two items at once
		w.mustStay = true
		return w.renumbered(append(w.release(), event...))
	}
	w.hold(event, &e)
	return nil
}

// hold holds an event back.
func (w *itemCalls) hold(event []byte, e *itemEvent) {
	if e.Number != nil {
		if w.count == 0 {
			w.first = *e.Number
		}
		w.count++
	}
	w.events = append(w.events, event...)
}

// complete judges the open call, which ends with the event. It returns what passes.
func (w *itemCalls) complete(event []byte, e *itemEvent) []byte {
	at := w.open
	w.open = -1
	call := w.trial.blocked(e.Item)
	if w.mustStay {
		return w.renumbered(event)
	}
	w.hold(event, e)
	held := w.release()
	if call == nil {
		return w.renumbered(held)
	}
	w.blocked(call)
	m := newResponsesMessage(newID("msg_"), at, call.text)
	w.messages[at] = encode(m.item("completed"))
	events := responsesStream{stream: &stream{}, number: w.first + w.shift}
	m.open(&events)
	m.close(&events, call.text)
	w.shift = events.number - w.first - w.count
	return events.b.Bytes()
}

// renumbered returns events with the numbers that the client expects, and the end of the answer with the messages.
func (w *itemCalls) renumbered(events []byte) (out []byte) {
	if len(w.messages) == 0 {
		return events
	}
	for len(events) > 0 {
		end := eventEnd(events)
		event := changeEvent(events[:end], []string{"sequence_number"}, func(number jsontext.Value) (jsontext.Value, error) {
			var n int
			err := jsonv2.Unmarshal(number, &n, lenient)
			return encode(n + w.shift), err
		})
		out = append(out, changeEvent(event, []string{"response", "output"}, w.withMessages)...)
		events = events[end:]
	}
	return out
}

// withMessages returns the items of an answer with a message in the place of each blocked call.
func (w *itemCalls) withMessages(list jsontext.Value) (jsontext.Value, error) {
	var items []jsontext.Value
	if err := jsonv2.Unmarshal(list, &items, lenient); err != nil {
		return nil, err
	}
	for at, message := range w.messages {
		if at < len(items) {
			items[at] = message
		}
	}
	return jsonv2.Marshal(items, lenient)
}
