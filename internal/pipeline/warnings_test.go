package pipeline

import (
	"slices"
	"testing"

	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
)

// TestADecisionNamesTheWarningThatItRestsOn has a run that is blocked for one loop when the warning of another grew last.
func TestADecisionNamesTheWarningThatItRestsOn(t *testing.T) {
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
