package detect

import (
	"fmt"

	"github.com/unloop-ai/unloop"
)

// StalledSteps fires when the latest steps made no progress: Meter.Stalled reaches Estimate. It also fires without such an estimate if
// Meter.Wasted reaches Steps, and either Meter.Certain reaches Certain, or the latest step is a no-op, a poll, the third equal failure, or a
// change that has the words of an earlier one in another order. The finding is Advisory below Steps or below Certain, unless Meter.Stuck
// reaches Stuck: after so many steps without any progress, no other explanation is left.
type StalledSteps struct {
	Estimate float64 // a probability, 0 to 1
	Steps    float64 // wasted steps
	Certain  float64 // certainly wasted steps
	Stuck    int     // consecutive steps with nearly all the evidence that there can be
}

// namedFirst divides the score of this rule, so that a rule that names the shape of the loop takes precedence.
const namedFirst = 1.5

// fewSteps is the least number of steps without progress, unless the latest is a no-op.
const fewSteps = 3

// Info describes the rule.
func (StalledSteps) Info() unloop.Info {
	return unloop.Info{Name: "stalled_steps", At: unloop.AtEnd, Needs: unloop.NeedEffort | unloop.NeedOutcomes | unloop.NeedExcerpts}
}

// Check looks at the step that has just ended.
func (d StalledSteps) Check(r *unloop.Run) (unloop.Finding, bool) {
	m := r.Meter()
	step, ok := currentOutcome(r)
	if !ok || step.Effort.Wasted == 0 || m.Steps < fewSteps && step.Effort.Yield != unloop.NoOp {
		return unloop.Finding{}, false
	}
	estimated := m.Stalled >= d.Estimate && m.Steps >= fewSteps
	enough := m.Wasted >= d.Steps
	certain := enough && m.Certain >= d.Certain
	if !estimated && !certain && !(enough && isPlain(step)) || goesThroughItems(r, step, leastSeries) {
		return unloop.Finding{}, false
	}
	_, output := r.Excerpt(step)
	f := finding(r, "stalled_steps", "", m.Steps, "The last %d steps made little progress", m.Steps)
	if e := effectsSince(r, m.First); e.all > 0 { // 0 if the calls of these results were never started
		f.What += ": " + e.text(m.Steps)
	}
	if output != "" {
		f.What += fmt.Sprintf(". The latest: %s", output)
	}
	f.Score = max(1, m.Wasted/d.Steps/namedFirst)
	f.Advisory = !certain && m.Stuck < d.Stuck
	f.Next = []unloop.Hash{step.ArgsHash}
	stepsThat(r, recent, func(s *unloop.Step) bool { return s.End.Number >= m.First.Number }).attach(&f)
	f.First = m.First
	addNudgeContext(r, &f, 1)
	return f, true
}

// isPlain reports whether a step is evidence of no progress without an estimate.
func isPlain(step *unloop.Step) bool {
	switch step.Effort.Yield {
	case unloop.NoOp:
		return true
	case unloop.Change:
		return step.Effort.Reordered || step.Effort.Rearranged
	case unloop.Failure:
		return step.Repeats.N >= 3
	}
	return step.Effect == unloop.Polling
}
