package main

const detectorText = `package detect

import "github.com/unloop-ai/unloop"

// TYPE fires when … at least Times times.
type TYPE struct {
	Times int
}

// Info describes the rule.
func (TYPE) Info() unloop.Info {
	return unloop.Info{Name: "RULE", At: unloop.AtEnd, Needs: unloop.NeedOutcomes}
}

// Check reads the step that has just ended.
func (d TYPE) Check(r *unloop.Run) (unloop.Finding, bool) {
	step, ok := currentOutcome(r)
	if !ok {
		return unloop.Finding{}, false
	}
	n := 0 // the number of occurrences, from the facts that the run keeps
	if n < d.Times {
		return unloop.Finding{}, false
	}
	f := finding(r, "RULE", step.Tool, n, "%s … %d times", step.Tool, n)
	f.Score = float64(n) / float64(d.Times)
	stepsThat(r, recent, func(s *unloop.Step) bool { return s.Tool == step.Tool }).latest(n).attach(&f)
	return f, true
}
`

const pageText = `

# RULE

The rule fires when …

Why: its cost and its consequence.

Try: an action of the agent or its owner.`

const suiteText = "\t\tdetect.TYPE{Times: 3},\n"

const firingText = `# What the agent does, and why it is a loop.
repeat 2
  call   search ethanol
  result search nothing new
end
call   search ethanol
result search nothing new   // want RULE "3 times"
`

const quietText = `# Healthy work that looks like the loop, or a loop that is one step too short.
repeat 2
  call   search ethanol
  result search nothing new
end
`
