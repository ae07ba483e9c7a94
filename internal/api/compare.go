package api

import (
	"encoding/json"
)

// Comparison says how two runs differ.
type Comparison struct {
	A        RunSummary   `json:"a" doc:"The first run."`
	B        RunSummary   `json:"b" doc:"The second run."`
	Deltas   MetricDeltas `json:"deltas" doc:"Differences: the second run's value minus the first run's."`
	OnlyA    []Warning    `json:"warnings_only_in_a" doc:"Warnings of the first run without a warning of the same rule and subject in the second."`
	OnlyB    []Warning    `json:"warnings_only_in_b" doc:"Warnings of the second run without a warning of the same rule and subject in the first."`
	Diverged *Divergence  `json:"diverged" doc:"The first tool call at which the runs differ; null if all calls are equal."`
}

// MetricDeltas are differences of totals.
type MetricDeltas struct {
	Events      int     `json:"total_events" doc:"Difference in events."`
	Duration    float64 `json:"total_duration_sec" doc:"Difference in duration, in seconds."`
	LLMCalls    int     `json:"total_llm_calls" doc:"Difference in model calls."`
	ToolCalls   int     `json:"total_tool_calls" doc:"Difference in tool calls."`
	Retries     int     `json:"total_retries" doc:"Difference in retries."`
	Handoffs    int     `json:"total_handoffs" doc:"Difference in handoffs."`
	Errors      int     `json:"total_errors" doc:"Difference in errors."`
	FailedSteps int     `json:"total_failed_steps" doc:"Difference in failed tool calls."`
	Tokens      int64   `json:"total_tokens" doc:"Difference in tokens."`
	Cost        float64 `json:"estimated_cost" doc:"Difference in cost, in US dollars."`
	Warnings    int     `json:"warnings_count" doc:"Difference in warnings."`
	Health      int     `json:"health_score" doc:"Difference in health score."`
}

// Divergence is where the tool calls of two runs part.
type Divergence struct {
	Call int   `json:"call" doc:"Index of the tool call, from 0. All earlier calls have equal tools and arguments."`
	A    *Call `json:"a" doc:"The call of the first run; null if the run has no more calls."`
	B    *Call `json:"b" doc:"The call of the second run; null if the run has no more calls."`
}

// Call is a tool call.
type Call struct {
	EventID string          `json:"event_id" doc:"Id of the event that starts the call."`
	Tool    string          `json:"tool" doc:"Name of the tool."`
	Input   json.RawMessage `json:"input" doc:"Arguments of the call."`
}
