package guard_test

import (
	"fmt"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/detect"
	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/profile"
)

// ToolBudget fires when a tool was called more than Calls times in a run.
type ToolBudget struct{ Calls int }

// Info names the rule. The rule is checked when a call starts.
func (ToolBudget) Info() unloop.Info { return unloop.Info{Name: "tool_budget", At: unloop.AtStart} }

// Check reads the call that has just started.
func (d ToolBudget) Check(r *unloop.Run) (unloop.Finding, bool) {
	now := r.Current()
	if now.Step == nil || r.Tool(now.Step.Tool).Calls <= d.Calls { // a call of a tool that is ignored has no step
		return unloop.Finding{}, false
	}
	tool := r.Tool(now.Step.Tool)
	return unloop.Finding{
		Rule: "tool_budget", Severity: unloop.SeverityWarning, Subject: tool.Name, Count: tool.Calls,
		Event: now.Ref, First: now.Ref, Evidence: []unloop.EventRef{now.Ref},
		What: fmt.Sprintf("%s was called %d times", tool.Name, tool.Calls),
		Why:  "Each call costs money.", Try: "Use what the earlier calls returned.",
	}, true
}

// Frugal returns a profile of this detector, one of package detect, and a policy that blocks calls over the budget.
func Frugal() (*profile.Profile, error) {
	blocks := []policy.Level{{From: 3, Action: policy.Block, Code: "over_budget"}}
	return profile.Custom(profile.Parts{
		Name:      "frugal",
		Title:     "two calls of each tool",
		Detectors: []unloop.Detector{ToolBudget{Calls: 2}, detect.PingPong{Times: 6}},
		Policy:    func() policy.Policy { return policy.Table{Rows: []policy.Row{{Rule: "tool_budget", Levels: blocks}}} },
	})
}
