package otlp

import (
	"strconv"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// node is a span in its tree.
type node struct {
	facts

	key    spanKey
	above  pcommon.SpanID // its parent's
	id     string
	index  int
	root   bool
	start  time.Time
	end    time.Time
	failed bool
	reason string // why it failed
	run    string // named by itself or by a span above
	graph  string // graph.node.id, its agent for want of a better name

	parent  *node
	state   int    // of settle: 0 untouched, 1 on the way, 2 done
	inside  string // the nearest agent span's agent, its own included
	within  *node  // the nearest span above that tells of an agent's work
	into    *node  // the span that stands for this one; nil for itself
	blame   bool   // the failure is its own, not one of a span that was merged into it
	creator *node  // the nearest span above with events
}

func newNode(s span, index int) *node {
	n := &node{
		facts: read(s),
		key:   spanKey{s.TraceID(), s.SpanID()},
		above: s.ParentSpanID(),
		id:    s.SpanID().String(),
		index: index,
		root:  s.ParentSpanID().IsEmpty(),
		start: at(s.StartTimestamp()),
		end:   at(s.EndTimestamp()),
		run: s.text("gen_ai.conversation.id", "session.id", "traceloop.association.properties.session_id",
			"langsmith.trace.session_id", "langfuse.session.id", "langfuse.trace.session_id",
			"ai.telemetry.metadata.sessionId", "gcp.vertex.agent.session_id"),
		graph: s.text("graph.node.id"),
	}
	if n.id == "" {
		n.id = "span" + strconv.Itoa(index)
	}
	if !n.start.IsZero() && !n.end.IsZero() && n.end.Before(n.start) {
		n.end = n.start // clocks of two machines
	}
	n.failed, n.reason = failure(s)
	n.blame = n.failed
	return n
}

// at returns a span's timestamp; 0 is unknown.
func at(t pcommon.Timestamp) time.Time {
	if t == 0 {
		return time.Time{}
	}
	return t.AsTime()
}

// failure reports whether the span failed, and why: by its status' message, its last exception, or its error's type.
func failure(s span) (failed bool, reason string) {
	errorType := s.text("error.type")
	if s.Status().Code() != ptrace.StatusCodeError && errorType == "" {
		return false, ""
	}
	if message := s.Status().Message(); message != "" {
		return true, message
	}
	for i := s.Events().Len() - 1; i >= 0; i-- {
		event := s.Events().At(i)
		if event.Name() != "exception" {
			continue
		}
		kind, message := text(event.Attributes(), "exception.type"), text(event.Attributes(), "exception.message")
		if kind != "" && message != "" {
			return true, kind + ": " + message
		}
		return true, kind + message
	}
	return true, errorType
}

// settle works out what a node has from the spans above it, after those. A span that is above itself loses its
// parent.
func (n *node) settle() {
	var path []*node
	for m := n; m != nil && m.state != 2; m = m.parent {
		if m.state == 1 {
			path[len(path)-1].parent = nil
			break
		}
		m.state = 1
		path = append(path, m)
	}
	for i := len(path) - 1; i >= 0; i-- {
		path[i].inherit()
		path[i].state = 2
	}
}

func (n *node) inherit() {
	if p := n.parent; p != nil {
		n.inside, n.within, n.creator = p.inside, p.within, p.creator
		if n.run == "" {
			n.run = p.run
		}
		if p.kind == tool || p.kind == model || p.kind == agent {
			n.within = p
		}
		if p.kind == tool || p.kind == model {
			n.creator = p
		}
	}
	if n.kind == agent && n.agent != "" {
		n.inside = n.agent
	}
	if n.within != nil && n.repeats(n.within) {
		n.into = n.within.stands()
	}
}

// stands returns the span whose events are this one's.
func (n *node) stands() *node {
	for n.into != nil {
		n = n.into
	}
	return n
}

// actor returns who acted.
func (n *node) actor() string {
	for _, name := range []string{n.agent, n.inside} {
		if name != "" {
			return name
		}
	}
	return n.graph
}
