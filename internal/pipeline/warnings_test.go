package pipeline

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/profile"
)

// TestADecisionNamesItsWarning has a run that is blocked for one loop when the warning of another grew last.
func TestADecisionNamesItsWarning(t *testing.T) {
	other := call("r", 7)
	other[0].Tool, other[1].Tool = "fetch", "fetch"
	told := &recorder{}
	p, stop := start(t, Options{Store: newMemory(), Sinks: []Sink{told}})
	submit(t, p, append(calls("r", 7), other...)...)
	submit(t, p, call("r", 8)[0])
	stop()
	last := told.updates[len(told.updates)-1]
	if len(last.Decisions) != 1 || last.Decisions[0].Action != policy.Block {
		t.Fatalf("decisions %+v, warnings %+v", last.Decisions, last.Warnings)
	}
	at := slices.IndexFunc(last.Warnings, func(w store.Warning) bool { return w.ID == last.Decisions[0].Warning })
	if at < 0 || last.Warnings[at].Subject != "search" {
		t.Fatalf("the decision %+v of the warnings %+v", last.Decisions[0], last.Warnings)
	}
	if !slices.ContainsFunc(last.Warnings, func(w store.Warning) bool { return w.Updated.After(last.Warnings[at].Updated) }) {
		t.Errorf("no warning has grown later than that of the decision: %+v", last.Warnings)
	}
}

// TestOnlyGrownWarningsAreWrittenAgain compares to what is written for all warnings, after steps of any tools and lengths.
func TestOnlyGrownWarningsAreWrittenAgain(t *testing.T) {
	judge, err := profile.New("cycles")
	if err != nil {
		t.Fatal(err)
	}
	kept := 0
	rapid.Check(t, func(t *rapid.T) {
		r := &run{row: store.Run{Number: 1, ID: "r"}, fold: newFold(judge, "r")}
		var known []store.Warning
		for n := range rapid.IntRange(1, 6).Draw(t, "looks") {
			for range rapid.IntRange(0, 8).Draw(t, "calls") {
				tool := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "tool")
				for _, e := range call("r", r.fold.s.Events/2) {
					e.Tool = tool
					r.fold.add(e, placement{at: store.Position{Sequence: int64(r.fold.s.Events + 1)}, arrival: int64(r.fold.s.Events + 1), received: begin, size: 100})
				}
			}
			touched := maps.Clone(r.fold.grown)
			now := warningsAfter(known, r)
			for _, w := range known {
				k, _ := slices.BinarySearchFunc(now, &w, byRuleOf)
				if anew := &now[k].Details[0] != &w.Details[0]; anew != touched[warningKey(w.Rule, w.Subject)] {
					t.Fatalf("look %d: warning %s of %s was written anew: %v", n, w.Rule, w.Subject, anew)
				} else if !anew {
					kept++
				}
			}
			if diff := cmp.Diff(warningsOf(r), now, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("look %d: what all warnings are and what they are after the last look (-want +got):\n%s", n, diff)
			}
			known = now
		}
	})
	if kept == 0 {
		t.Error("no warning stayed unchanged while another grew")
	}
}
