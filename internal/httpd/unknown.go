package httpd

import (
	"slices"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/ingest/native"
	"github.com/unloop-ai/unloop/internal/pipeline"
)

// warningsOf returns a warning for each unknown type and field of a request, with the name that was probably meant.
func (s *Server) warningsOf(sent *native.Request) (warnings []api.EventError) {
	for _, u := range sent.Unknown {
		u.Name = s.Name(u.Name)
		warnings = append(warnings, api.EventError{Index: u.Index, Field: u.Field(), Reason: u.String()})
	}
	return warnings
}

// addHints adds the warnings about events to the hints of their runs, which the page of a run shows.
func addHints(d *pipeline.Submission, warnings []api.EventError) {
	for _, w := range warnings {
		k := slices.IndexFunc(d.Events, func(e *unloop.Event) bool { return e.Index == w.Index })
		if k < 0 {
			continue // the event was refused
		}
		id := d.Events[k].RunID
		at := slices.IndexFunc(d.Runs, func(i pipeline.Info) bool { return i.ID == id })
		if at < 0 {
			at = len(d.Runs)
			d.Runs = append(d.Runs, pipeline.Info{ID: id})
		}
		d.Runs[at].Hints = append(d.Runs[at].Hints, w.Reason)
	}
}
