// Package report writes verdicts: to a terminal for people, as JSON, SARIF, JUnit and workflow annotations for
// programs. It stands at the end of the arrow and knows nothing of how a verdict came about.
package report

import (
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
)

// Run is the verdict on one run.
type Run struct {
	ID       string
	Source   string // the file it was read from
	Format   string // the input format's name
	Events   int    // entries of the run in the input's own list
	Steps    int    // calls
	Health   policy.Health
	Verdict  policy.Verdict
	Metrics  unloop.Metrics
	Warnings []Warning

	Decisions []Decision // every moment at which the policy would not have said allow, in order
	Dropped   int        // further decisions for which there was no room
}

// Warning is a finding with what is needed to show it.
type Warning struct {
	unloop.Finding
	Proof []Step // the calls that prove it, oldest first, as far as their content is known
	Line  int    // of the source, from 1, where the latest event of the finding is; 0 if unknown
}

// Step is one call as people see it. Texts are cut to one line.
type Step struct {
	Event  unloop.EventRef
	Time   time.Time
	Agent  string
	Tool   string
	Input  string
	Output string // result or error
	Failed bool
}

// Decision is a policy's decision and where it was made.
type Decision struct {
	Event   unloop.EventRef
	Action  policy.Action
	Code    string
	Message string
}

// Worst returns the most severe action that the policy would have taken.
func (r *Run) Worst() policy.Action {
	worst := policy.Allow
	for k := range r.Decisions {
		worst = max(worst, r.Decisions[k].Action)
	}
	return worst
}
