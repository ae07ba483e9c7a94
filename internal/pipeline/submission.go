package pipeline

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/internal/trace"
)

// Submission is the content of one request. The caller must not use it after Submit.
type Submission struct {
	Runs   []Info
	Events []*unloop.Event // each with the id of its run; an event without an id gets one

	Services map[string]string // projects by the id of a run without one, named after the services that sent the runs
	Spans    []trace.Span
	Deleted  []string // ids of runs to delete, with all their records
}

// Info is what a sender reports about a run besides its events. An empty field changes nothing.
type Info struct {
	ID, Name, Project string
	Metadata          json.RawMessage
	Control           *store.Control // what a person did with the run; it gets its number
	Hints             []string       // what looks like a mistake of the sender
	Ended             bool           // all events were sent: a run that is still running is completed
}

// Ack is the result of a submission that is on disk.
type Ack struct {
	Events   []Result  // for each event of the submission
	Received time.Time // the recorded time of arrival
}

// Result is the result for one event.
type Result struct {
	ID        string
	Duplicate bool // the run already had an event with this id, which is kept
}

// Errors of Submit.
var (
	ErrBusy   = errors.New("the queue is full") // retry after a second
	ErrClosed = errors.New("the pipeline is closed")
	ErrStore  = errors.New("recording failed")   // retry when the store works again; joined with its error
	ErrPanic  = errors.New("recording panicked") // do not retry
)
