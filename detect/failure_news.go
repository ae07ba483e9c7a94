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

// latestFailures is the number of failures among which newDetails and othersEachTime look for what is new.
const latestFailures = 8

// tellsMore reports whether a failure of a known class has a line in new words, which is a part of its text that counts. It is another
// failure then, such as the next task of a procedure or the next test of a suite.
func tellsMore(step *unloop.Step) bool {
	return step.Effort.Lines > 0 && step.Effort.Novelty >= newDetail
}

// fewFailures is the number of failures that must each tell of another item.
const fewFailures = 3

// aboutNewItems reports whether this step and the two failures of its tool before it each are about an item that no earlier call named.
func aboutNewItems(r *unloop.Run, step *unloop.Step) bool {
	return countFailures(r, step, fewFailures, func(s *unloop.Step) bool { return s.Effort.About }) == fewFailures
}

// mentionNewWords reports whether this step and the two failures of its tool before it each mention a word of their call that no earlier call of
// the tool has, such as the name of the host that refuses.
func mentionNewWords(r *unloop.Run, step *unloop.Step) bool {
	return countFailures(r, step, fewFailures, func(s *unloop.Step) bool { return s.Effort.Mentions }) == fewFailures
}

// newDetails reports whether at least two of the latest failures of this step's tool tell of something new. Such failures may have several
// causes, as those of tests that are run one by one.
func newDetails(r *unloop.Run, step *unloop.Step) bool {
	return countFailures(r, step, latestFailures, func(s *unloop.Step) bool { return s.Effort.Novelty >= anyDetail || s.Effort.Lines > 0 }) >= 2
}

// othersEachTime reports whether at least half of the latest failures of this step's tool were other ones than those before, such as the next
// counterexample of a property whose last one was mended.
func othersEachTime(r *unloop.Run, step *unloop.Step) bool {
	all := countFailures(r, step, latestFailures, func(*unloop.Step) bool { return true })
	others := countFailures(r, step, latestFailures, func(s *unloop.Step) bool { return s.Effort.Novelty >= novelError })
	return 2*others >= all
}

// countFailures returns how many of the latest failures of this step's tool, at most so many, meet a condition.
func countFailures(r *unloop.Run, step *unloop.Step, latest int, meets func(*unloop.Step) bool) (n int) {
	seen := 0
	for s := range failuresLike(r, step) {
		if meets(s) {
			n++
		}
		if seen++; seen == latest {
			break
		}
	}
	return n
}

// failuresLike yields the failures of this step's tool among the recent steps, the latest first.
func failuresLike(r *unloop.Run, step *unloop.Step) iter.Seq[*unloop.Step] {
	return func(yield func(*unloop.Step) bool) {
		for s := range latestSteps(r, recent) {
			if s.Tool == step.Tool && s.Failing && !yield(s) {
				return
			}
		}
	}
}
