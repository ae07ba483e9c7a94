package detect

import (
	"fmt"
	"strings"

	"github.com/unloop-ai/unloop"
)

// Cycle fires when a pattern of 2 to 8 steps, calls and results, comes again and none of its steps told anything new: when
// it stands at the end at least Rounds times, or when Steps of its steps came again in their order.
type Cycle struct {
	Rounds int
	Steps  int
}

// Info describes the rule.
func (Cycle) Info() unloop.Info {
	return unloop.Info{Name: "cycle", At: unloop.AtStale, Needs: unloop.NeedOutcomes | unloop.NeedExcerpts}
}

// Check looks for the shortest pattern at the end of the run's outcomes.
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
		f.What = fmt.Sprintf("the last %d steps, with their results, are those of %d steps before: %s", again, period, patternOf(r, again))
	}
	f.Score = float64(again) / float64(need)
	f.Advisory = again <= period // to go through the same files a second time, with the context lost, is honest
	f.Period = period
	for k := range period {
		if s := r.StepAt(k); s != nil {
			f.Next = append(f.Next, s.Question)
		}
	}
	addNudgeContext(r, &f, period)
	stepsThat(r, period+again, func(*unloop.Step) bool { return true }).attach(&f)
	return f, true
}

// shortest returns the shortest period of which enough came again: how many steps did, and how many are enough. The period
// is 1 if it is one step that comes again, and 0 if nothing does. Where a step of the pattern failed, whole rounds count: to
// do it all once more after a failure is a retry.
func (d Cycle) shortest(r *unloop.Run) (period, again, need int) {
	outcomes := r.OutcomePeriods()
	if outcomes.Matches[0] > 0 {
		return 1, 0, 0
	}
	for period = 2; period <= unloop.MaxPeriod; period++ {
		need = period * (d.Rounds - 1)
		again = outcomes.Matches[period-1]
		if again >= need || again >= d.Steps && !failing(r, period) {
			return period, again, min(need, d.Steps)
		}
	}
	return 0, 0, 0
}

// failing reports whether one of the last period steps failed.
func failing(r *unloop.Run, period int) bool {
	for k := range period {
		if s := r.StepAt(k); s != nil && s.Failing {
			return true
		}
	}
	return false
}

// subjectOf names the tools of the last period steps, each once, in the order of the alphabet.
func subjectOf(r *unloop.Run, period int) string {
	var tools []string
	for k := range period {
		if s := r.StepAt(k); s != nil {
			tools = append(tools, s.Tool)
		}
	}
	return joinSorted(tools)
}

// patternOf describes the last period steps, oldest first.
func patternOf(r *unloop.Run, period int) string {
	var parts []string
	for k := period - 1; k >= 0; k-- {
		if s := r.StepAt(k); s != nil {
			input, _ := r.Excerpt(s)
			parts = append(parts, s.Tool+" "+input)
		}
	}
	return strings.Join(parts, ", then ")
}

// polls reports whether one of the last period steps polls: then it is stuck_polling that says whether that leads nowhere.
func polls(r *unloop.Run, period int) bool {
	for k := range period {
		if s := r.StepAt(k); s != nil && s.Effect == unloop.Polling {
			return true
		}
	}
	return false
}
