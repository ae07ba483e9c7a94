package guard_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/detect"
	"github.com/unloop-ai/unloop/detect/detecttest"
	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/profile"
)

// ToolBudget fires when a tool was called more than Calls times in a run.
type ToolBudget struct{ Calls int }

// Info names the rule, and says that it is asked when a call starts.
func (ToolBudget) Info() unloop.Info { return unloop.Info{Name: "tool_budget", At: unloop.AtStart} }

// Check looks at the call that has just started.
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

// Frugal returns the profile: a detector of its own, one of package detect, and a policy that blocks calls over the budget.
func Frugal() (*profile.Profile, error) {
	blocks := []policy.Level{{From: 3, Action: policy.Block, Code: "over_budget"}}
	return profile.Custom(profile.Parts{
		Name:      "frugal",
		Title:     "two calls of each tool",
		Detectors: []unloop.Detector{ToolBudget{Calls: 2}, detect.PingPong{Times: 6}},
		Policy:    func() policy.Policy { return policy.Table{Rows: []policy.Row{{Rule: "tool_budget", Levels: blocks}}} },
	})
}

func Example_customProfile() {
	p, err := Frugal()
	if err != nil {
		panic(err)
	}
	g := guard.New(p, guard.Options{Run: "nightly"})
	for page := range 3 {
		d := g.Before(context.Background(), guard.Call{Tool: "search", Args: json.RawMessage(fmt.Sprintf(`{"page":%d}`, page))})
		fmt.Println(d.Action, d.Stops())
	}
	// Output:
	// allow false
	// allow false
	// block true
}

func TestACustomProfilePassesItsTraces(t *testing.T) {
	p, err := Frugal()
	if err != nil {
		t.Fatal(err)
	}
	detecttest.RunProfile(t, "testdata/custom", p)
	detecttest.Run(t, "testdata/custom", ToolBudget{Calls: 2})
}

func TestThePageOnExtendingShowsThisCode(t *testing.T) {
	source, err := os.ReadFile("extending_test.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/extending.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(page), "```go\n")
	if len(blocks) != 3 {
		t.Fatalf("%d blocks of code, want 2", len(blocks)-1)
	}
	for _, block := range blocks[1:] {
		code, _, _ := strings.Cut(block, "```")
		for _, part := range strings.Split(strings.TrimSpace(code), "\n\n") {
			if !strings.Contains(string(source), part) {
				t.Errorf("this is not in extending_test.go:\n%s", part)
			}
		}
	}
	if code, _, _ := strings.Cut(blocks[1], "```"); strings.Count(code, "\n") > 40 {
		t.Errorf("the first block has %d lines, want at most 40", strings.Count(code, "\n"))
	}
}
