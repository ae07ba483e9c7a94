package detect

import (
	"iter"

	"github.com/unloop-ai/unloop"
)

// What failures of one class of error tell besides the class.

// newDetail is the lowest novelty at which a line in new words makes a failure another one.
const newDetail = 0.15

// anyDetail is the lowest novelty at which a failure tells of something new.
const anyDetail = 0.1

// latestFailures is the number of failures of which newDetails looks for what is new.
const latestFailures = 8

// tellsMore reports whether a failure of a known class has a line in new words, which is a part of its text that counts. It is another
// failure then, such as the next task of a procedure or the next test of a suite.
func tellsMore(step *unloop.Step) bool {
	return step.Effort.Lines > 0 && step.Effort.Novelty >= newDetail
}

// tellsOfItems reports whether this step and the two failures of its tool before it tell of an item that no earlier call named.
func tellsOfItems(r *unloop.Run, step *unloop.Step) bool {
	seen := 0
	for s := range failuresLike(r, step) {
		if !s.Effort.About {
			return false
		}
		if seen++; seen == 3 {
			return true
		}
	}
	return false
}

// newDetails reports whether at least two of the latest failures of this step's tool tell of something new. Such failures may have several
// causes, as those of tests that are run one by one.
func newDetails(r *unloop.Run, step *unloop.Step) bool {
	seen, fresh := 0, 0
	for s := range failuresLike(r, step) {
		if s.Effort.Novelty >= anyDetail || s.Effort.Lines > 0 {
			fresh++
		}
		if seen++; seen == latestFailures {
			break
		}
	}
	return fresh >= 2
}

// othersEachTime reports whether at least half of the latest failures of this step's tool were other ones than those before, such as the next
// counterexample of a property whose last one was mended.
func othersEachTime(r *unloop.Run, step *unloop.Step) bool {
	seen, others := 0, 0
	for s := range failuresLike(r, step) {
		if s.Effort.Novelty >= novelError {
			others++
		}
		if seen++; seen == latestFailures {
			break
		}
	}
	return 2*others >= seen
}

// failuresLike yields the failures of this step's tool among the recent steps, the latest first.
func failuresLike(r *unloop.Run, step *unloop.Step) iter.Seq[*unloop.Step] {
	return func(yield func(*unloop.Step) bool) {
		for k := range recent {
			s := r.StepAt(k)
			if s == nil || s.Tool == step.Tool && s.Failing && !yield(s) {
				return
			}
		}
	}
}
