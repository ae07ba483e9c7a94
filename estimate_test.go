package unloop

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// work adds calls of a tool to a run that keeps NeedEffort, and returns the estimate after each.
func work(calls int, call func(n int) (input, output string)) (estimates []float64, r *Run) {
	r = NewRun("r", measured)
	for n := range calls {
		input, output := call(n)
		r.Add(&Event{Type: ToolCallStarted, Tool: "search", Input: []byte(input)})
		r.Add(&Event{Type: ToolCallCompleted, Tool: "search", Output: []byte(output)})
		estimates = append(estimates, r.Meter().Stalled)
	}
	return estimates, r
}

func TestTheEstimateIsHighWhereNothingIsNew(t *testing.T) {
	same, _ := work(8, func(n int) (string, string) {
		return fmt.Sprintf(`{"query":"time-out of the %s"}`, []string{"worker", "queue", "client", "pool"}[n%4]), `"Error: the index is not available, ask an administrator to build it anew"`
	})
	if last := same[7]; last < 0.9 {
		t.Errorf("after eight equal failures the estimate is %v", last)
	}
	other, _ := work(8, func(n int) (string, string) {
		words := []string{"harbour", "ledger", "orchard", "violin", "glacier", "pepper", "canyon", "lantern", "saddle", "timber"}
		return fmt.Sprintf(`{"query":"%s"}`, words[n]), fmt.Sprintf(`"Of %s: %s and %s are described in chapter %d, with a drawing of each."`, words[n], words[(n+1)%10], words[(n+2)%10], n)
	})
	for n, estimate := range other {
		if estimate > 0.5 {
			t.Errorf("after %d different answers the estimate is %v", n+1, estimate)
		}
	}
}

func TestTheModelWasTrainedOnTheQuantitiesOfAStep(t *testing.T) {
	if diff := cmp.Diff(stalledQuantities, QuantityNames()); diff != "" {
		t.Errorf("run make train (-trained on +now):\n%s", diff)
	}
}

func TestFeaturesAreSharesWithNames(t *testing.T) {
	names := QuantityNames()
	r := NewRun("r", measured)
	moved := map[int]bool{}
	var before Features
	for n := range 60 {
		step(r, n)
		now := r.Meter().Features
		for k, x := range now {
			if x < 0 || x > weightStubborn {
				t.Errorf("after step %d feature %d, %s, is %v", n, k, names[k%stepFeatures], x)
			}
			if x != before[k] {
				moved[k%stepFeatures] = true
			}
		}
		before = now
	}
	if len(moved) < stepFeatures/2 {
		t.Errorf("only %d features ever change", len(moved))
	}
}
