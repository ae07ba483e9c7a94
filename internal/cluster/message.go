package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/zeebo/xxh3"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/pipeline"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/internal/trace"
)

// PartitionOf returns the partition of a run or of a trace, of so many.
func PartitionOf(id string, partitions int) int {
	return int(xxh3.HashString(store.Key(id)) % uint64(partitions))
}

// wire is the first line of a message in the stream, as JSON: the part of a submission that belongs to one partition. Each event follows
// on a line of its own, in the form of the store, so that its owner decodes it once and stores the line.
type wire struct {
	Received time.Time         `json:"received"`
	Events   int               `json:"events"` // the number of lines that follow
	Runs     []pipeline.Info   `json:"runs,omitempty"`
	Services map[string]string `json:"services,omitempty"`
	Spans    []trace.Span      `json:"spans,omitempty"`
	Deleted  []string          `json:"deleted,omitempty"`
	Changes  []wireChange      `json:"changes,omitempty"`
}

// wireChange is a pipeline.Change.
type wireChange struct {
	pipeline.Change
	Event jsontext.Value `json:"event,omitempty"`
}

// encode returns the message of a submission.
func encode(d *pipeline.Submission) ([]byte, error) {
	w := wire{Received: d.Received, Events: len(d.Events), Runs: d.Runs, Services: d.Services, Spans: d.Spans, Deleted: d.Deleted}
	for _, c := range d.Changes {
		x := wireChange{Change: c}
		if c.Event != nil {
			body, err := store.Encode(c.Event)
			if err != nil {
				return nil, err
			}
			x.Event = body
		}
		w.Changes = append(w.Changes, x)
	}
	message, err := json.Marshal(&w, lenient)
	if err != nil {
		return nil, fmt.Errorf("encode a message: %w", err)
	}
	for _, e := range d.Events {
		body, err := store.Encode(e)
		if err != nil {
			return nil, err
		}
		message = append(append(message, '\n'), body...)
	}
	return message, nil
}

// lenient accepts the same content as the store does: repeated names and invalid UTF-8.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// decode returns the submission of a message. The events share the memory of the message.
func decode(message []byte) (*pipeline.Submission, error) {
	var w wire
	head, events, more := bytes.Cut(message, []byte{'\n'})
	if err := json.Unmarshal(head, &w, lenient); err != nil {
		return nil, fmt.Errorf("decode a message: %w", err)
	}
	d := &pipeline.Submission{Received: w.Received, Runs: w.Runs, Services: w.Services, Spans: w.Spans, Deleted: w.Deleted}
	for more {
		var body []byte
		body, events, more = bytes.Cut(events, []byte{'\n'})
		e, err := event(body)
		if err != nil {
			return nil, err
		}
		d.Events, d.Bodies = append(d.Events, e), append(d.Bodies, body)
	}
	if len(d.Events) != w.Events {
		return nil, fmt.Errorf("decode a message: it has %d events, and its first line says %d", len(d.Events), w.Events)
	}
	for _, x := range w.Changes {
		if len(x.Event) > 0 {
			e, err := event(x.Event)
			if err != nil {
				return nil, err
			}
			x.Change.Event = e
		}
		d.Changes = append(d.Changes, x.Change)
	}
	return d, nil
}

func event(body []byte) (*unloop.Event, error) {
	e, err := store.Decode(body)
	if err != nil {
		return nil, err
	}
	if e.ID == "" || e.RunID == "" {
		return nil, errors.New("decode a message: an event has no id or no run")
	}
	return e, nil
}

// split divides a submission among its partitions. Each part keeps the order of the submission.
func split(d *pipeline.Submission, partitions int) map[int]*pipeline.Submission {
	parts := make(map[int]*pipeline.Submission)
	of := func(id string) *pipeline.Submission {
		k := PartitionOf(id, partitions)
		if parts[k] == nil {
			parts[k] = &pipeline.Submission{Received: d.Received}
		}
		return parts[k]
	}
	for _, info := range d.Runs {
		part := of(info.ID)
		part.Runs = append(part.Runs, info)
	}
	for _, e := range d.Events {
		part := of(e.RunID)
		part.Events = append(part.Events, e)
	}
	for run, service := range d.Services {
		part := of(run)
		if part.Services == nil {
			part.Services = make(map[string]string)
		}
		part.Services[run] = service
	}
	for i := range d.Spans {
		part := of(d.Spans[i].TraceID)
		part.Spans = append(part.Spans, d.Spans[i])
	}
	for _, id := range d.Deleted {
		part := of(id)
		part.Deleted = append(part.Deleted, id)
	}
	for _, c := range d.Changes {
		part := of(c.Run)
		part.Changes = append(part.Changes, c)
	}
	return parts
}

// halves divides a part that is too large for a message in two, or returns nil if it has only one record.
func halves(d *pipeline.Submission) []*pipeline.Submission {
	a, b := *d, pipeline.Submission{Received: d.Received, Services: d.Services}
	switch {
	case len(d.Events) > 1:
		n := len(d.Events) / 2
		a.Events, b.Events = d.Events[:n], d.Events[n:]
		a.Spans, a.Changes, b.Spans, b.Changes = nil, nil, d.Spans, d.Changes
	case len(d.Spans) > 1:
		n := len(d.Spans) / 2
		a.Spans, b.Spans = d.Spans[:n], d.Spans[n:]
		a.Changes, b.Changes = nil, d.Changes
	case len(d.Changes) > 1:
		n := len(d.Changes) / 2
		a.Changes, b.Changes = d.Changes[:n], d.Changes[n:]
	default:
		return nil
	}
	return []*pipeline.Submission{&a, &b}
}

// withExcerpts returns a part with excerpts of the content of its event, or nil if it has none to shorten. The event of a call of several
// spans can be larger than a message that had each of them, and nobody is there to refuse it to.
func withExcerpts(d *pipeline.Submission) []*pipeline.Submission {
	if len(d.Changes) != 1 || d.Changes[0].Event == nil {
		return nil
	}
	short, change := *d, d.Changes[0]
	before := change.Event
	change.Event = pipeline.Excerpt(before)
	if contentOf(change.Event) >= contentOf(before) {
		return nil
	}
	short.Changes = []pipeline.Change{change}
	return []*pipeline.Submission{&short}
}

// contentOf returns the size of the content of an event, in bytes.
func contentOf(e *unloop.Event) int { return len(e.Input) + len(e.Output) + len(e.Error) + len(e.Text) }
