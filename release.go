package unloop

import "encoding/json"

// Release returns an event which says that a new message of a person has ended a pause or a halt. The argument order is the id of the
// event that ordered the pause or the halt, and by is the kind of guard that reports its end.
func Release(run, by, order string) *Event {
	metadata, _ := json.Marshal(map[string]any{"control": map[string]string{ // texts always encode
		"act": ControlResume, "by": by, "why": "a new message of a person",
	}})
	return &Event{ID: "released-" + order, RunID: run, Type: Control, Name: ControlResume, ParentEventID: order, Metadata: metadata}
}
