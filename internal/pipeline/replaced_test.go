package pipeline

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/internal/trace"
)

func TestAnAgentThatIsNamedLastCostsNoLookups(t *testing.T) {
	tool, root, mcp := conversation()
	root.Run = ""
	mcp.ParentID, mcp.Start, mcp.End = root.ID, tool.End, tool.End+1 // a call of its own, after the other
	h := newHandFed(t)
	h.spans(tool)
	h.spans(mcp)
	h.spans(root)
	if n := h.m.reads.Load(); n != 0 {
		t.Errorf("%d reads of events, want none: the trace knows its events, and all of them change", n)
	}
	row := h.verdicts()[conversed].Run
	if row.Refold != nil || row.Metrics.ToolCalls != 2 || cmp.Diff([]string{"desk"}, row.Agents) != "" {
		t.Errorf("the run has %d calls of %v, marked: %v", row.Metrics.ToolCalls, row.Agents, row.Refold)
	}
}

func TestAChangedSpanReadsTheOtherEvents(t *testing.T) {
	tool, _, mcp := conversation()
	mcp.ParentID = ""
	better := tool
	better.End += int64(time.Second)
	whole, h := newHandFed(t), newHandFed(t)
	whole.spans(better, mcp)
	h.spans(tool)
	h.spans(mcp)
	h.spans(better)
	if diff := cmp.Diff(whole.verdicts(), h.verdicts(), regardlessOfArrival); diff != "" {
		t.Errorf("(-whole +changed):\n%s", diff)
	}
}

// TestASpanReplacesAnEventOfItsID has an event that something else than its trace gave.
func TestASpanReplacesAnEventOfItsID(t *testing.T) {
	for name, moves := range map[string]bool{"in its run": false, "in a commit that empties another run": true} {
		t.Run(name, func(t *testing.T) {
			tool, root, mcp := conversation()
			tool.Run = "talk"
			whole := newHandFed(t)
			whole.spans(tool)
			spans := []trace.Span{tool}
			if moves {
				spans = []trace.Span{mcp, tool, root}
				whole = newHandFed(t)
				whole.spans(spans...)
			}
			h := newHandFed(t)
			if moves {
				h.spans(spans[0])
			}
			h.together(&Submission{Events: []*unloop.Event{{
				RunID: "talk", ID: tool.ID + trace.EndSuffix, Type: unloop.ToolCallCompleted, Tool: "other", Time: begin.Add(time.Hour),
			}}})
			h.spans(spans...)
			diff := cmp.Diff(whole.verdicts(), h.verdicts(), regardlessOfArrival, cmpopts.IgnoreFields(store.Run{}, "Name"))
			if diff != "" {
				t.Errorf("(-spans alone +with the event):\n%s", diff)
			}
		})
	}
}

func TestEventsMoveOutOfAMarkedRun(t *testing.T) {
	const id = "00000000000000000000000000000001"
	tool := func(n int) trace.Span {
		at := begin.Add(time.Duration(n) * time.Second).UnixNano()
		return trace.Span{
			TraceID: id, ID: fmt.Sprintf("%016x", n), ParentID: "00000000000000ff", Start: at, End: at + 1000,
			Facts: trace.Facts{Kind: trace.Tool, Tool: "search", Output: `[]`},
		}
	}
	h := newHandFed(t)
	never(h.Pipeline)
	h.spans(tool(2))
	h.spans(tool(1)) // late, so the run is marked
	h.spans(trace.Span{TraceID: id, ID: "00000000000000ff", Run: "talk", Start: begin.UnixNano(), End: begin.Add(time.Hour).UnixNano(), Facts: trace.Facts{Kind: trace.Agent, Agent: "desk"}})
	if events := h.verdicts()[id].Events; len(events) > 0 {
		t.Errorf("the run still has the events %v, which are those of another run now", events)
	}
}
