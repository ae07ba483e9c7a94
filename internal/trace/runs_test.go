package trace

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// runs returns the runs in which events stand, sorted.
func (s stage) runs() (runs []string) {
	for at := range s {
		if !slices.Contains(runs, at[0]) {
			runs = append(runs, at[0])
		}
	}
	slices.Sort(runs)
	return runs
}

// without returns what stands in all runs but one.
func (s stage) without(run string) stage {
	rest := make(stage)
	for at, e := range s {
		if at[0] != run {
			rest[at] = e
		}
	}
	return rest
}

// checkRuns checks what a trace says of its runs against what stands, and against what it would find now.
func checkRuns(t rapid.TB, trace *Trace, stands stage) {
	t.Helper()
	runs := trace.Runs()
	slices.Sort(runs)
	if diff := cmp.Diff(stands.runs(), runs, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("runs (-all events +Runs):\n%s", diff)
	}
	for _, run := range append(runs, "none") {
		var first, all *node
		for _, n := range trace.nodes {
			if !n.known || !n.span.serves() {
				continue
			}
			if all == nil || byStart(n, all) < 0 {
				all = n
			}
			if trace.runOf(n) == run && (first == nil || byStart(n, first) < 0) {
				first = n
			}
		}
		if first == nil {
			first = all
		}
		want := ""
		if first != nil {
			want = first.span.Service
		}
		if got := trace.Service(run); got != want || got != "" && !trace.Serves(got) {
			t.Fatalf("run %s is of service %q, want %q", run, got, want)
		}
		if trace.In(run) != (run != "none") {
			t.Fatalf("the trace has events in run %s: %v", run, trace.In(run))
		}
	}
}

// The spans of a deleted run give no events, and those of the other runs still give theirs.
func TestADeletedRunDoesNotChangeTheEventsOfOthers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spans := rapid.SliceOfN(rapid.Custom(genSpan), 1, 16).Draw(t, "spans")
		trace, stands := New(), make(stage)
		stands.play(t, trace.Add(spans))
		if len(trace.Runs()) == 0 {
			return
		}
		run := rapid.SampledFrom(stands.runs()).Draw(t, "deleted")
		kept := make(map[string]Span)
		for _, n := range trace.nodes {
			if n.known {
				kept[n.span.ID] = n.span
			}
		}
		for _, s := range trace.Deleted(run) {
			if s.Title+s.Reason+s.Input+s.Output != "" {
				t.Fatalf("%s still has content", s.ID)
			}
			kept[s.ID] = s
		}
		var again []Span
		for _, s := range kept {
			again = append(again, s)
		}
		if diff := cmp.Diff(stands.without(run), once(t, again)); diff != "" {
			t.Fatalf("-before +after:\n%s", diff)
		}
		last := New()
		last.Add(again)
		if changes := last.Add(again); len(changes) > 0 {
			t.Fatalf("known spans change %v", changes[0].Event)
		}
	})
}

func TestASpanThatIsResentAfterADeletionGivesItsEvents(t *testing.T) {
	tool := call("c", "", 1, 2)
	tool.Run = "talk"
	trace := New()
	trace.Add([]Span{tool})
	again := New()
	again.Add(trace.Deleted("talk"))
	if len(again.Runs()) != 0 {
		t.Errorf("a deleted span gives events in %v", again.Runs())
	}
	changed(t, again, []Span{tool}, "+ talk c.start ls", "+ talk c.end ls c.start")
	if changes := again.Add(trace.Deleted("talk")); len(changes) != 0 {
		t.Errorf("what was deleted before changes %v", briefly(changes))
	}
}
