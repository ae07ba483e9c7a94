package trace

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
)

// sent adds spans to a window, after describe, and returns its events in short.
func sent(t *testing.T, describe func(*Window), spans ...Span) []string {
	t.Helper()
	var got []string
	w := NewWindow("file", func(e *unloop.Event) error {
		got = append(got, strings.TrimSpace(fmt.Sprintln(e.Index, e.RunID, e.ID, e.Type, string(e.Error))))
		return nil
	})
	describe(w)
	for _, s := range spans {
		if err := w.Add(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Send(); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestWindow(t *testing.T) {
	call := func(id, parent string, start, end int64) Span {
		return Span{TraceID: "t", ID: id, ParentID: parent, Start: start, End: end, Facts: Facts{Kind: Tool, Tool: id}}
	}
	agent := func(id string, end int64, failed bool) Span {
		return Span{TraceID: "t", ID: id, Start: 1, End: end, Failed: failed, Reason: map[bool]string{true: id}[failed], Facts: Facts{Kind: Agent, Agent: id}}
	}
	root := func(w *Window) { w.Root("t", "work", "s"); w.Root("t", "", "") }
	none := func(*Window) {}
	open := call("a", "", 1, 0)
	open.Open = true
	for _, tc := range []struct {
		name     string
		describe func(*Window)
		spans    []Span
		want     []string
	}{
		{"calls below a root end no run, but the root does", root, []Span{call("a", "", 1, 2), call("b", "", 3, 4)}, []string{
			"0 s a.start tool_call_started", "0 s a.end tool_call_completed", "1 s b.start tool_call_started", "1 s b.end tool_call_completed", "0 s t.end run_completed",
		}},
		{"the last agent decides whether the run failed", root, []Span{agent("a", 3, true), agent("b", 4, false)}, []string{"0 s t.end run_completed"}},
		{"a failed last agent", root, []Span{agent("a", 3, false), agent("b", 4, true)}, []string{`0 s t.end run_failed "b"`}},
		{"an open call has no end, nor has its run", root, []Span{open}, []string{"0 s a.start tool_call_started"}},
		{"a span with the id of its trace is its own root", root, []Span{call("t", "", 1, 2)}, []string{"0 t t.start tool_call_started", "0 t t.end tool_call_completed"}},
		{"spans without ids and without a trace belong to the file", none, []Span{{Start: 1, End: 2, Facts: Facts{Kind: Tool, Tool: "x"}}, {Start: 3, End: 4, Facts: Facts{Kind: Tool, Tool: "x"}}}, []string{
			"0 file span0.start tool_call_started", "0 file span0.end tool_call_completed", "1 file span1.start tool_call_started", "1 file span1.end tool_call_completed",
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, sent(t, tc.describe, tc.spans...)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestAFullWindowSendsItsSpans adds more than fits. The memory of a window is bounded, and no call is lost.
func TestAFullWindowSendsItsSpans(t *testing.T) {
	text := `"` + strings.Repeat("x", 1<<20) + `"`
	most, events := 0, 0
	w := NewWindow("file", func(*unloop.Event) error { events++; return nil })
	for i := range 200 {
		s := Span{TraceID: "t", ID: fmt.Sprint(i), ParentID: "r", Start: int64(i + 1), End: int64(i + 2), Facts: Facts{Kind: Tool, Tool: "x", Output: text}}
		if err := w.Add(s); err != nil {
			t.Fatal(err)
		}
		most = max(most, w.size)
	}
	if err := w.Send(); err != nil {
		t.Fatal(err)
	}
	if most > WindowSize || events != 400 {
		t.Errorf("at most %d bytes, want %d; %d events, want 400", most, WindowSize, events)
	}
}
