package detect

import (
	"fmt"
	"strings"

	"github.com/unloop-ai/unloop"
)

// SameCallSameResult fires when the same call has returned the same result repeatedly. Calls are the same if Step.Question is, and results
// if Step.NormalizedResult is. The rule ignores polling calls, which StuckPolling covers, and the first of the equal calls that an agent
// makes. It does not fire if a call that was made before has returned something new since the latest equal step, be it one line in new
// words, because that shows a new state. Neither does it if such a call has returned mostly new text, such as another number of rows that
// are left, since the last but one. The finding is Advisory if the results differ in numbers without a trend, because a measurement may be
// repeated. It is Advisory if another call since the latest of them returned something new, or an earlier question has a new answer since
// the last but one, because the equal calls may be steps of that progress. It is also Advisory if nothing was found and the other arguments
// varied, because another value of them may find something.
type SameCallSameResult struct {
	Weight   float64 // the least Count.Weight of the occurrences, each with a half-life of 24 steps
	Failures int     // the least number of occurrences if the call fails, because a few retries are no loop
}

// measured is the factor by which Weight is higher for a shell command whose results differ in numbers without a trend.
const measured = 1.5

// sampled is the factor if the result is a reading: a number, with a unit or not, of at most reading bytes.
const (
	sampled = 4
	reading = 24
)

// The least novelty of a step that shows progress elsewhere (progressed), of the answer to an earlier question that shows that something has
// changed, such as another number (newAnswer), and of the result of an earlier call that shows another state (newState).
const (
	progressed = 0.7
	newAnswer  = 0.4
	newState   = 0.5
)

// samples returns the factor by which Weight is higher for a step whose results differ in numbers without a trend.
func samples(r *unloop.Run, step *unloop.Step) float64 {
	_, output := r.Excerpt(step)
	switch {
	case output != "" && len(output) <= reading && strings.ContainsRune("+-.0123456789", rune(output[0])):
		return sampled
	case r.Tool(step.Tool).Shell:
		return measured
	}
	return 1
}

// Info describes the rule.
func (SameCallSameResult) Info() unloop.Info {
	return unloop.Info{Name: "same_call_same_result", At: unloop.AtStale, Needs: unloop.NeedOutcomes | unloop.NeedExcerpts | unloop.NeedEffort}
}

// Check looks at the step that has just ended.
func (d SameCallSameResult) Check(r *unloop.Run) (unloop.Finding, bool) {
	step, ok := currentOutcome(r)
	weight := d.Weight
	if !ok || step.Novel || step.Effort.NewToAgent || step.Effect == unloop.Polling || step.Repeats.Weight < weight || step.Failing && step.Repeats.N < d.Failures {
		return unloop.Finding{}, false
	}
	if step.Effort.Varies { // a measurement may be repeated for its median
		weight *= samples(r, step)
	}
	if step.Repeats.Weight < weight || goesThroughItems(r, step, leastSeries-1) {
		return unloop.Finding{}, false
	}
	input, output := r.Excerpt(step)
	n := step.Repeats.N
	f := finding(r, "same_call_same_result", step.Tool, n, "%s %s returned the same result %d times: %s", step.Tool, input, n, orEmpty(output))
	adviseOnRepeat(r, step, &f)
	f.Score = step.Repeats.Weight / weight
	f.Advisory = step.Effort.Varies
	seen, advances, others := 0, false, false // equal steps
	stepsThat(r, recent, func(s *unloop.Step) bool {
		same := s.Question == step.Question && s.NormalizedResult == step.NormalizedResult
		if same {
			seen++
		}
		other := same && s.ArgsHash != step.ArgsHash
		others = others || other
		advances = advances || seen == 1 && showsNewState(r, s) || seen == 2 && movesOn(s)
		changes := seen == 1 && s.Effort.Novelty >= progressed || seen <= 2 && s.Effort.Novelty >= newAnswer && askedBefore(r, s)
		f.Advisory = f.Advisory || changes || other && step.Effort.Yield == unloop.NothingFound
		return same
	}).attach(&f)
	if advances {
		return unloop.Finding{}, false
	}
	if others {
		f.What = fmt.Sprintf("%s %s, and calls that differ from it in details, returned the same result %d times: %s", step.Tool, input, n, orEmpty(output))
	}
	f.Next = []unloop.Hash{step.Question}
	addNudgeContext(r, &f, 1)
	return f, true
}
