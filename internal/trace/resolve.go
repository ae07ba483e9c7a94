package trace

import (
	"math"
	"slices"
)

// work is the work of one Add.
type work struct {
	epoch   uint32
	queue   []*node             // nodes whose inheritance may have changed
	regroup []*group            // groups whose spans have changed
	touch   []*node             // nodes whose span, parent or representative has changed, which may change the events of their representatives
	dirty   []*node             // nodes whose events may have changed
	alone   []*node             // nodes beyond maxSpans
	moved   bool                // the parent of a span has changed
	rerun   bool                // the run of the trace has changed
	served  map[string]struct{} // runs whose service may have changed
}

func (t *Trace) begin() {
	w := &t.work
	*w = work{epoch: w.epoch + 1, queue: w.queue[:0], regroup: w.regroup[:0], touch: w.touch[:0], dirty: w.dirty[:0]}
}

func (t *Trace) markUnresolved(n *node) {
	if !n.unsettled {
		n.unsettled = true
		t.queue = append(t.queue, n)
	}
}

func (t *Trace) touched(n *node) {
	if !n.touched {
		n.touched = true
		t.touch = append(t.touch, n)
	}
}

func (t *Trace) mark(n *node) {
	if !n.dirty {
		n.dirty = true
		t.work.dirty = append(t.work.dirty, n)
	}
}

// resolve updates the relations between spans that may have changed.
func (t *Trace) resolve() {
	if t.moved {
		t.retie()
	}
	for _, n := range t.ordered() {
		if n.unsettled {
			t.spread(n)
		}
	}
	for _, g := range t.regroup {
		t.merge(g)
	}
	if t.rerun {
		for _, n := range t.nodes {
			if n.known && n.run == "" {
				t.touched(n)
			}
		}
	}
	for _, n := range t.touch {
		n.touched = false
		t.mark(n)
		t.mark(n.canonical())
	}
}

// ordered returns the queue and the spans between its nodes, parents before children.
func (t *Trace) ordered() []*node {
	if len(t.queue) < 2 {
		return t.queue
	}
	order := make([]*node, 0, len(t.queue))
	for _, n := range t.queue {
		first := len(order)
		for m := n; m != nil && m.epoch != t.epoch; m = m.above() {
			m.epoch = t.epoch
			order = append(order, m)
		}
		slices.Reverse(order[first:])
	}
	return order
}

// spread updates a node and its changed descendants, except those that are in the order themselves.
func (t *Trace) spread(n *node) {
	stack := []*node{n}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		deep := n.deep
		if changed := t.resolveAgain(n); !changed && !deep {
			continue
		}
		for c := n.child; c != nil; c = c.next {
			if c.cut {
				continue
			}
			c.deep = c.deep || deep
			if c.epoch == t.epoch {
				c.unsettled = true
			} else {
				stack = append(stack, c)
			}
		}
	}
}

// resolveAgain updates one node and reports whether its descendants may change.
func (t *Trace) resolveAgain(n *node) bool {
	before, stood := n.in, n.canonical()
	changed := n.inherit() || n.fresh
	if before != n.in {
		t.touched(stood)
		t.nest(n, before)
	}
	if changed {
		t.touched(n)
	}
	n.unsettled, n.fresh, n.deep = false, false, false
	return changed
}

// nest updates the enclosing span of n from before to the current one; either may be nil.
func (t *Trace) nest(n, before *node) {
	if before != nil {
		last := before.inner[len(before.inner)-1]
		before.inner[n.at], last.at = last, n.at
		before.inner = before.inner[:len(before.inner)-1]
	}
	if n.in != nil {
		n.at = len(n.in.inner)
		n.in.inner = append(n.in.inner, n)
	}
	if n.grouped() {
		t.reconsider(t.calls[n.span.CallID])
	}
	for _, m := range n.enclosed(math.MaxInt) {
		t.touched(m)
		t.below(m)
	}
}

func without(list []*node, n *node) []*node {
	if i := slices.Index(list, n); i >= 0 {
		return slices.Delete(list, i, i+1)
	}
	return list
}

// below marks the spans whose events name an event of n as their parent.
func (t *Trace) below(n *node) {
	stack := []*node{n}
	for len(stack) > 0 {
		m := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for c := m.child; c != nil; c = c.next {
			if c.cut {
				continue
			}
			t.touched(c)
			if c.span.Kind != Tool && c.span.Kind != Model {
				stack = append(stack, c)
			}
		}
	}
}
