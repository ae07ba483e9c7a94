package detect

import (
	"fmt"
	"strings"

	"github.com/unloop-ai/unloop"
)

// StalledSteps fires when the latest steps made no progress: unloop.Meter.Stalled is at least Estimate. It also fires without such an estimate
// if unloop.Meter.Wasted is at least Steps, and unloop.Meter.Certain is at least Certain, or the call is a no-op, a poll, the third equal
// failure, or a change that has the words of an earlier one in another order. The finding is Advisory below Steps or below Certain.
type StalledSteps struct {
	Estimate float64
	Steps    float64
	Certain  float64
}

// namedFirst divides the score of this rule. A rule that names the shape of the loop then has the higher score.
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
	if !estimated && !certain && !(enough && isPlain(step)) {
		return unloop.Finding{}, false
	}
	_, output := r.Excerpt(step)
	f := finding(r, "stalled_steps", "", m.Steps, "The last %d steps made little progress: %s", m.Steps, countEffects(r, m))
	if output != "" {
		f.What += fmt.Sprintf(". The latest: %s", output)
	}
	f.Score = max(1, m.Wasted/d.Steps/namedFirst)
	f.Advisory = !certain
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
		return step.Effort.Reordered
	case unloop.Failure:
		return step.Repeats.N >= 3
	}
	return step.Effect == unloop.Polling
}

// countEffects returns how many of the steps without progress failed, found nothing, returned known content, repeated an earlier change or were
// no-ops, and the share of these outcomes that was new. It also returns how many changed something in between. The run remembers the
// latest steps only, so it says of how many it speaks if there were more.
func countEffects(r *unloop.Run, m *unloop.Meter) string {
	var n [unloop.NoOp + 1]int
	novelty, all, wasted, changes := 0.0, 0, 0, 0
	for k := range recent {
		s := r.StepAt(k)
		if s == nil || s.End.Number < m.First.Number {
			break
		}
		all++
		if s.Effort.Wasted > 0 {
			n[s.Effort.Yield]++
			novelty += s.Effort.Novelty
			wasted++
		} else if s.Effort.Yield == unloop.Change {
			changes++
		}
	}
	var parts []string
	for _, part := range []struct {
		of     unloop.Yield
		phrase string
	}{{unloop.Failure, "failed"}, {unloop.NothingFound, "found nothing"}, {unloop.Content, "returned known content"}, {unloop.Change, "repeated an earlier change"}, {unloop.NoOp, "had no effect"}} {
		if n[part.of] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[part.of], part.phrase))
		}
	}
	if changes > 0 {
		parts = append(parts, fmt.Sprintf("%d changed something", changes))
	}
	latest := ""
	if all < m.Steps {
		latest = fmt.Sprintf("of the latest %d, ", all)
	}
	return fmt.Sprintf("%s%s; %.0f %% of the returned text was new", latest, strings.Join(parts, ", "), 100*novelty/float64(max(1, wasted)))
}
