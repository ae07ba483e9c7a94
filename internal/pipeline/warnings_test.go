package pipeline

import (
	"slices"
	"testing"

	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
)

// TestADecisionNamesTheWarningThatItRestsOn has a run that is blocked for one loop when the warning of another grew last.
func TestADecisionNamesTheWarningThatItRestsOn(t *testing.T) {
	events := calls("r", 7)
	for k := 7; k < 10; k++ {
		other := call("r", k)
		other[0].Tool, other[1].Tool = "fetch", "fetch"
		events = append(events, other...)
	}
	told := &recorder{}
	p, stop := start(t, Options{Store: newMemory(), Sinks: []Sink{told}})
	submit(t, p, events...)
	submit(t, p, call("r", 10)[0])
	stop()
	last := told.updates[len(told.updates)-1]
	if len(last.Decisions) != 1 || last.Decisions[0].Action != policy.Block || len(last.Warnings) != 2 {
		t.Fatalf("decisions %+v, warnings %+v", last.Decisions, last.Warnings)
	}
	at := slices.IndexFunc(last.Warnings, func(w store.Warning) bool { return w.ID == last.Decisions[0].Warning })
	if at < 0 || last.Warnings[at].Subject != "search" || !last.Warnings[1-at].Updated.After(last.Warnings[at].Updated) {
		t.Errorf("the decision %+v of the warnings %+v", last.Decisions[0], last.Warnings)
	}
}
