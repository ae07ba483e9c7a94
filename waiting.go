package unloop

import "github.com/unloop-ai/unloop/internal/fingerprint"

// waits reports whether the step that has just ended asked for the state of something that is still in progress. Then it polls: it has the
// patience of polls, also without a pause in between. A first call does not poll, because it may have started what is in progress.
// content is the fingerprint.Content of the result. Without NeedOutcomes it reads only results of calls that failed, because
// nothing else depends on it.
func (r *Run) waits(t *Tool, e *Event, content []byte) bool {
	needed := r.options.Needs&NeedOutcomes != 0 || r.options.Needs&NeedExcerpts != 0 && r.step.Failing
	if !needed || r.step.Test || r.step.Effect == Polling && !r.step.Failing || !r.askedAgain() {
		return false
	}
	output, failure := e.Output, e.Error
	if t.Shell {
		output, failure = fingerprint.Unwrap(content, &r.echo), fingerprint.Unwrap(failure, &r.echo)
	}
	switch {
	case len(failure) == 0:
		return fingerprint.Pending(output)
	case len(output) == 0:
		return fingerprint.Pending(failure)
	}
	return false
}

// askedAgain reports whether one of the latest 32 steps before the current one made an equal call.
func (r *Run) askedAgain() bool {
	for k := range r.s.Recent {
		if s := &r.s.Recent[k]; s.ArgsHash == r.step.ArgsHash && s.Number < r.step.Number {
			return true
		}
	}
	return false
}
