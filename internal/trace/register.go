package trace

import (
	"strings"

	"github.com/unloop-ai/unloop/internal/ingest"
)

// alias is a name of an agent.
type alias struct {
	plain string
	spans int // number of spans that use it
}

// register records the facts of a span that the whole trace needs.
func (t *Trace) register(n *node) {
	s := &n.span
	t.size += s.bytes()
	if s.Kind != Other {
		t.agentSpans++
		if t.agentSpans == 1 {
			t.touchFailed()
		}
	} else if s.ParentID == "" && s.Failed {
		t.failed[n] = struct{}{}
	}
	if s.Agent != "" {
		t.name(s.Agent)
	}
	if to := s.handoff(); to != "" {
		at := plain(to)
		if t.handoffs[at] == nil {
			t.handoffs[at] = make(map[*node]struct{})
		}
		t.handoffs[at][n] = struct{}{}
	}
	if n.grouped() {
		t.join(n)
	}
	if s.serves() {
		t.services[s.Service]++
	}
	t.first.serve(n)
	t.registerMessages(n)
	if s.Run != "" && (t.named == nil || byStart(n, t.named) < 0) {
		t.nameRun(n)
	}
}

// unregister removes the facts that register recorded.
func (t *Trace) unregister(n *node) {
	s := &n.span
	t.size -= s.bytes()
	if s.Kind != Other {
		t.agentSpans--
		if t.agentSpans == 0 {
			t.touchFailed()
		}
	}
	delete(t.failed, n)
	if s.Agent != "" {
		t.unname(s.Agent)
	}
	if to := s.handoff(); to != "" {
		delete(t.handoffs[plain(to)], n)
	}
	if n.grouped() {
		t.leave(n)
	}
	if s.serves() {
		if t.services[s.Service]--; t.services[s.Service] == 0 {
			delete(t.services, s.Service)
		}
	}
	t.unregisterMessages(n)
	if t.named == n {
		t.renameRun(n)
	}
}

func (t *Trace) touchFailed() {
	for n := range t.failed {
		t.touched(n)
	}
}

// name records the name of an agent. If several names have the same plain form, the smallest is used.
func (t *Trace) name(name string) {
	if a := t.aliases[name]; a != nil {
		a.spans++
		return
	}
	a := &alias{plain: plain(name), spans: 1}
	t.aliases[name] = a
	if known := t.names[a.plain]; known == "" || name < known {
		t.names[a.plain] = name
		t.touchHandoffs(a.plain)
	}
}

func (t *Trace) unname(name string) {
	a := t.aliases[name]
	if a.spans--; a.spans > 0 {
		return
	}
	delete(t.aliases, name)
	if t.names[a.plain] != name {
		return
	}
	least := ""
	for other, b := range t.aliases {
		if b.plain == a.plain && (least == "" || other < least) {
			least = other
		}
	}
	t.names[a.plain] = least
	t.touchHandoffs(a.plain)
}

func (t *Trace) touchHandoffs(at string) {
	for n := range t.handoffs[at] {
		t.touched(n)
	}
}

// nameRun sets the run of the trace, which is the run of all spans without a named one, to that of n.
func (t *Trace) nameRun(n *node) {
	t.rerun = t.rerun || n == nil || t.named == nil || n.span.Run != t.run()
	t.named = n
}

// renameRun finds the first span that names a run, other than but.
func (t *Trace) renameRun(but *node) {
	var first *node
	for _, n := range t.nodes {
		if n.known && n != but && n.span.Run != "" && (first == nil || byStart(n, first) < 0) {
			first = n
		}
	}
	t.nameRun(first)
}

// run returns the run of spans without a named run.
func (t *Trace) run() string {
	if t.named != nil {
		return t.named.span.Run
	}
	return t.id
}

// HandoffPrefix is the prefix of the name of a handoff span in OpenInference and Logfire.
const HandoffPrefix = "handoff to "

// handoff returns the agent to which a tool hands over, or "". The tool transfer_to_agent of ADK has the agent in its arguments.
func (f *Facts) handoff() string {
	if f.Kind != Tool {
		return ""
	}
	for _, prefix := range []string{"transfer_back_to_", "transfer_to_", "handoff_to_", HandoffPrefix} {
		to, ok := strings.CutPrefix(f.Tool, prefix)
		if !ok {
			continue
		}
		if to == "agent" {
			if name := ingest.UnquoteText(ingest.MembersOf(f.Input)["agent_name"]); name != "" {
				return name
			}
		}
		return to
	}
	return ""
}

// plain returns a name in the form of tool names: refund_agent for the Refund Agent.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' {
			return '_'
		}
		return r
	}, strings.ToLower(name))
}
