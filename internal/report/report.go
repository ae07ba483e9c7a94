// Package report writes verdicts: for people on a terminal, and for programs as JSON, SARIF, JUnit and workflow annotations. Package scan
// makes the verdicts, and the commands choose the format.
package report

import (
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
)

// Run is the verdict on one run.
type Run struct {
	ID       string
	Name     string // that of the run, else the first line of the first message of its user; "" if there is none
	Source   string // the file of the run
	Format   string // name of the input format
	Events   int    // as the server counts them, too
	Steps    int    // calls
	Health   policy.Health
	Verdict  policy.Verdict
	Metrics  unloop.Metrics
	Warnings []Warning

	Decisions []Decision // all decisions other than allow, in order
	Dropped   int        // further decisions that were dropped because of the limit
}

// Warning is a finding with additional data to display it.
type Warning struct {
	unloop.Finding
	Steps []Step // the calls or messages that show it, oldest first, as far as their content is known
	Line  int    // line in the source of the latest event, from 1; 0 if unknown
}

// Step is a call or a message for display. Its texts are cut to one line.
type Step struct {
	Event  unloop.EventRef
	Time   time.Time
	Agent  string
	Tool   string // of a message: who said it
	Input  string // of a message: its text
	Output string // result or error
	Failed bool

	Message bool
}

// Decision is a decision of a policy and its event.
type Decision struct {
	Event   unloop.EventRef
	Action  policy.Action
	Code    string
	Message string
}

// Worst returns the most severe action of the decisions.
func (r *Run) Worst() policy.Action {
	worst := policy.Allow
	for k := range r.Decisions {
		worst = max(worst, r.Decisions[k].Action)
	}
	return worst
}
