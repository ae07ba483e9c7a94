package trace

import (
	"cmp"
	"math"
	"slices"
)

// group is the spans of a trace with the same call id.
type group struct {
	nodes []*node
	dirty bool
	large bool // it had more than maxCall spans when it was last merged
}

// grouped reports whether the span is in the group of its call id.
func (n *node) grouped() bool {
	return n.span.CallID != "" && (n.span.Kind == Tool || n.span.ByCall)
}

func (t *Trace) join(n *node) {
	g := t.calls[n.span.CallID]
	if g == nil {
		g = new(group)
		t.calls[n.span.CallID] = g
	}
	n.place = len(g.nodes)
	g.nodes = append(g.nodes, n)
	t.reconsider(g)
}

func (t *Trace) leave(n *node) {
	g := t.calls[n.span.CallID]
	last := g.nodes[len(g.nodes)-1]
	g.nodes[n.place], last.place = last, n.place
	g.nodes = g.nodes[:len(g.nodes)-1]
	t.mergeInto(n, nil)
	t.key(n, false)
	t.reconsider(g)
	if len(g.nodes) == 0 {
		delete(t.calls, n.span.CallID)
	}
}

func (t *Trace) reconsider(g *group) {
	if !g.dirty {
		g.dirty = true
		t.regroup = append(t.regroup, g)
	}
}

// merge finds spans of one call that are not nested. A later span that began before the end of the first one belongs to the same
// call. A span that began afterwards is a retry.
func (t *Trace) merge(g *group) {
	g.dirty = false
	large := len(g.nodes) > maxCall
	if large && g.large {
		return // a new span alone needs no merge
	}
	g.large = large
	if len(g.nodes) == 1 {
		n := g.nodes[0]
		t.mergeInto(n, nil)
		t.key(n, n.in == nil && n.span.ByCall)
		return
	}
	ordered := slices.Clone(g.nodes)
	slices.SortFunc(ordered, byStart)
	var first *node
	keyed := false
	for _, n := range ordered {
		same := first != nil && n.in == nil && !large && n.span.Kind == first.span.Kind &&
			sameTool(n.span.Tool, first.span.Tool) && n.span.overlaps(&first.span)
		if same {
			t.mergeInto(n, first)
			t.key(n, false)
			continue
		}
		t.mergeInto(n, nil)
		t.key(n, n.in == nil && !large && !keyed && n.span.ByCall)
		keyed = keyed || n.keyed
		if n.in == nil {
			first = n
		}
	}
}

func byStart(a, b *node) int {
	return cmp.Or(cmp.Compare(a.span.Start, b.span.Start), cmp.Compare(a.span.ID, b.span.ID))
}

// overlaps reports whether s, which began later, began before the end of first. Unknown times count as overlapping. A retry has
// the same call id and begins afterwards.
func (s *Span) overlaps(first *Span) bool {
	return s.Start == 0 || first.End == 0 || s.Start < first.End || s.Start == first.Start
}

// mergeInto sets the span that represents n, or nil for n itself.
func (t *Trace) mergeInto(n, first *node) {
	if n.merged == first {
		return
	}
	if n.merged != nil {
		n.merged.joined = without(n.merged.joined, n)
		t.touched(n.merged)
	}
	n.merged = first
	if first != nil {
		first.joined = append(first.joined, n)
		t.touched(first)
	}
	t.touchRepresented(n)
}

// key sets whether the ids of n's events derive from its call id. Only one span of a call may use the call id, because ids must
// be unique.
func (t *Trace) key(n *node, keyed bool) {
	if n.keyed != keyed {
		n.keyed = keyed
		t.touchRepresented(n)
	}
}

// touchRepresented marks all spans whose events depend on the representative of n.
func (t *Trace) touchRepresented(n *node) {
	for _, of := range append([]*node{n}, n.joined...) {
		for _, m := range of.enclosed(math.MaxInt) {
			t.touched(m)
			t.below(m)
		}
	}
}

// combined is the facts of a span together with the spans that it represents.
type combined struct {
	Facts
	failed bool
	reason string
}

// together completes the facts of the span with those of the spans of the same call. The span's own failure is kept. Without one,
// the failure of the last other span counts, because earlier ones may have been retried.
func (n *node) together() combined {
	whole := combined{n.span.Facts, n.span.Failed, n.span.Reason}
	for _, m := range n.others() {
		whole.Fill(&m.span.Facts)
		if !n.span.Failed {
			whole.failed, whole.reason = m.span.Failed, m.span.Reason
		}
	}
	return whole
}

// others returns the other spans of the call that the span represents, in order. It returns none if they are too many, or if the span
// is nested too deeply to represent others.
func (n *node) others() []*node {
	if n.in != nil || len(n.inner) == 0 && len(n.joined) == 0 {
		return nil
	}
	others := n.enclosed(maxCall + 2)[1:]
	for _, m := range n.joined {
		others = append(others, m.enclosed(maxCall+1)...)
	}
	if len(others) > maxCall {
		return nil
	}
	slices.SortFunc(others, byStart)
	return others
}
