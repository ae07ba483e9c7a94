package app

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/report"
	"github.com/unloop-ai/unloop/internal/scan"
	"github.com/unloop-ai/unloop/profile"
)

// lensCase is a conformance case of the profile looplens.
type lensCase struct {
	Settings struct {
		CostBudget float64 `json:"cost_budget"`
	} `json:"settings"`
	Events []json.RawMessage `json:"events"`
	Expect lensVerdict       `json:"expect"`
}

type lensVerdict struct {
	Warnings []lensWarning `json:"warnings"`
	Health   struct {
		Score  int    `json:"score"`
		Status string `json:"status"`
	} `json:"health"`
	Metrics lensMetrics `json:"metrics"`
}

type lensWarning struct {
	Type     string `json:"type"`
	Severity string `json:"severity"`
	Subject  string `json:"subject"`
	Count    *int   `json:"count"`
	EventID  string `json:"event_id"`
}

type lensMetrics struct {
	TotalEvents      int     `json:"total_events"`
	TotalLLMCalls    int     `json:"total_llm_calls"`
	TotalToolCalls   int     `json:"total_tool_calls"`
	TotalRetries     int     `json:"total_retries"`
	TotalHandoffs    int     `json:"total_handoffs"`
	TotalErrors      int     `json:"total_errors"`
	TotalTokens      int64   `json:"total_tokens"`
	EstimatedCost    float64 `json:"estimated_cost"`
	AverageLatencyMS float64 `json:"average_latency_ms"`
	MaxLatencyMS     float64 `json:"max_latency_ms"`
	MostUsedTool     *string `json:"most_used_tool"`
	MostActiveAgent  *string `json:"most_active_agent"`
	WarningsCount    int     `json:"warnings_count"`
}

// TestLoopLensConformance scans each case as a file of events: as it stands, doubled, and shuffled ten times.
func TestLoopLensConformance(t *testing.T) {
	paths, err := filepath.Glob("testdata/conformance/looplens/*.json")
	if err != nil || len(paths) != 54 {
		t.Fatalf("%d cases, want 54 (%v)", len(paths), err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var c lensCase
			if err := json.Unmarshal(data, &c); err != nil {
				t.Fatal(err)
			}
			settings := profile.LoopLensSettings()
			settings.CostBudget = c.Settings.CostBudget
			p, err := profile.FromSettings(settings)
			if err != nil {
				t.Fatal(err)
			}
			check := func(how string, events []json.RawMessage) {
				t.Helper()
				if diff := cmp.Diff(c.Expect, lensVerdictOf(t, p, events)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", how, diff)
				}
			}
			check("in the order of arrival", c.Events)
			check("doubled", append(c.Events[:len(c.Events):len(c.Events)], c.Events...))
			random := rand.New(rand.NewPCG(uint64(len(path)), 7))
			for range 10 {
				events := append([]json.RawMessage(nil), c.Events...)
				random.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
				check("shuffled", events)
			}
		})
	}
}

func lensVerdictOf(t *testing.T, p *profile.Profile, events []json.RawMessage) lensVerdict {
	t.Helper()
	var file bytes.Buffer
	for _, e := range events {
		if err := json.Compact(&file, e); err != nil {
			t.Fatal(err)
		}
		file.WriteByte('\n')
	}
	runs := scanAll(t, p, "events.jsonl", file.Bytes())
	if len(runs) != 1 {
		t.Fatalf("%d runs, want 1", len(runs))
	}
	return asLensVerdict(runs[0])
}

// scanAll scans one file and returns the verdicts.
func scanAll(t *testing.T, p *profile.Profile, name string, data []byte) []*report.Run {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	var runs []*report.Run
	s := scan.Scanner{
		Profile: p,
		Verdict: func(r *report.Run) error { runs = append(runs, r); return nil },
		Warn:    func(err error) { t.Errorf("warned of %v", err) },
	}
	if _, err := s.Run(context.Background(), []string{path}); err != nil {
		t.Fatal(err)
	}
	return runs
}

func asLensVerdict(r *report.Run) lensVerdict {
	v := lensVerdict{Warnings: []lensWarning{}}
	for _, w := range r.Warnings {
		lw := lensWarning{Type: w.Rule, Severity: string(w.Severity), Subject: w.Subject, EventID: w.Event.ID}
		if w.Count > 0 {
			lw.Count = &w.Count
		}
		v.Warnings = append(v.Warnings, lw)
	}
	v.Health.Score, v.Health.Status = r.Health.Score, lensHealth(r.Health.Score, r.Metrics.Failed)
	m := r.Metrics
	v.Metrics = lensMetrics{
		TotalEvents: m.Events, TotalLLMCalls: m.LLMCalls, TotalToolCalls: m.ToolCalls, TotalRetries: m.Retries,
		TotalHandoffs: m.Handoffs, TotalErrors: m.Errors, TotalTokens: m.Tokens,
		EstimatedCost: round(m.Cost, 6), AverageLatencyMS: round(m.MeanLatency, 2), MaxLatencyMS: m.MaxLatency,
		MostUsedTool: orNull(m.BusiestTool), MostActiveAgent: orNull(m.BusiestAgent), WarningsCount: len(r.Warnings),
	}
	return v
}

// lensHealth returns the published label of a score.
func lensHealth(score int, failed bool) string {
	switch {
	case failed:
		return "Failed"
	case score >= 80:
		return "Healthy"
	case score >= 50:
		return "Warning"
	}
	return "Likely stuck"
}

func round(x float64, places int) float64 {
	unit := math.Pow10(places)
	return math.Round(x*unit) / unit
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
