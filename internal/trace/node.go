package trace

import "strings"

// nodeSize is about what a node takes, without its span's texts.
const nodeSize = 800

// traceSize is about what a trace takes beside its nodes.
const traceSize = 600

// node is a span in its tree. One that is not known yet is only named by its children.
type node struct {
	span  Span
	known bool

	parent            *node // as the span names it, known or not
	child, next, prev *node // the first child; siblings
	cut               bool  // it would be above itself by its parent
	tree              *node // towards the name of the set of nodes that hang together

	inherited
	inner  []*node // those that are directly in it
	at     int     // where in the inner ones of the one that it is in
	merged *node   // the span of the same call, side by side with it, that stands for it; nil for itself
	joined []*node // those that are merged into it
	place  int     // in its group
	keyed  bool    // its events are named after its call

	stood standing // the events that stand
	of    string   // the run that it belongs to

	epoch            uint32 // of the last Add that ordered it
	unsettled, fresh bool   // its inheritance may have changed; it has other facts
	deep             bool   // so have those that look at it from below
	touched, dirty   bool   // in those lists of the work
}

// inherited is what a span has from the spans above it.
type inherited struct {
	inside  string // the nearest agent span's agent, its own included
	run     string // that it or the nearest span above names
	within  *node  // the nearest span above that tells of an agent's work
	creator *node  // the nearest span above with events
	in      *node  // within, if both tell of one call
	rooted  bool   // the spans above are known, up to the root
	under   bool   // one of them tells of an agent's work
}

// above returns the parent if it is known and the node does not hang from itself.
func (n *node) above() *node {
	if n.parent == nil || !n.parent.known || n.cut {
		return nil
	}
	return n.parent
}

// inherit works out anew what the node has from above, and reports whether that changed.
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

// canonical returns the span whose events are this one's: the outermost of those that it is in, or the first of those side by
// side with that one. What is too deep stands for itself.
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

// enclosed returns the node and those that are in it, directly or not, as far as they are not too deep: at most limit of
// them. One that is in another itself has them up to there, at most.
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

// repeats reports whether a span tells again what the span around it tells: the same tool call, once from the agent
// and once from MCP or by the same call id; or a model call, by two instrumentations.
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

// sameTool reports whether two names may be the same tool's. An agent may put the server's name before it; "" is unknown.
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

// link hangs the node from its parent. Where that closes a ring, the span with the least id in it loses its parent.
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
	if !t.moved { // or else retie does it
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

// tie notes that the node hangs together with its parent. Nodes that hang together already, and of which none is above
// the node, have it above its parent: a ring.
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

// root names the set of nodes that hang together. Each walk halves the way of the next.
func (n *node) root() *node {
	for n.tree != nil {
		if n.tree.tree != nil {
			n.tree = n.tree.tree
		}
		n = n.tree
	}
	return n
}

// retie finds the rings anew, after a copy of a span has named another parent.
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
