package otlp

import (
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// repeats reports whether a span tells again what the span around it tells: the same tool call, once from the agent
// and once from MCP or by the same call id; or a model call, by two instrumentations.
func (n *node) repeats(around *node) bool {
	if n.kind != around.kind {
		return false
	}
	switch n.kind {
	case model:
		return true
	case tool:
		return sameTool(n.name, around.name) && (n.mcp || around.mcp || n.callID != "" && n.callID == around.callID)
	}
	return false
}

// sameTool reports whether two names are the same tool's. An agent may put the server's name before it.
func sameTool(x, y string) bool {
	if len(x) > len(y) {
		x, y = y, x
	}
	before, ok := strings.CutSuffix(y, x)
	return ok && (before == "" || strings.ContainsAny(before[len(before)-1:], "_./:-"))
}

// merge finds spans of one call that are not within one another, by the call's id, and gives each span that stands
// for others what it lacks.
func (b *batch) merge() {
	type call struct {
		trace pcommon.TraceID
		id    string
	}
	seen := make(map[call]*node)
	ordered := slices.Clone(b.nodes)
	slices.SortStableFunc(ordered, func(x, y *node) int { return x.start.Compare(y.start) })
	for _, n := range ordered {
		if n.kind != tool || n.into != nil || n.callID == "" {
			continue
		}
		key := call{n.key.trace, n.callID}
		first := seen[key]
		if first != nil && sameTool(n.name, first.name) && n.overlaps(first) {
			n.into = first
			continue
		}
		seen[key] = n
	}
	for _, n := range ordered {
		if n.into != nil {
			n.stands().absorb(n)
		}
	}
}

// overlaps reports whether n, which began later, began before first was over. What is not known is taken to be so:
// a call that is tried again has the same id too, but comes after.
func (n *node) overlaps(first *node) bool {
	return n.start.IsZero() || first.end.IsZero() || n.start.Before(first.end) || n.start.Equal(first.start)
}

// absorb takes from a span that is told again what is missing. The outer span's own failure stands; if it tells of
// none, that of the last inner span does, for an earlier one may have been tried again.
func (n *node) absorb(inner *node) {
	n.fill(inner.facts)
	if !n.blame {
		n.failed, n.reason = inner.failed, inner.reason
	}
}
