package trace

import "strings"

// nodeSize is the approximate memory of a node in bytes, without the texts of its span.
const nodeSize = 850

// traceSize is the approximate memory of a trace in bytes besides its nodes.
const traceSize = 600

// node is a span in its tree. A span that has not arrived yet may exist as the parent of others.
type node struct {
	span  Span
	known bool

	parent            *node // the parent named by the span, whether it has arrived or not
	child, next, prev *node // the first child; siblings
	cut               bool  // its parent is ignored, because it would form a cycle
	tree              *node // union-find link to the set of connected nodes

	inherited
	inner  []*node // the spans of the same call directly inside it
	at     int     // its index in inner of the enclosing span
	merged *node   // the span that represents the same call beside it; nil for itself
	joined []*node // the spans that are merged into it
	place  int     // its index in its group
	keyed  bool    // the ids of its events derive from its call id

	conversation uint64 // of its messages; 0 if unknown

	emitted emittedEvents // its emitted events
	of      string        // the run of its events; "" if no span of its trace names one and the trace has no id
	counted bool          // it counts in the run

	epoch            uint32 // of the last Add that ordered it
	unsettled, fresh bool   // its inheritance may have changed; its facts have changed
	deep             bool   // the inheritance of its descendants may have changed
	touched, dirty   bool   // whether it is in those lists of the work
}

// inherited is what a span gets from its ancestors.
type inherited struct {
	inside  string // the nearest agent's name, including its own
	run     string // the run named by the span or its nearest ancestor
	within  *node  // the nearest ancestor that is part of an agent's work
	creator *node  // the nearest ancestor with events
	in      *node  // equal to within if both are of the same call
	rooted  bool   // all ancestors up to the root are known
	under   bool   // an ancestor is part of an agent's work
}

// above returns the parent if it has arrived and is not part of a cycle.
func (n *node) above() *node {
	if n.parent == nil || !n.parent.known || n.cut {
		return nil
	}
	return n.parent
}

// inherit updates the inherited facts and reports whether they changed.
func (n *node) inherit() bool {
	have := inherited{rooted: n.span.ParentID == ""}
	if p := n.above(); p != nil {
		have = p.inherited
		have.in = nil
		have.under = have.under || p.span.Kind != Other
		switch p.span.Kind {
		case Tool, Model:
			have.within, have.creator = p, p
		case Agent:
			have.within = p
		}
	}
	if n.span.Run != "" {
		have.run = n.span.Run
	}
	if n.span.Kind == Agent && n.span.Agent != "" {
		have.inside = n.span.Agent
	}
	if have.within != nil && n.span.repeats(&have.within.span.Facts) {
		have.in = have.within
	}
	changed := have != n.inherited
	n.inherited = have
	return changed
}

// canonical returns the span that represents this one: the outermost enclosing span of the same call, or the first span beside
// that one. A span that is nested too deeply represents itself.
func (n *node) canonical() *node {
	top := n
	for deep := 0; top.in != nil; deep++ {
		if deep == maxNest {
			return n
		}
		top = top.in
	}
	if top.merged != nil {
		return top.merged
	}
	return top
}

// enclosed returns the node and the spans of the same call inside it, at most limit of them, unless they are nested too deeply.
func (n *node) enclosed(limit int) []*node {
	all := []*node{n}
	for deep, level := 0, all; deep < maxNest && len(level) > 0; deep++ {
		first := len(all)
		for _, m := range level {
			all = append(all, m.inner[:min(len(m.inner), max(limit-len(all), 0))]...)
		}
		level = all[first:]
	}
	return all
}

// repeats reports whether a span describes the same call as the span around it: a tool call of the agent and of MCP or with the
// same call id, or a model call of two instrumentations.
func (f *Facts) repeats(around *Facts) bool {
	if f.Kind != around.Kind {
		return false
	}
	switch f.Kind {
	case Model:
		return true
	case Tool:
		return sameTool(f.Tool, around.Tool) && (f.MCP || around.MCP || f.CallID != "" && f.CallID == around.CallID)
	}
	return false
}

// sameTool reports whether two names may belong to the same tool. An agent may prefix the name of the server. "" is unknown.
func sameTool(x, y string) bool {
	if x == "" || y == "" {
		return true
	}
	if len(x) > len(y) {
		x, y = y, x
	}
	before, ok := strings.CutSuffix(y, x)
	return ok && (before == "" || strings.ContainsAny(before[len(before)-1:], "_./:-"))
}

// link connects the node to its parent. If that closes a cycle, the span with the smallest id in it loses its parent.
func (t *Trace) link(n *node) {
	if n.span.ParentID == "" {
		return
	}
	p := t.nodes[n.span.ParentID]
	if p == nil {
		p = t.place(n.span.ParentID)
	}
	n.parent = p
	n.next, n.prev = p.child, nil
	if p.child != nil {
		p.child.prev = n
	}
	p.child = n
	if !t.moved { // otherwise retie does it
		t.tie(n)
	}
}

func (t *Trace) unlink(n *node) {
	if n.parent == nil {
		return
	}
	if n.prev != nil {
		n.prev.next = n.next
	} else {
		n.parent.child = n.next
	}
	if n.next != nil {
		n.next.prev = n.prev
	}
	n.parent, n.prev, n.next = nil, nil, nil
}

// tie adds the node to the set of its parent. If both are already in one set and the node has no parent, the new link closes a
// cycle.
func (t *Trace) tie(n *node) {
	mine, its := n.root(), n.parent.root()
	if mine != its {
		mine.tree = its
		return
	}
	least := n
	for m := n.parent; m != n; m = m.parent {
		if m.span.ID < least.span.ID {
			least = m
		}
	}
	least.cut = true
	t.markUnresolved(least)
}

// root returns the representative of the set of connected nodes. It halves the paths.
func (n *node) root() *node {
	for n.tree != nil {
		if n.tree.tree != nil {
			n.tree = n.tree.tree
		}
		n = n.tree
	}
	return n
}

// retie rebuilds the sets after a copy of a span has named another parent.
func (t *Trace) retie() {
	for _, n := range t.nodes {
		if n.cut {
			t.markUnresolved(n)
		}
		n.tree, n.cut = nil, false
	}
	for _, n := range t.nodes {
		if n.parent != nil {
			t.tie(n)
		}
	}
}
