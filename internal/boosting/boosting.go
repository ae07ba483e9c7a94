// Package boosting evaluates boosted decision trees for a question with two answers. Package internal/train writes the trees to a Go file
// of the root package, which rates each step of a run by them (ADR 19).
package boosting

import "math"

// Model is a sum of trees: each adds the value of the leaf that the features lead to. Node k asks whether feature Features[k] is at most
// Thresholds[k]; Left[k] is the node for yes, and Right[k] the node for no. A negative number -1-k is leaf k.
type Model struct {
	Roots       []int16 // of each tree, a node
	Features    []uint8 // less than 255
	Thresholds  []float32
	Left, Right []int16
	Leaves      []float32
}

// Trees are the trees of a Model in the form in which they are asked. The nodes of each tree are in a row, and the node for yes is the one
// after the question.
type Trees struct {
	nodes []node
	roots []uint16
}

// node is a question or, if its feature is leaf, the value of a leaf.
type node struct {
	value   float32 // or the threshold
	feature uint16
	no      uint16
}

const leaf = math.MaxUint16

// Trees returns the trees of the model.
func (m *Model) Trees() *Trees {
	t := new(Trees)
	for _, root := range m.Roots {
		t.roots = append(t.roots, uint16(len(t.nodes)))
		t.add(m, root)
	}
	return t
}

// add adds a node of the model and those below it.
func (t *Trees) add(m *Model, at int16) {
	if at < 0 {
		t.nodes = append(t.nodes, node{value: m.Leaves[-1-at], feature: leaf})
		return
	}
	question := len(t.nodes)
	t.nodes = append(t.nodes, node{value: m.Thresholds[at], feature: uint16(m.Features[at])})
	t.add(m, m.Left[at])
	t.nodes[question].no = uint16(len(t.nodes))
	t.add(m, m.Right[at])
}

// A sum that is below hopeless after a group of trees is not continued. train.py has the same numbers.
const (
	group    = 4    // trees
	hopeless = -1.8 // log odds
)

// Estimate returns the estimated probability of yes. It is 0 if the sum is below -1.8 after 4, 8, 12 … trees: most such questions are
// answered by no, and the other trees need not be asked. It takes time proportional to the number of trees and their depth, about 5 ns for a
// tree of six leaves, and allocates nothing. The features must be as many as the model was trained with.
func (t *Trees) Estimate(features []float32) float64 {
	sum, nodes := float32(0), t.nodes
	for roots := t.roots; len(roots) > 0; {
		n := min(group, len(roots))
		for _, at := range roots[:n] {
			at := uint(at)
			ask := &nodes[at]
			for ask.feature != leaf {
				if at++; !(features[ask.feature] <= ask.value) {
					at = uint(ask.no)
				}
				ask = &nodes[at]
			}
			sum += ask.value
		}
		if roots = roots[n:]; sum < hopeless && len(roots) > 0 {
			return 0
		}
	}
	return 1 / (1 + math.Exp(float64(-sum)))
}
