package unloop

import (
	"math"

	"github.com/unloop-ai/unloop/internal/fingerprint"
)

// remaining follows the numbers in the outcomes of consecutive changes. A change that leaves less to do than the one before is progress,
// although its words are known. A number that grows is none, because it can be a version.
type remaining struct {
	Numbers [8]float64
	Count   int // number of Numbers
	Falls   int // consecutive changes after which one whole number alone was smaller
}

// falls records the outcome of a change. It reports whether one whole number alone was smaller than before twice in a row. alike means that
// the outcome of the change before has the same words.
func (m *remaining) falls(w *fingerprint.Words, alike bool) bool {
	smaller, others := 0, 0
	if alike && m.Count == w.Count {
		for k := range w.Count {
			switch {
			case w.Numbers[k] == m.Numbers[k]:
			case w.Numbers[k] < m.Numbers[k] && w.Numbers[k] == math.Trunc(w.Numbers[k]):
				smaller++
			default:
				others++
			}
		}
	}
	if smaller == 1 && others == 0 {
		m.Falls++
	} else {
		m.Falls = 0
	}
	m.Numbers, m.Count = w.Numbers, w.Count
	return m.Falls >= leastAdvances
}

// shrinks records the number of words of an outcome. It reports whether the outcome is at least the second of known content in a row that is
// shorter than all since the latest new content: a list gets shorter. Pages that come back in turn do not: the shortest of them is known.
// One that is not shorter begins the count anew, because samples differ in length by chance.
func (t *Tool) shrinks(o *reading, effort *Effort) bool {
	n := len(o.words.List)
	if n < shortAnswer || !effort.Writes || t.Shell || o.words.Ending == fingerprint.Refused {
		return false
	}
	if effort.Novelty >= newResult || t.LeastWords == 0 {
		t.LeastWords, t.Shrinks = n, 0
		return false
	}
	if !effort.Known || n >= t.LeastWords {
		t.Shrinks = 0
		return false
	}
	t.LeastWords = n
	t.Shrinks++
	return t.Shrinks >= leastAdvances
}
