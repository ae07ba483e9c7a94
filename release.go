package unloop

import "encoding/json"

// Release returns the event that says that a new message of a person has ended what a person ordered before: a pause, or a halt. Order is
// the id of the event that recorded the order, by is the kind of guard that reports it.
func Release(run, by, order string) *Event {
	metadata, _ := json.Marshal(map[string]any{"control": map[string]string{ // texts always encode
		"act": ControlResume, "by": by, "why": "a new message of a person",
	}})
	return &Event{ID: "released-" + order, RunID: run, Type: Control, Name: ControlResume, ParentEventID: order, Metadata: metadata}
}
