package app

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/guard/reporter"
	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/profile"
)

// TestAReportingGuardIsVisibleOnTheServer has a guarded agent loop, and reads its run from a real server.
func TestAReportingGuardIsVisibleOnTheServer(t *testing.T) {
	base := serve(t, nil)
	p, err := profile.New(profile.Default)
	if err != nil {
		t.Fatal(err)
	}
	r, err := reporter.New(reporter.Options{Endpoint: base})
	if err != nil {
		t.Fatal(err)
	}
	g := guard.New(p, guard.Options{Run: "guarded-1", Events: r.Add})
	search := g.Wrap("search", func(context.Context, json.RawMessage) (json.RawMessage, error) { return json.RawMessage(`[]`), nil })
	for err == nil {
		_, err = search(t.Context(), json.RawMessage(`{"q":"a"}`))
	}
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := r.Stats(); s.Refused+s.Dropped > 0 || s.Sent == 0 {
		t.Errorf("stats %+v", s)
	}
	var run api.RunSummary
	unmarshal(t, get(t, base+"/api/runs/guarded-1"), &run)
	if run.GuardedBy == nil || *run.GuardedBy != "Go" || run.WorstDecision != "halt" || !run.Stopped || run.StoppedAfter == nil || run.Avoided.Calls == 0 || run.Wasted.Calls != 0 {
		t.Errorf("the run of a guard that halted it: %+v", run)
	}
	var decisions []api.Decision
	unmarshal(t, get(t, base+"/api/runs/guarded-1/decisions"), &decisions)
	for _, d := range decisions {
		if !d.ByGuard {
			t.Errorf("decision %+v, want those of the guard only", d)
		}
	}
	var warnings []struct {
		Type string `json:"type"`
	}
	unmarshal(t, get(t, base+"/api/runs/guarded-1/warnings"), &warnings)
	if len(warnings) == 0 {
		t.Error("the server has no warning")
	}
}
