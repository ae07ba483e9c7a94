package detect

import "github.com/unloop-ai/unloop"

// SameResult fires when a tool that only reads returned the same result to changing inputs, several times in a row. Results are
// the same if Step.NormalizedResult is. The finding is Advisory except for one question in different words. The rule does not fire if another
// tool changed something new after each of the results. A failure is no result, unless all that a command told is its exit status: grep that
// finds nothing fails like this.
type SameResult struct {
	Times   int // results in a row, if the inputs are one question in different words
	Nothing int // results in a row, if nothing was found
	Items   int // results in a row otherwise, for example about different items that may have the same answer
}

// fewInputs is the least value of Streak.Inputs: the input must have changed at least twice.
const fewInputs = 3

// Info describes the rule.
func (SameResult) Info() unloop.Info {
	return unloop.Info{Name: "same_result", At: unloop.AtStale, Needs: unloop.NeedOutcomes | unloop.NeedExcerpts | unloop.NeedEffort}
}

// Check looks at the tool of the step that has just ended. Results of tools that change something are often equal, so only
// tools that read count.
func (d SameResult) Check(r *unloop.Run) (unloop.Finding, bool) {
	step, ok := currentOutcome(r)
	if !ok || step.Novel || step.Errors.N > 0 || step.Effect != unloop.ReadOnly {
		return unloop.Finding{}, false
	}
	tool := r.Tool(step.Tool)
	row := &tool.Streak
	if row.Count < min(d.Times, d.Nothing, d.Items) || row.Inputs < fewInputs {
		return unloop.Finding{}, false
	}
	need, advisory := d.need(r, tool, step)
	if row.Count < need || answersAreUsed(r, step, need) {
		return unloop.Finding{}, false
	}
	_, output := r.Excerpt(step)
	f := finding(r, "same_result", step.Tool, row.Count, "%s returned the same result %d times in a row, for %d different inputs: %s",
		step.Tool, row.Count, row.Inputs, orEmpty(output))
	f.Score = float64(row.Count) / float64(need)
	f.Advisory = advisory
	stepsThat(r, recent, func(s *unloop.Step) bool { return s.Tool == step.Tool && s.NormalizedResult == step.NormalizedResult }).latest(row.Count).attach(&f)
	f.First = row.First
	addNudgeContext(r, &f, 1)
	return f, true
}

// orEmpty returns what a result showed, in words also if it showed nothing.
func orEmpty(output string) string {
	if output == "" {
		return "(empty)"
	}
	return output
}

// need returns the least length of the streak, and whether the finding is advisory.
func (d SameResult) need(r *unloop.Run, tool *unloop.Tool, step *unloop.Step) (times int, advisory bool) {
	switch {
	case tool.NothingFound && !goesThroughItems(r, step, leastSeries):
		return d.Nothing, true
	case rewordings(r, step) >= fewInputs-1:
		return d.Times, false
	}
	return d.Items, true
}

// answersAreUsed reports whether a change of something new, by another tool, follows each of the earlier of the latest need steps with the
// result of this step. Each result then was the answer for the change after it, such as a check that an entry does not exist yet.
func answersAreUsed(r *unloop.Run, step *unloop.Step, need int) bool {
	changed := false
	for k := 1; k < recent && need > 1; k++ {
		s := r.StepAt(k)
		switch {
		case s == nil:
			return false
		case s.Tool != step.Tool:
			changed = changed || s.Effort.Yield == unloop.Change && s.Effort.Wasted == 0 && s.Effort.Word != 0
		case s.NormalizedResult == step.NormalizedResult:
			if !changed {
				return false
			}
			changed = false
			need--
		}
	}
	return need <= 1
}

// rewordings returns how many earlier steps asked the question of the step in different words and got the same result. Only
// steps with excerpts count.
func rewordings(r *unloop.Run, step *unloop.Step) int {
	input, _ := r.Excerpt(step)
	n := 0
	for k := 1; k < excerpts; k++ {
		s := r.StepAt(k)
		if s == nil {
			break
		}
		if s.Tool == step.Tool && s.NormalizedResult == step.NormalizedResult && s.ArgsHash != step.ArgsHash {
			if other, _ := r.Excerpt(s); reworded(input, other) {
				n++
			}
		}
	}
	return n
}
