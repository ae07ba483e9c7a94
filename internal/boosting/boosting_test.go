package boosting

import (
	"math"
	"testing"
)

// Two trees: the first asks whether feature 0 is at most 0.5, and then, if it is more, whether feature 1 is at most 2; the second is a leaf
// for each answer about feature 1.
var model = Model{
	Roots:      []int16{0, 2},
	Features:   []uint8{0, 1, 1},
	Thresholds: []float32{0.5, 2, -1},
	Left:       []int16{-1, -2, -4},
	Right:      []int16{1, -3, -5},
	Leaves:     []float32{-1, 0.5, 2, -0.25, 0.25},
}

func TestEstimate(t *testing.T) {
	for _, tc := range []struct {
		name     string
		features []float32
		sum      float64
	}{
		{"a value at the threshold goes left", []float32{0.5, 9}, -1 + 0.25},
		{"a value over the threshold goes right", []float32{0.6, 2}, 0.5 + 0.25},
		{"the second node of a tree decides", []float32{0.6, 2.1}, 2 + 0.25},
		{"every tree adds its leaf", []float32{0, -1}, -1 - 0.25},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, want := model.Trees().Estimate(tc.features), 1/(1+math.Exp(-tc.sum)); math.Abs(got-want) > 1e-6 {
				t.Errorf("the estimate is %v, want %v", got, want)
			}
		})
	}
}

// The fifth tree would make each sum more than 0.
func TestEstimateEndsAHopelessSum(t *testing.T) {
	var m Model
	for range group {
		m.Roots, m.Leaves = append(m.Roots, int16(-1-len(m.Leaves))), append(m.Leaves, -0.5)
	}
	last := append(m.Roots, int16(-1-len(m.Leaves)))
	m.Leaves = append(m.Leaves, 4)
	if got := m.Trees().Estimate(nil); got == 0 {
		t.Error("the estimate is 0, although no tree is left out")
	}
	if m.Roots = last; m.Trees().Estimate(nil) != 0 {
		t.Errorf("the estimate of a sum of -2 after %d trees is %v, want 0", group, m.Trees().Estimate(nil))
	}
	m.Leaves[0] = 0
	if got := m.Trees().Estimate(nil); got < 0.5 {
		t.Errorf("the estimate of a sum of -1.5 after %d trees is %v, want that of all trees", group, got)
	}
}

func BenchmarkEstimate(b *testing.B) {
	features := []float32{0.6, 2.1}
	trees := model.Trees()
	b.ReportAllocs()
	for b.Loop() {
		trees.Estimate(features)
	}
}
