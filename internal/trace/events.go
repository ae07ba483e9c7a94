package trace

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

// events returns the events of a span: the start and the end of a call, the start of a handoff, or the end of a run. It returns
// none for another span, and none if another span represents the same call.
func (t *Trace) events(n *node) (start, end *unloop.Event) {
	if n.canonical() != n || n.span.Deleted {
		return nil, nil
	}
	whole := n.together()
	switch n.span.Kind {
	case Tool:
		if whole.Tool == "" {
			return nil, nil // the named parent span has not arrived yet
		}
		if to := n.span.handoff(); to != "" {
			return t.handoff(n, &whole, to), nil
		}
		start, end = t.toolCall(n, &whole)
	case Model:
		start, end = t.modelCall(n, &whole)
	default:
		end = t.runEnd(n, &whole)
	}
	if n.span.Open {
		end = nil
	}
	return start, end
}

func (t *Trace) toolCall(n *node, whole *combined) (start, end *unloop.Event) {
	call := whole.CallID
	if call == "" {
		call = n.span.ID
	}
	start = t.start(n, whole, unloop.ToolCallStarted)
	end = t.end(n, whole, unloop.ToolCallCompleted, unloop.ToolCallFailed)
	end.ParentEventID = start.ID
	start.Tool, end.Tool = whole.Tool, whole.Tool
	start.CallID, end.CallID = call, call
	start.Input, end.Output = Raw(whole.Input), Raw(whole.Output)
	return start, end
}

// Raw returns a copy of the text, so that the event does not share it.
func Raw(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}

func (t *Trace) modelCall(n *node, whole *combined) (start, end *unloop.Event) {
	start = t.start(n, whole, unloop.LLMCallStarted)
	end = t.end(n, whole, unloop.LLMCallCompleted, unloop.LLMCallFailed)
	end.ParentEventID = start.ID
	start.Model, end.Model = whole.Model, whole.Model
	end.Tokens, end.Usage, end.Cost = whole.Tokens, whole.Usage.Known(), whole.Cost
	return start, end
}

// Known returns the usage in the form of events, or nil if it is unknown.
func (u Usage) Known() *unloop.Usage {
	if u == (Usage{}) {
		return nil
	}
	return &unloop.Usage{Input: u.Input, Output: u.Output, CachedInput: u.CachedInput, CacheWrite: u.CacheWrite, Reasoning: u.Reasoning}
}

// handoff returns the handoff event. The agent's name is the one from its own spans, if they have it.
func (t *Trace) handoff(n *node, whole *combined, to string) *unloop.Event {
	if name := t.names[plain(to)]; name != "" {
		to = name
	}
	start := t.start(n, whole, unloop.HandoffStarted)
	meta, err := json.Marshal(map[string]string{"from": start.Agent})
	if err == nil { // strings can always be encoded
		start.Metadata = meta
	}
	start.Agent = to
	return start
}

// runEnd returns the end of the run: at the end of the outermost span of an agent or a workflow, or of the root if its trace has
// a call. The status of the span decides whether the run failed. A successful HTTP request around an agent gives no event.
func (t *Trace) runEnd(n *node, whole *combined) *unloop.Event {
	root, ends := n.span.ParentID == "", false
	switch n.span.Kind {
	case Agent, Workflow:
		ends = n.rooted && !n.under
	case Tool, Model:
		ends = root
	default:
		ends = root && n.span.Failed && t.agentSpans > 0
	}
	if !ends {
		return nil
	}
	end := t.end(n, whole, unloop.RunCompleted, unloop.RunFailed)
	end.Latency = nil // the duration of a run is not the latency of a step
	if end.Name = n.span.Title; n.span.Kind == Agent && n.span.Agent != "" {
		end.Name = n.span.Agent
	}
	return end
}

func (t *Trace) start(n *node, whole *combined, typ unloop.EventType) *unloop.Event {
	e := t.event(n, whole, typ)
	e.ID, e.Time = n.base()+StartSuffix, TimeOf(n.span.Start, n.span.End)
	if n.creator != nil {
		e.ParentEventID = n.creator.canonical().base() + StartSuffix
	}
	return e
}

func (t *Trace) end(n *node, whole *combined, completed, failed unloop.EventType) *unloop.Event {
	e := t.event(n, whole, completed)
	e.ID, e.Time = n.base()+EndSuffix, TimeOf(n.span.End, n.span.Start)
	if whole.failed {
		e.Type = failed
		if whole.reason != "" {
			e.Error = ingest.Text(whole.reason)
		}
	}
	if n.span.Start != 0 && n.span.End != 0 {
		ms := float64(n.span.End-n.span.Start) / float64(time.Millisecond)
		e.Latency = &ms
	}
	return e
}

const (
	StartSuffix = ".start"
	EndSuffix   = ".end"

	// NoID is the prefix of the id of a span without one in a file. A number follows.
	NoID = "span"
)

// base returns the prefix of the ids of the span's events.
func (n *node) base() string {
	if n.keyed {
		return CallKey(n.span.CallID)
	}
	return n.span.ID
}

// CallKey returns the prefix of the ids of a call's events if spans and log records report the same call. It is never the id of a
// span.
func CallKey(callID string) string { return "call:" + callID }

func (t *Trace) event(n *node, whole *combined, typ unloop.EventType) *unloop.Event {
	e := &unloop.Event{RunID: n.run, Type: typ, Agent: whole.Agent, TraceID: n.span.TraceID, Index: n.span.Index}
	if e.RunID == "" {
		e.RunID = t.run()
	}
	if e.Agent == "" {
		e.Agent = n.inside
	}
	if e.Agent == "" {
		e.Agent = n.span.Graph
	}
	if rest, ok := strings.CutPrefix(n.span.ID, NoID); !ok || strings.Trim(rest, "0123456789") != "" {
		e.SpanID = n.span.ID
	}
	return e
}

// TimeOf returns the first of two times that is known.
func TimeOf(nanos, or int64) time.Time {
	if nanos == 0 {
		nanos = or
	}
	if nanos == 0 {
		return time.Time{}
	}
	return time.Unix(0, nanos).UTC()
}
