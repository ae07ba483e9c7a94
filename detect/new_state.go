package detect

import "github.com/unloop-ai/unloop"

// movesOn reports whether the result of a call that was made before is mostly new, such as a number that moves one way.
func movesOn(step *unloop.Step) bool { return step.Effort.Novelty >= progressed && sentBefore(step) }

// sentBefore reports whether an equal call that may change something was made before.
func sentBefore(step *unloop.Step) bool { return max(step.ArgsCount, step.CommandCount) > 1 }

// showsNewState reports whether the step asked what was asked before and its result is new: mostly, or by a line in new words, such as the
// title of the next page.
func showsNewState(r *unloop.Run, step *unloop.Step) bool {
	if step.Effort.Novelty >= newState && sentBefore(step) {
		return true
	}
	return step.Effort.Lines > 0 && step.ResultCount == 1 && askedBefore(r, step)
}

// askedBefore reports whether one of the latest steps before a step asked the same.
func askedBefore(r *unloop.Run, step *unloop.Step) bool {
	for k := range recent {
		s := r.StepAt(k)
		if s == nil {
			return false
		}
		if s.Number < step.Number && s.TargetHash == step.TargetHash {
			return true
		}
	}
	return false
}
