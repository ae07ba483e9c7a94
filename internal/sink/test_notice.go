package sink

import (
	"time"

	"github.com/unloop-ai/unloop/internal/api"
)

// Test is the level of a notice that a person sends to try a target.
const Test = "test"

// TestNotice returns a notice about a run that does not exist.
func TestNotice(now time.Time) Notice {
	at, tool, count := api.Timestamp(now), "search", 3
	return Notice{
		ID: "msg_test_" + now.UTC().Format("20060102T150405.000"), Level: Test,
		Run: api.RunSummary{
			Run:        api.Run{ID: "test", RunBasics: api.RunBasics{Name: "test", Project: "test", Status: "running", StartedAt: &at}},
			RunCounts:  api.RunCounts{EventCount: 6, WarningCount: 1},
			RunVerdict: api.RunVerdict{HealthScore: 15, HealthStatus: "stuck", WorstDecision: "warn"},
		},
		Warning: api.Warning{
			ID: "wrn_test", RunID: "test", Type: "same_call_same_result", Severity: "warning", Message: "This is a test. No agent is stuck.",
			Subject: tool, Tool: &tool, Count: &count, CreatedAt: at, UpdatedAt: at,
		},
		Why: "Somebody tries this webhook on the page Alerts.", Try: "Nothing needs to be done.",
	}
}
