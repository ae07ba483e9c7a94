package detect

import "github.com/unloop-ai/unloop"

// SameError fires when a tool failed repeatedly with the same class of error, to at least two different inputs, and without progress. Below
// twice that number of failures, a failure with a line in new words is progress, and the finding is Advisory. It is also Advisory if calls
// changed something since the first failure, if the tool is not a shell and the inputs are about different items, or if two of the latest
// failures tell of something new.
//
// It also fires, always Advisory, when the same class of error recurred with other steps in between, unless at least half of the latest
// failures of the tool told of something new.
type SameError struct {
	Times    int     // failures in a row
	Stubborn float64 // the least Count.Weight of failures with other steps in between
}

// patience is the factor by which tests may fail longer than other commands, because tests are meant to fail.
const patience = 1.3

// stubbornNovelty is the lowest novelty of the text around an error at which the steps in between count as progress.
const stubbornNovelty = 0.06

// novelError is the lowest novelty at which a failure with a known class of error is progress, such as a test run with fewer
// errors.
const novelError = 0.5

// Info describes the rule.
func (SameError) Info() unloop.Info {
	return unloop.Info{Name: "same_error", At: unloop.AtStale, Needs: unloop.NeedOutcomes | unloop.NeedExcerpts | unloop.NeedEffort}
}

// Check looks at the tool of the step that has just failed.
func (d SameError) Check(r *unloop.Run) (unloop.Finding, bool) {
	step, ok := currentOutcome(r)
	if !ok || !step.Failing || step.Effort.Novelty >= novelError {
		return unloop.Finding{}, false
	}
	row, n := &r.Tool(step.Tool).Errors, r.Tool(step.Tool).ErrorsSinceAdvance
	times := d.Times
	if step.Effect == unloop.Polling { // it waits before it tries again
		times *= 2
	}
	if n < times || row.Inputs < 2 || n < 2*times && tellsMore(step) {
		return d.stubborn(r, step)
	}
	_, output := r.Excerpt(step)
	f := finding(r, "same_error", step.Tool, n, "%s failed %d times in a row with the same kind of error: %s", step.Tool, n, output)
	f.Score = float64(n) / float64(times)
	f.Advisory = n < 2*times || mayHaveSeveralCauses(r, step) // up to twice the number, the inputs may rule out one cause after another
	stepsThat(r, recent, func(s *unloop.Step) bool { return s.Tool == step.Tool && s.Failing }).latest(n).attach(&f)
	f.First = row.First
	addNudgeContext(r, &f, 1)
	return f, true
}

// mayHaveSeveralCauses reports whether the latest failures of the step's tool may be attempts at a fix, or answers to different questions.
func mayHaveSeveralCauses(r *unloop.Run, step *unloop.Step) bool {
	tool := r.Tool(step.Tool)
	switch {
	case r.Changes() > tool.ChangesAtFirstError: // the changes may be attempts at a fix
		return true
	case asksAboutItems(r, step) && (!tool.Shell || mentionNewWords(r, step)): // commands are equal in form, so the errors must tell of the items
		return true
	}
	return aboutNewItems(r, step) || newDetails(r, step) // such as a crash with a smaller file
}

// stubborn returns a finding if the weight of all occurrences of the error is high, whatever the steps in between are.
func (d SameError) stubborn(r *unloop.Run, step *unloop.Step) (unloop.Finding, bool) {
	tool := r.Tool(step.Tool)
	if step.Errors.N == tool.Errors.Count && r.Changes() == tool.ChangesAtFirstError {
		return unloop.Finding{}, false // nothing is in between: SameCallSameResult covers equal calls
	}
	weight := d.Stubborn
	if step.Test {
		weight *= patience
	}
	if step.Errors.Weight < weight || step.Effort.Novelty > stubbornNovelty || othersEachTime(r, step) {
		return unloop.Finding{}, false
	}
	_, output := r.Excerpt(step)
	f := finding(r, "same_error", step.Tool, step.Errors.N, "%s failed %d times with the same kind of error, whatever was tried in between: %s",
		step.Tool, step.Errors.N, output)
	f.Score = step.Errors.Weight / weight
	f.Advisory = true // each time something else may have been tried
	stepsThat(r, recent, func(s *unloop.Step) bool { return s.Tool == step.Tool && s.Failing }).attach(&f)
	addNudgeContext(r, &f, 1)
	return f, true
}
