// Package boosting evaluates boosted decision trees for a question with two answers. Package internal/train writes the trees to a Go file
// of the root package, which rates each step of a run by them (ADR 19).
package boosting

import "math"

// Model is a sum of trees: each adds the value of the leaf that the features lead to. Node k asks whether feature Features[k] is at most
// Thresholds[k]; Left[k] is the node for yes, and Right[k] the node for no. A negative number -1-k is leaf k.
type Model struct {
	Roots       []int16 // of each tree, a node
	Features    []uint8
	Thresholds  []float32
	Left, Right []int16
	Leaves      []float32
}

// A sum that is below hopeless after a group of trees is not continued. train.py has the same numbers.
const (
	group    = 4    // trees
	hopeless = -1.8 // log odds
)

// Estimate returns the estimated probability of yes. It is 0 if the sum is below -1.8 after 4, 8, 12 … trees: most such questions are
// answered by no, and the other trees need not be asked. It takes time proportional to the number of trees and their depth, about 5 ns for a
// tree of six leaves, and allocates nothing. The features must be as many as the model was trained with.
func (m *Model) Estimate(features []float32) float64 {
	sum := float32(0)
	for roots := m.Roots; len(roots) > 0; {
		n := min(group, len(roots))
		for _, at := range roots[:n] {
			for at >= 0 {
				if features[m.Features[at]] <= m.Thresholds[at] {
					at = m.Left[at]
				} else {
					at = m.Right[at]
				}
			}
			sum += m.Leaves[-1-at]
		}
		if roots = roots[n:]; sum < hopeless && len(roots) > 0 {
			return 0
		}
	}
	return 1 / (1 + math.Exp(float64(-sum)))
}
