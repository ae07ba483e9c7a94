package trace

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
)

// briefly tells changes in short, events with what most of these tests are about.
func briefly(changes []Change) []string {
	var told []string
	for _, c := range changes {
		e := c.Event
		if c.Removed {
			told = append(told, fmt.Sprintf("- %s %s", e.RunID, e.ID))
			continue
		}
		line := fmt.Sprintln("+", e.RunID, e.ID, e.Agent, e.Tool, string(e.Input), string(e.Output), e.ParentEventID)
		told = append(told, strings.Join(strings.Fields(line), " "))
	}
	return told
}

// call is a span of a call of ls below another one.
func call(id, parent string, start, end int64) Span {
	return Span{TraceID: "t", ID: id, ParentID: parent, Start: start, End: end, Facts: Facts{Kind: Tool, Tool: "ls"}}
}

func changed(t *testing.T, trace *Trace, spans []Span, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, briefly(trace.Add(spans))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestLateSpansChangeEarlierEvents(t *testing.T) {
	t.Run("a parent that names the agent", func(t *testing.T) {
		trace := New()
		changed(t, trace, []Span{call("c", "p", 1, 2)}, "+ t c.start ls", "+ t c.end ls c.start")
		changed(t, trace, []Span{{TraceID: "t", ID: "p", ParentID: "r", Facts: Facts{Kind: Agent, Agent: "clerk"}}},
			"+ t c.start clerk ls", "+ t c.end clerk ls c.start")
	})
	t.Run("a session moves events to its run", func(t *testing.T) {
		trace := New()
		trace.Add([]Span{call("c", "p", 1, 2)})
		changed(t, trace, []Span{{TraceID: "t", ID: "x", ParentID: "p", Run: "s"}},
			"- t c.end", "- t c.start", "+ s c.start ls", "+ s c.end ls c.start")
	})
	t.Run("the surrounding span of the same call", func(t *testing.T) {
		trace := New()
		inner := call("c", "p", 2, 3)
		inner.MCP, inner.Output = true, `"ok"`
		below := call("below", "c", 2, 3)
		below.Tool = "rm"
		trace.Add([]Span{inner, below})
		changed(t, trace, []Span{call("p", "r", 1, 4)},
			"- t c.end", "- t c.start", "+ t p.start ls", "+ t below.start rm p.start", `+ t p.end ls "ok" p.start`)
	})
	t.Run("an end changes no start", func(t *testing.T) {
		trace := New()
		trace.Add([]Span{call("c", "p", 1, 2)})
		changed(t, trace, []Span{call("c", "p", 1, 3)}, "+ t c.end ls c.start")
	})
	t.Run("an earlier copy changes nothing", func(t *testing.T) {
		trace := New()
		trace.Add([]Span{call("c", "p", 1, 2)})
		changed(t, trace, []Span{call("c", "p", 1, 1)})
	})
	t.Run("another copy of the surrounding span names another tool", func(t *testing.T) {
		trace := New()
		inner := call("c", "x", 2, 3)
		inner.MCP = true
		trace.Add([]Span{call("p", "r", 1, 4), {TraceID: "t", ID: "x", ParentID: "p"}, inner})
		other := call("p", "r", 1, 5)
		other.Tool = "run"
		changed(t, trace, []Span{other}, "+ t p.start run", "+ t c.start ls p.start", "+ t c.end ls c.start", "+ t p.end run p.start")
	})
	t.Run("the receiving agent gives its name", func(t *testing.T) {
		trace := New()
		over := call("c", "p", 1, 2)
		over.Tool = "transfer_to_front_desk"
		changed(t, trace, []Span{over}, "+ t c.start front_desk")
		changed(t, trace, []Span{{TraceID: "t", ID: "a", ParentID: "p", Facts: Facts{Kind: Agent, Agent: "Front Desk"}}}, "+ t c.start Front Desk")
	})
}

func TestSpansOfAnotherTraceAreIgnored(t *testing.T) {
	trace := New()
	trace.Add([]Span{call("c", "p", 1, 2)})
	other := call("d", "p", 1, 2)
	other.TraceID = "u"
	changed(t, trace, []Span{other, {TraceID: "t"}})
}

func TestACallWithoutAToolWaitsForItsName(t *testing.T) {
	trace := New()
	inner := call("c", "p", 2, 3)
	inner.Tool, inner.CallID, inner.ByCall, inner.Failed = "", "1", true, true
	changed(t, trace, []Span{inner})
	outer := call("p", "r", 1, 4)
	outer.CallID, outer.ByCall = "1", true
	changed(t, trace, []Span{outer}, "+ t call:1.start ls", "+ t call:1.end ls call:1.start")
}

// The bounds of what counts as one call.
func TestBounds(t *testing.T) {
	crowd := func(n int) (spans []Span) {
		for i := range n {
			s := call(fmt.Sprintf("%04d", i), "p", 1, 2)
			s.CallID = "c"
			spans = append(spans, s)
		}
		return spans
	}
	nested := func(n int) (spans []Span) {
		for i := range n {
			s := call(fmt.Sprintf("%04d", i), fmt.Sprintf("%04d", i-1), 1, 2)
			s.MCP = true
			spans = append(spans, s)
		}
		return spans
	}
	within := func(n int) []Span {
		spans := []Span{call("p", "r", 1, 2)}
		for i := range n {
			s := call(fmt.Sprintf("%04d", i), "p", 1, 2)
			s.MCP, s.Output = true, `"ok"`
			spans = append(spans, s)
		}
		return spans
	}
	tests := []struct {
		name  string
		spans []Span
		want  int
	}{
		{"spans of one call id are one call", crowd(maxCall), 2},
		{"too many spans are not merged", crowd(maxCall + 1), 2 * (maxCall + 1)},
		{"spans in one another are one call", nested(maxNest + 1), 2},
		{"deep nesting is not merged", nested(maxNest + 3), 2 * 3},
		{"spans in one are one call, however many", within(maxCall + 1), 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := len(New().Add(tt.spans)); got != tt.want {
				t.Errorf("got %d events, want %d", got, tt.want)
			}
		})
	}
	t.Run("too many spans are ignored", func(t *testing.T) {
		for n, want := range map[int]string{maxCall: `"ok"`, maxCall + 1: ""} {
			for _, c := range New().Add(within(n)) {
				if got := string(c.Event.Output); c.Event.ID == "p.end" && got != want {
					t.Errorf("with %d spans in it, the output is %q, want %q", n, got, want)
				}
			}
		}
	})
}

func TestASpanBeyondTheLimitHasNoContext(t *testing.T) {
	trace := New()
	spans := make([]Span, maxSpans)
	for i := range spans {
		spans[i] = Span{TraceID: "t", ID: fmt.Sprintf("%016x", i), Run: "s", Facts: Facts{Kind: Agent, Agent: "clerk"}}
	}
	trace.Add(spans)
	size := trace.Size()
	changed(t, trace, []Span{call("c", spans[7].ID, 1, 2)}, "+ s c.start ls", "+ s c.end ls c.start")
	if trace.Size() != size {
		t.Error("the size has grown")
	}
}

func TestAReceiverMayChangeEvents(t *testing.T) {
	s := call("c", "p", 1, 2)
	s.Input, s.Output = `{"d":1}`, `"ok"`
	trace := New()
	for _, c := range trace.Add([]Span{s}) {
		clear(c.Event.Input)
		clear(c.Event.Output)
	}
	changed(t, trace, []Span{{TraceID: "t", ID: "p", ParentID: "r", Facts: Facts{Kind: Agent, Agent: "clerk"}}},
		`+ t c.start clerk ls {"d":1}`, `+ t c.end clerk ls "ok" c.start`)
}

func TestTie(t *testing.T) {
	took := func(ms float64) *float64 { return &ms }
	start := func(id string, typ unloop.EventType) *unloop.Event {
		return &unloop.Event{ID: id + ".start", Type: typ}
	}
	end := func(id string, typ unloop.EventType, latency *float64) *unloop.Event {
		return &unloop.Event{ID: id + ".end", Type: typ, Latency: latency}
	}
	inOrder := func(t *testing.T, events ...*unloop.Event) {
		t.Helper()
		for i, e := range events {
			if tie := Tie(e); tie < 0 || i > 0 && Tie(events[i-1]) >= tie {
				t.Errorf("%s is not at place %d", e.ID, i)
			}
		}
	}
	for i := range 200 {
		a, b := fmt.Sprintf("%016x", i), fmt.Sprintf("%016x", i+1000)
		t.Run("one call ends before the next begins "+a, func(t *testing.T) {
			inOrder(t, end(a, unloop.ToolCallCompleted, took(5)), start(b, unloop.ToolCallStarted))
			inOrder(t, end(b, unloop.ToolCallCompleted, took(5)), start(a, unloop.ToolCallStarted))
		})
		t.Run("a call that takes no time ends after it began, before another does "+a, func(t *testing.T) {
			inOrder(t, start(a, unloop.ToolCallStarted), end(a, unloop.ToolCallFailed, took(0)))
			inOrder(t, start(a, unloop.LLMCallStarted), end(a, unloop.LLMCallFailed, nil))
			between := Tie(start(b, unloop.ToolCallStarted))
			if Tie(start(a, unloop.ToolCallStarted)) < between && between < Tie(end(a, unloop.ToolCallCompleted, took(0))) {
				t.Error("another one begins in between")
			}
		})
		t.Run("the inner call ends before the outer, the run last "+a, func(t *testing.T) {
			inOrder(t, end(a, unloop.ToolCallCompleted, took(4)), end(b, unloop.ToolCallCompleted, took(5)), end(a, unloop.RunFailed, nil))
			inOrder(t, end(b, unloop.ToolCallCompleted, took(0.000001)), end(a, unloop.ToolCallCompleted, took(1e12)), start(a, unloop.HandoffStarted))
		})
		t.Run("a model is called before the tools that it asks for "+a, func(t *testing.T) {
			inOrder(t, start(a, unloop.LLMCallStarted), end(a, unloop.LLMCallCompleted, nil), start(b, unloop.ToolCallStarted))
		})
	}
}
