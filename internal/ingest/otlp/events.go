package otlp

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

// moments returns the events of a span, none where another one stands for it.
func (b *batch) moments(n *node) []moment {
	if n.into != nil {
		return nil
	}
	switch n.kind {
	case tool:
		if to := handoff(n.name); to != "" {
			return b.handoff(n, to)
		}
		return b.toolCall(n)
	case model:
		return b.modelCall(n)
	}
	return b.runEnd(n)
}

func (b *batch) toolCall(n *node) []moment {
	call := n.callID
	if call == "" {
		call = n.id
	}
	start, end := b.start(n, unloop.ToolCallStarted), b.end(n, unloop.ToolCallCompleted, unloop.ToolCallFailed)
	for _, e := range []*unloop.Event{start.event, end.event} {
		e.Tool, e.CallID = n.name, call
	}
	start.event.Input, end.event.Output = n.input, n.output
	return []moment{start, end}
}

func (b *batch) modelCall(n *node) []moment {
	start, end := b.start(n, unloop.LLMCallStarted), b.end(n, unloop.LLMCallCompleted, unloop.LLMCallFailed)
	start.event.Model, end.event.Model = n.model, n.model
	end.event.Tokens, end.event.Cost = n.tokens, n.cost
	return []moment{start, end}
}

// handoff returns the agent that a tool hands over to, or "".
func handoff(name string) string {
	for _, prefix := range []string{"transfer_back_to_", "transfer_to_", "handoff_to_", "handoff to "} {
		if to, ok := strings.CutPrefix(name, prefix); ok {
			return to
		}
	}
	return ""
}

// handoff gives the handoff, to the agent's name as its own spans tell it where they do.
func (b *batch) handoff(n *node, to string) []moment {
	if name := b.agents[plain(to)]; name != "" {
		to = name
	}
	start := b.start(n, unloop.HandoffStarted)
	meta, err := json.Marshal(map[string]string{"from": start.event.Agent})
	if err == nil { // strings always can be written
		start.event.Metadata = meta
	}
	start.event.Agent = to
	return []moment{start}
}

// plain is a name as it is written in a tool's name: transfer_to_refund_agent for the Refund Agent.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' {
			return '_'
		}
		return r
	}, strings.ToLower(name))
}

// runEnd gives the end of the run, at the root's end: as failed by its status, as completed if it is an agent's or a
// workflow's. A root of another kind, such as the HTTP request that the agent answers, says nothing when all is well.
func (b *batch) runEnd(n *node) []moment {
	about := n.kind != other || n.failed && b.told[n.key.trace]
	if !n.root || !about {
		return nil
	}
	end := b.end(n, unloop.RunCompleted, unloop.RunFailed)
	end.rank, end.event.ParentEventID = 1, ""
	end.event.Latency = nil // how long a run took is no latency of a step
	return []moment{end}
}

func (b *batch) start(n *node, typ unloop.EventType) moment {
	e := b.event(n, typ, ".start", n.start)
	if n.creator != nil {
		e.ParentEventID = n.creator.stands().id + ".start"
	}
	return moment{at: known(n.start, n.end), event: e}
}

func (b *batch) end(n *node, well, failed unloop.EventType) moment {
	e := b.event(n, well, ".end", n.end)
	e.ParentEventID = n.id + ".start"
	if n.failed {
		e.Type = failed
		if n.reason != "" {
			e.Error = ingest.Text(n.reason)
		}
	}
	if !n.start.IsZero() && !n.end.IsZero() {
		ms := float64(n.end.Sub(n.start)) / float64(time.Millisecond)
		e.Latency = &ms
	}
	return moment{at: known(n.end, n.start), event: e}
}

func (b *batch) event(n *node, typ unloop.EventType, suffix string, when time.Time) *unloop.Event {
	e := &unloop.Event{
		ID:     n.id + suffix,
		RunID:  b.runOf(n),
		Time:   when,
		Type:   typ,
		Agent:  n.actor(),
		SpanID: n.key.span.String(),
		Index:  n.index,
	}
	if !n.key.trace.IsEmpty() {
		e.TraceID = n.key.trace.String()
	}
	return e
}

func known(times ...time.Time) time.Time {
	for _, t := range times {
		if !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}
