package detect

import (
	"fmt"

	"github.com/unloop-ai/unloop"
)

// StalledSteps fires when the latest steps made no progress: unloop.Meter.Wasted is at least Steps. The finding is Advisory while
// unloop.Meter.Certain is less than Certain.
type StalledSteps struct {
	Steps   float64
	Certain float64
}

// leastWasted is the least Effort.Wasted of the latest step.
const leastWasted = 0.2

// namedFirst divides the score of this rule. A rule that names the shape of the loop then has the higher score.
const namedFirst = 1.5

// fewSteps is the least number of wasted steps.
const fewSteps = 3

// Info describes the rule.
func (StalledSteps) Info() unloop.Info {
	return unloop.Info{Name: "stalled_steps", At: unloop.AtEnd, Needs: unloop.NeedEffort | unloop.NeedOutcomes | unloop.NeedExcerpts}
}

// Check looks at the step that has just ended.
func (d StalledSteps) Check(r *unloop.Run) (unloop.Finding, bool) {
	m := r.Meter()
	step, ok := currentOutcome(r)
	if !ok || m.Wasted < d.Steps || m.Steps < fewSteps || step.Effort.Wasted < leastWasted {
		return unloop.Finding{}, false
	}
	_, output := r.Excerpt(step)
	f := finding(r, "stalled_steps", "", m.Steps, "The last %d steps made little progress: %s", m.Steps, countEffects(r, m))
	if output != "" {
		f.What += fmt.Sprintf(". The latest: %s", output)
	}
	f.Score = max(1, m.Wasted/d.Steps/namedFirst)
	f.Advisory = m.Certain < d.Certain
	f.Next = []unloop.Hash{step.ArgsHash}
	stepsThat(r, recent, func(s *unloop.Step) bool { return s.Effort.Wasted > 0 && s.End.Number >= m.First.Number }).attach(&f)
	f.First = m.First
	addNudgeContext(r, &f, 1)
	return f, true
}

// countEffects returns how many of the wasted steps failed, found nothing, returned known content or were no-ops, and the share of their
// outcomes that was new. The run remembers the latest steps only, so it says of how many it speaks if there were more.
func countEffects(r *unloop.Run, m *unloop.Meter) string {
	var n [unloop.NoOp + 1]int
	novelty, all := 0.0, 0
	for k := range recent {
		s := r.StepAt(k)
		if s == nil || s.End.Number < m.First.Number {
			break
		}
		if s.Effort.Wasted > 0 {
			n[s.Effort.Yield]++
			novelty += s.Effort.Novelty
			all++
		}
	}
	text, latest := "", ""
	if all < m.Steps {
		latest = fmt.Sprintf("of the latest %d, ", all)
	}
	for _, part := range []struct {
		of     unloop.Yield
		phrase string
	}{{unloop.Failure, "failed"}, {unloop.NothingFound, "found nothing"}, {unloop.Content, "returned known content"}, {unloop.Change, "repeated an earlier change"}, {unloop.NoOp, "had no effect"}} {
		if n[part.of] == 0 {
			continue
		}
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("%d %s", n[part.of], part.phrase)
	}
	return fmt.Sprintf("%s%s; %.0f %% of the returned text was new", latest, text, 100*novelty/float64(max(1, all)))
}
