package httpd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/ingest/native"
	"github.com/unloop-ai/unloop/internal/pipeline"
	"github.com/unloop-ai/unloop/internal/settings"
)

// warningsOf returns a warning for each unknown type and field of a request, with the name that was probably meant.
func (s *Server) warningsOf(sent *native.Request) (warnings []api.EventError) {
	for _, odd := range sent.Odd {
		odd.Field, odd.Value = s.Name(odd.Field), s.Name(odd.Value)
		warnings = append(warnings, api.EventError{Index: odd.Index, Field: odd.Field, Reason: reasonOf(odd)})
	}
	return warnings
}

func reasonOf(odd native.Oddity) string {
	odd.Field, odd.Value = odd.Field[:min(len(odd.Field), maxOddName)], odd.Value[:min(len(odd.Value), maxOddName)]
	switch inner, ofUsage := strings.CutPrefix(odd.Field, "usage."); {
	case odd.Value != "":
		types := unloop.EventTypes()
		names := make([]string, 0, len(types))
		for _, known := range types {
			names = append(names, string(known))
		}
		return fmt.Sprintf("unknown event type %.64q%s; the event is stored, and rules ignore it", odd.Value, meant(odd.Value, names))
	case ofUsage:
		return fmt.Sprintf("unknown field %.64q of usage%s; it is not stored", inner, meant(inner, native.UsageFields()))
	}
	return fmt.Sprintf("unknown field %.64q%s; it is not stored", odd.Field, meant(odd.Field, native.Fields()))
}

// maxOddName bounds the names whose nearest known name is looked for.
const maxOddName = 256

// aliases are names that other APIs use for fields of events and of usage.
var aliases = map[string]string{
	"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens", "total_tokens": "tokens", "cache_read_input_tokens": "cached_input_tokens",
	"cache_creation_input_tokens": "cache_write_tokens", "arguments": "input", "args": "input", "result": "output", "tool_name": "tool",
	"tool_call_id": "call_id", "session_id": "run_id", "duration_ms": "latency_ms", "content": "text",
}

// meant names the known name that was probably meant, or is "".
func meant(word string, known []string) string {
	near := aliases[word]
	if !slices.Contains(known, near) {
		near = settings.Nearest(word, known)
	}
	if near == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", near)
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
