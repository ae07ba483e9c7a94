package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/names"
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

	Received time.Time // when it arrived; zero until Complete
	Sequence uint64    // in a cluster: its number in the stream of the partition
	Bodies   [][]byte  // in a cluster: the completed events in the form of the store; nil until they were in a stream
	Changes  []Change  // in a cluster: what spans that another partition has change in runs of this one
}

// Complete masks the submission, which nothing has read before, shortens ids and names, gives events ids, and completes each event with
// prepare. A mask or a function that is nil changes nothing.
func (d *Submission) Complete(mask Mask, prepare func(*unloop.Event)) {
	if d.Received.IsZero() {
		d.Received = time.Now().UTC().Truncate(time.Microsecond)
	}
	if mask != nil {
		d.mask(mask)
	}
	d.shorten()
	for _, e := range d.Events {
		if e.ID == "" {
			e.ID = newID("evt_")
		}
		if prepare != nil {
			prepare(e)
		}
	}
}

// shorten cuts ids and names that are too long, so that the rows of runs, messages and lists of names are bounded. What is cut stays
// different from others that begin alike.
func (d *Submission) shorten() {
	short := func(most int, fields ...*string) {
		for _, name := range fields {
			if len(*name) > most {
				*name = names.Shorten(store.Text(*name), most)
			}
		}
	}
	for _, e := range d.Events {
		short(names.Max, &e.ID, &e.RunID, (*string)(&e.Type), &e.Agent, &e.Name, &e.Status, &e.Model, &e.Tool, &e.CallID, &e.Role,
			&e.ParentEventID, &e.SpanID, &e.TraceID)
	}
	for k := range d.Spans {
		s := &d.Spans[k]
		short(names.Max, &s.Run, &s.Title, &s.Service, &s.Graph, &s.Agent, &s.Tool, &s.Model)
		short(names.Max-callRoom, &s.CallID)
	}
	for run, service := range d.Services {
		if max(len(run), len(service)) > names.Max {
			delete(d.Services, run)
			short(names.Max, &run, &service)
			d.Services[run] = service
		}
	}
}

// callRoom is how much longer than the id of a call the ids of its events are, at most.
const callRoom = 32

// Info is what a sender reports about a run besides its events. An empty field changes nothing.
type Info struct {
	ID       string          `json:"id"`
	Name     string          `json:"name,omitzero"`
	Project  string          `json:"project,omitzero"`
	Metadata json.RawMessage `json:"metadata,omitzero"`
	Control  *store.Control  `json:"control,omitzero"` // what a person did with the run; it gets its number
	Hints    []string        `json:"hints,omitzero"`   // what looks like a mistake of the sender
	Ended    bool            `json:"ended,omitzero"`   // all events were sent: a run that is still running is completed
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

// Lost reports whether an error of a result means that the submission is not recorded and has to come again.
func Lost(err error) bool { return err != nil && !errors.Is(err, ErrPanic) }

// recovered makes a panic of the function that defers it the error of that function.
func recovered(err *error) {
	if cause := recover(); cause != nil {
		*err = panicError(cause)
	}
}

// panicError returns ErrPanic with the cause and the stack of a panic.
func panicError(cause any) error { return fmt.Errorf("%w: %v\n%s", ErrPanic, cause, debug.Stack()) }
