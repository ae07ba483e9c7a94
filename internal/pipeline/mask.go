package pipeline

import (
	"encoding/json"

	"github.com/unloop-ai/unloop"
)

// Mask hides secrets. It is safe for concurrent use and idempotent.
type Mask interface {
	// Event masks every text of an event.
	Event(e *unloop.Event)
	// Raw masks a JSON value. It does not modify raw.
	Raw(raw json.RawMessage) json.RawMessage
	// Text masks a text.
	Text(text string) string
	// ID returns an id without secrets. Equal ids give equal results, so references between records stay valid.
	ID(id string) string
}

// mask hides the secrets of a submission, before it is stored, streamed, sent or logged.
func (d *Submission) mask(m Mask) {
	for i := range d.Runs {
		info := &d.Runs[i]
		info.ID, info.Name, info.Project, info.Metadata = m.ID(info.ID), m.Text(info.Name), m.Text(info.Project), m.Raw(info.Metadata)
	}
	for _, e := range d.Events {
		m.Event(e)
	}
	if len(d.Services) > 0 {
		services := make(map[string]string, len(d.Services))
		for run, service := range d.Services {
			services[m.ID(run)] = m.Text(service)
		}
		d.Services = services
	}
	for i := range d.Spans { // ids of traces and spans are numbers
		s := &d.Spans[i]
		s.Run, s.CallID = m.ID(s.Run), m.ID(s.CallID)
		for _, text := range []*string{&s.Title, &s.Service, &s.Graph, &s.Reason, &s.Agent, &s.Tool, &s.Model} {
			*text = m.Text(*text)
		}
		for _, raw := range []*string{&s.Input, &s.Output, &s.Messages} {
			*raw = string(m.Raw([]byte(*raw)))
		}
	}
	for i := range d.Deleted {
		d.Deleted[i] = m.ID(d.Deleted[i])
	}
}
