package profile

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEachRuleOfTheDefaultProfileHasThresholds(t *testing.T) {
	p, err := New(Default)
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, d := range p.Detectors() {
		rule := d.Info().Name
		found := p.Thresholds(rule)
		if len(found) == 0 || len(found) != len(thresholds[rule]) {
			t.Errorf("rule %s: %v, want %v", rule, found, thresholds[rule])
		}
		named++
	}
	if named != len(thresholds) {
		t.Errorf("thresholds are known for %d rules, the profile has %d", len(thresholds), named)
	}
	other, err := New("cycles")
	if err != nil {
		t.Fatal(err)
	}
	if found := other.Thresholds("same_error"); len(found) != 0 {
		t.Errorf("a rule that the profile does not have: %v", found)
	}
}

func TestAThresholdIsScaled(t *testing.T) {
	whole, part := Threshold{"a", 3, true}, Threshold{"b", 2.3, false}
	var got []float64
	for _, factor := range []float64{0.5, 1.25, 2} {
		got = append(got, whole.Times(factor), part.Times(factor))
	}
	if diff := cmp.Diff([]float64{1, 1.2, 4, 2.9, 6, 4.6}, got, cmp.Comparer(func(a, b float64) bool { return slices.Contains([]float64{b}, a) })); diff != "" {
		t.Errorf("scaled (-want +got):\n%s", diff)
	}
}
