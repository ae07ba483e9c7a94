package detect

import (
	"strings"

	"github.com/unloop-ai/unloop"
)

// Cycle fires when a pattern of 2 to 8 steps, calls and results, stands at the end at least Rounds times, and no step
// since its first round told anything new.
type Cycle struct {
	Rounds int
}

// Info describes the rule.
func (Cycle) Info() unloop.Info {
	return unloop.Info{Name: "cycle", At: unloop.AtEnd, Facts: unloop.FactOutcomes | unloop.FactExcerpts}
}

// Check looks for the shortest pattern at the end of the run's outcomes.
func (d Cycle) Check(r *unloop.Run) (unloop.Finding, bool) {
	step, ok := ended(r)
	if !ok || step.News {
		return unloop.Finding{}, false
	}
	period, rounds := r.Outcomes().Shortest(unloop.MaxPeriod)
	if period < 2 || rounds < d.Rounds || r.Stale() < period*(d.Rounds-1) || polls(r, period) {
		return unloop.Finding{}, false
	}
	f := finding(r, "cycle", subjectOf(r, period), rounds, "%s, with the same results, %d times in a row", patternOf(r, period), rounds)
	f.Score = float64(rounds) / float64(d.Rounds)
	f.Period = period
	for k := range period {
		if s := r.Back(k); s != nil {
			f.Next = append(f.Next, s.Target)
		}
	}
	tell(r, &f, period)
	stepsThat(r, period*rounds, func(*unloop.Step) bool { return true }).attach(&f)
	return f, true
}

// subjectOf names the tools of the last period steps, each once, in the order of the alphabet.
func subjectOf(r *unloop.Run, period int) string {
	var tools []string
	for k := range period {
		if s := r.Back(k); s != nil {
			tools = append(tools, s.Tool)
		}
	}
	return joinSorted(tools)
}

// patternOf describes the last period steps, oldest first.
func patternOf(r *unloop.Run, period int) string {
	var parts []string
	for k := period - 1; k >= 0; k-- {
		if s := r.Back(k); s != nil {
			input, _ := r.Excerpt(s)
			parts = append(parts, s.Tool+" "+input)
		}
	}
	return strings.Join(parts, ", then ")
}

// polls reports whether one of the last period steps polls: then it is stuck_polling that says whether that leads nowhere.
func polls(r *unloop.Run, period int) bool {
	for k := range period {
		if s := r.Back(k); s != nil && s.Class == unloop.Polling {
			return true
		}
	}
	return false
}
