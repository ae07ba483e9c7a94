package api

import (
	"encoding/json"
)

// NewRun is what a sender says of a run before its events.
type NewRun struct {
	ID       string          `json:"id,omitempty" required:"false" nullable:"true" doc:"The run's id. Default: the server generates one."`
	Name     string          `json:"name,omitempty" required:"false" nullable:"true" doc:"Display name. Default: the run's id."`
	Project  string          `json:"project,omitempty" required:"false" nullable:"true" doc:"The project that the run belongs to."`
	Metadata json.RawMessage `json:"metadata,omitempty" required:"false" doc:"An object that is stored unchanged, or null."`
	Ended    bool            `json:"ended,omitempty" required:"false" doc:"true: all events of the run were sent. A run that is still running becomes completed at its last event. A later event can reopen it."`
}

// Batch says what became of the events of a request.
type Batch struct {
	Accepted   int          `json:"accepted" doc:"Number of events that are recorded, including duplicates."`
	Duplicates int          `json:"duplicates" doc:"Number of accepted events whose id already existed in their run. The first copy is kept."`
	Rejected   int          `json:"rejected" doc:"Number of invalid events."`
	Errors     []EventError `json:"errors" doc:"The reason for each rejected event."`
	Warnings   []EventError `json:"warnings,omitempty" doc:"Event types and fields that are not known, each once. The events are recorded; unknown fields are not."`
	Notices    []EventError `json:"notices,omitempty" doc:"Fields that the server changed: ids and names that were shortened."`
}

// EventError says what is wrong with one event of a request.
type EventError struct {
	Index  int    `json:"index" doc:"Index of the event in the request, from 0."`
	Field  string `json:"field" doc:"Name of the field; empty for the whole event."`
	Reason string `json:"reason" doc:"What is wrong, and what is allowed."`
}

// Problem is an answer that is an error, in the form of RFC 9457, with the field that it is about and the reason.
type Problem struct {
	Title  string       `json:"title" doc:"The text of the HTTP status."`
	Status int          `json:"status" doc:"The HTTP status."`
	Detail string       `json:"detail" doc:"What is wrong, in one sentence."`
	Field  string       `json:"field,omitempty" doc:"The field of the request that is wrong: a path in the body, such as 3.tool, or the name of a parameter or header."`
	Reason string       `json:"reason,omitempty" doc:"What is wrong with the field."`
	Errors []EventError `json:"errors,omitempty" doc:"All errors, if there are several."`
}
