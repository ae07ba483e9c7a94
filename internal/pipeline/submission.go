package pipeline

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest/otlp"
)

// Submission is what one request brings. It belongs to the pipeline once it is submitted.
type Submission struct {
	Runs   []Info
	Events []*unloop.Event // each with the id of its run; one without an id of its own is given one

	Services map[string]string // the projects, by their ids, of runs that have no other, since these services sent them
	Spans    []otlp.Span
	Deleted  []string // ids of runs to be forgotten, with all that is known of them
}

// Info is what a sender says of a run beside its events. What is empty leaves what is known as it is.
type Info struct {
	ID, Name, Project string
	Metadata          json.RawMessage
}

// Ack says what became of a delivery, which is on disk.
type Ack struct {
	Events   []Result  // for each of the delivery's events
	Received time.Time // when it arrived, as is recorded
}

// Result says what became of an event.
type Result struct {
	ID        string
	Duplicate bool // its run had an event of this id already, which stands
}

// Errors of Submit.
var (
	ErrBusy   = errors.New("too much is waiting to be recorded") // worth a retry in a second
	ErrClosed = errors.New("the pipeline is closed")
	ErrStore  = errors.New("it could not be recorded")      // worth a retry when the store is well again; joined with its error
	ErrPanic  = errors.New("recording it ended in a panic") // not worth a retry
)
