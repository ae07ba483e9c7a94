package main

const detectorText = `package detect

import "github.com/unloop-ai/unloop"

// TYPE fires when … at least Times times.
type TYPE struct {
	Times int
}

// Info describes the rule.
func (TYPE) Info() unloop.Info {
	return unloop.Info{Name: "RULE", At: unloop.AtEnd, Facts: unloop.FactOutcomes}
}

// Check looks at the step that has just ended.
func (d TYPE) Check(r *unloop.Run) (unloop.Finding, bool) {
	step, ok := ended(r)
	if !ok {
		return unloop.Finding{}, false
	}
	n := 0 // how often it happened, from the facts that the run keeps
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

What fires it, in one sentence.

Why: what it costs, and what follows from it.

Try: what the agent or its owner can do.`

const suiteText = "\t\tdetect.TYPE{Times: 3},\n"

const firingText = `# What happens here, and why it is a loop.
repeat 2
  call   search ethanol
  result search nothing new
end
call   search ethanol
result search nothing new   // want RULE "3 times"
`

const quietText = `# An honest run that looks like it, or one that stops one step short.
repeat 2
  call   search ethanol
  result search nothing new
end
`
