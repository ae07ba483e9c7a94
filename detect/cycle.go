package detect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unloop-ai/unloop"
)

// Cycle fires when the latest steps repeat a pattern of 2 to 8 steps without novelty. Steps are equal if their targets and
// normalized results are. The finding is Advisory until the third round begins. A pattern with a polling call
// does not count, because StuckPolling covers it.
type Cycle struct {
	Rounds int // consecutive occurrences of the pattern
	Steps  int // repeated steps that suffice before that many rounds, unless a step of the pattern failed
}

// Info describes the rule.
func (Cycle) Info() unloop.Info {
	return unloop.Info{Name: "cycle", At: unloop.AtStale, Needs: unloop.NeedOutcomes | unloop.NeedExcerpts}
}

// Check looks for the shortest pattern that the latest outcomes repeat.
func (d Cycle) Check(r *unloop.Run) (unloop.Finding, bool) {
	step, ok := currentOutcome(r)
	if !ok || step.Novel || r.StepsWithoutNovelty() < min(d.Steps, 2*(d.Rounds-1)) {
		return unloop.Finding{}, false
	}
	period, again, need := d.shortest(r)
	if period < 2 || r.StepsWithoutNovelty() < need || polls(r, period) {
		return unloop.Finding{}, false
	}
	rounds := again/period + 1
	f := finding(r, "cycle", subjectOf(r, period), rounds, "%s, with the same results, %d times in a row", patternOf(r, period), rounds)
	if rounds < 2 {
		f.What = fmt.Sprintf("The last %d steps, with their results, are those of %d steps before: %s", again, period, patternOf(r, again))
	}
	f.Score = float64(again) / float64(need)
	f.Advisory = again <= period // an agent that lost its context reads the same files again
	f.Period = period
	for s := range latestSteps(r, period) {
		f.Next = append(f.Next, s.Question)
	}
	addNudgeContext(r, &f, period)
	stepsThat(r, period+again, func(*unloop.Step) bool { return true }).attach(&f)
	return f, true
}

// shortest returns the shortest period with enough repeated steps, the number of repeated steps, and the number that is needed.
// The period is 1 if a single step repeats, and 0 if nothing does. If a step of the pattern failed, only Rounds counts,
// because one repetition after a failure is a retry.
func (d Cycle) shortest(r *unloop.Run) (period, again, need int) {
	outcomes := r.OutcomePeriods()
	if outcomes.Repeated(1) > 0 {
		return 1, 0, 0
	}
	for period = 2; period <= unloop.MaxPeriod; period++ {
		need = period * (d.Rounds - 1)
		again = outcomes.Repeated(period)
		if again >= need || again >= d.Steps && !failing(r, period) {
			return period, again, min(need, d.Steps)
		}
	}
	return 0, 0, 0
}

// failing reports whether one of the last period steps failed.
func failing(r *unloop.Run, period int) bool {
	for s := range latestSteps(r, period) {
		if s.Failing {
			return true
		}
	}
	return false
}

// subjectOf returns the tools of the last period steps, sorted, each once.
func subjectOf(r *unloop.Run, period int) string {
	var tools []string
	for s := range latestSteps(r, period) {
		tools = append(tools, s.Tool)
	}
	return joinSorted(tools)
}

// patternOf describes the last period steps, oldest first.
func patternOf(r *unloop.Run, period int) string {
	var parts []string
	for s := range latestSteps(r, period) {
		input, _ := r.Excerpt(s)
		parts = append(parts, s.Tool+" "+input)
	}
	slices.Reverse(parts)
	return strings.Join(parts, ", then ")
}

// polls reports whether one of the last period steps polls. StuckPolling covers such a pattern.
func polls(r *unloop.Run, period int) bool {
	for s := range latestSteps(r, period) {
		if s.Effect == unloop.Polling {
			return true
		}
	}
	return false
}
