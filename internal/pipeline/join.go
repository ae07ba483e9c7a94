package pipeline

import (
	"slices"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/store"
)

// maxOpenCalls bounds the calls without an outcome that a fold keeps besides those of its run. The oldest is dropped.
const maxOpenCalls = 64

// openCall is a call without an outcome that is no step of the run: a call of a model, or of a tool that the profile ignores.
type openCall struct {
	Start string // id of the event
	Model bool   `json:",omitzero"`
	ID    string `json:",omitzero"`
	Span  string `json:",omitzero"`
	Tool  string `json:",omitzero"`
	Agent string `json:",omitzero"`
}

// join returns the id of the event that started the call that e ends. It is "" if e ends no call, or a call without a known start.
// The run joins the calls that are its steps; the fold joins the others.
func (f *fold) join(e *unloop.Event) string {
	step := f.session.Run().Current().Step
	switch e.Type {
	case unloop.ToolCallCompleted, unloop.ToolCallFailed, unloop.ToolCallBlocked:
		switch {
		case step == nil:
			return f.endCall(e, false)
		case step.Start == step.End: // the step of an outcome without a start begins with the outcome
			return ""
		}
		return store.Key(step.Start.ID)
	case unloop.LLMCallCompleted, unloop.LLMCallFailed:
		return f.endCall(e, true)
	case unloop.LLMCallStarted:
		f.startCall(e, true)
	case unloop.ToolCallStarted:
		if step == nil {
			f.startCall(e, false)
		}
	}
	return ""
}

func (f *fold) startCall(e *unloop.Event, model bool) {
	if len(f.s.Open) == maxOpenCalls {
		f.s.Open = slices.Delete(f.s.Open, 0, 1)
	}
	f.s.Open = append(f.s.Open, openCallOf(e, model))
}

func openCallOf(e *unloop.Event, model bool) openCall {
	call := openCall{store.Key(e.ID), model, store.Key(e.CallID), store.Key(e.SpanID), "", store.Key(e.Agent)}
	if !model {
		call.Tool = store.Key(e.ToolName())
	}
	return call
}

// endCall closes an open call and returns the id of its start. It finds the call by call id, span or parent, else it takes the oldest
// call of the same agent and tool.
func (f *fold) endCall(e *unloop.Event, model bool) string {
	end, parent, best := openCallOf(e, model), store.Key(e.ParentEventID), -1
	for k := range f.s.Open {
		o := &f.s.Open[k]
		if o.Model != model {
			continue
		}
		if end.ID != "" && end.ID == o.ID || end.Span != "" && end.Span == o.Span || parent != "" && parent == o.Start {
			best = k
			break
		}
		if best < 0 && end.Agent == o.Agent && (end.Tool == "" || end.Tool == o.Tool) && (end.ID == "" || o.ID == "") {
			best = k
		}
	}
	if best < 0 {
		return ""
	}
	start := f.s.Open[best].Start
	f.s.Open = slices.Delete(f.s.Open, best, best+1)
	return start
}
