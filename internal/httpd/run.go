package httpd

import (
	"encoding/json"

	"github.com/unloop-ai/unloop/internal/store"
)

// Run is a run on the wire.
type Run struct {
	ID        string          `json:"id" doc:"The run's id, as its sender gave it; masked- and 32 hexadecimal digits where that held a secret."`
	Name      string          `json:"name" doc:"What people call it; its id where nobody said."`
	Project   string          `json:"project" doc:"To which project it belongs."`
	Status    string          `json:"status" enum:"running,completed,failed,closed" doc:"closed: nothing came for so long that the run is taken to be over."`
	StartedAt *string         `json:"started_at" format:"date-time" doc:"When its first event happened; null before."`
	EndedAt   *string         `json:"ended_at" format:"date-time" doc:"When it ended; null while it runs."`
	Cost      float64         `json:"total_cost" doc:"US dollars, as far as they are known."`
	Tokens    int64           `json:"total_tokens" doc:"Of all model calls."`
	Metadata  json.RawMessage `json:"metadata" doc:"An object of the sender's, or null."`
}

// RunSummary is a run in a list. What stands behind the status of health is unloop's own.
type RunSummary struct {
	Run
	EventCount     int     `json:"event_count" doc:"How many events it has."`
	WarningCount   int     `json:"warning_count" doc:"How many warnings it has."`
	HealthScore    int     `json:"health_score" minimum:"0" maximum:"100" doc:"100 is well, 0 is stuck."`
	HealthStatus   string  `json:"loop_health_status" enum:"Healthy,Warning,Likely stuck,Failed" doc:"The same in words."`
	WorstDecision  string  `json:"worst_decision" enum:"allow,warn,block,halt" doc:"The hardest that the profile's policy decided so far."`
	Profile        string  `json:"profile" doc:"The profile that judges the run."`
	FirstWarningAt *string `json:"warned_at" format:"date-time" doc:"When its first warning was raised; null without one."`
	UpdatedAt      *string `json:"updated_at" format:"date-time" doc:"When its latest event arrived."`
	Arrival        int64   `json:"arrival" doc:"The number of its latest event, or of a later change, among all of the server. A stream of all runs goes on behind it when it is sent as Last-Event-ID."`
	CallsAfter     int     `json:"calls_after_warning" doc:"Tool calls since its first warning."`
	TokensAfter    int64   `json:"tokens_after_warning" doc:"Tokens since its first warning."`
	CostAfter      float64 `json:"cost_after_warning" doc:"US dollars since its first warning."`
	Refolding      bool    `json:"refolding" doc:"Events came late, and are recorded. The run's totals, health, warnings and decisions do not take them into account yet."`

	Tools   []ToolCalls `json:"tools" doc:"The tools that it called most, those first; five at most."`
	Novelty []float64   `json:"novelty" doc:"Which part of its steps told something new, from 0 to 1, in at most 32 stretches of equal length; the last may be shorter. Empty where the profile does not look at what calls return."`
}

// ToolCalls says how often a tool was called.
type ToolCalls struct {
	Name  string `json:"name" doc:"Of the tool."`
	Calls int    `json:"calls" doc:"How often it was called."`
}

// RunDetails is a run that was asked for.
type RunDetails struct {
	RunSummary
	Health []HealthPoint `json:"health" doc:"How the health went: a point where it begins, and one for each change; 128 at most."`
}

func runOf(r *store.Run) Run {
	name := r.Name
	if name == "" {
		name = r.ID
	}
	return Run{
		ID: r.ID, Name: name, Project: r.Project, Status: r.Status, StartedAt: timeOrNull(r.Started), EndedAt: timeOrNull(r.Ended),
		Cost: round(r.Metrics.Cost, 6), Tokens: r.Metrics.Tokens, Metadata: objectOrNull(r.Metadata),
	}
}

func summaryOf(r *store.Run) RunSummary {
	tools := make([]ToolCalls, 0, len(r.Preview.Tools))
	for _, t := range r.Preview.Tools {
		tools = append(tools, ToolCalls(t))
	}
	return RunSummary{
		Run: runOf(r), EventCount: r.Metrics.Events, WarningCount: r.Warnings, HealthScore: r.Health.Score,
		HealthStatus: r.Health.Status, WorstDecision: r.WorstAction.String(), Profile: r.Profile, FirstWarningAt: timeOrNull(r.FirstWarningAt),
		UpdatedAt: timeOrNull(r.Updated), Arrival: r.Arrival, CallsAfter: r.UsageAfterWarning.Calls, TokensAfter: r.UsageAfterWarning.Tokens,
		CostAfter: round(r.UsageAfterWarning.Cost, 6), Refolding: r.Refold != nil, Tools: tools, Novelty: append([]float64{}, r.Preview.Novelty...),
	}
}

func detailsOf(r *store.Run) RunDetails {
	return RunDetails{summaryOf(r), healthOf(r.Preview.Health)}
}

func healthOf(course []store.HealthAt) []HealthPoint {
	points := make([]HealthPoint, 0, len(course))
	for _, at := range course {
		points = append(points, HealthPoint{at.Number, at.Score})
	}
	return points
}

// Metrics are the totals of a run.
type Metrics struct {
	RunID         string  `json:"run_id" doc:"Of the run."`
	Events        int     `json:"total_events" doc:"Events of all types."`
	Duration      float64 `json:"total_duration_sec" doc:"Seconds from its first event to its last."`
	LLMCalls      int     `json:"total_llm_calls" doc:"Model calls that were started."`
	ToolCalls     int     `json:"total_tool_calls" doc:"Tool calls that were started."`
	Retries       int     `json:"total_retries" doc:"Retries."`
	Handoffs      int     `json:"total_handoffs" doc:"Times that control went to another agent."`
	Errors        int     `json:"total_errors" doc:"What failed."`
	Tokens        int64   `json:"total_tokens" doc:"Of all model calls."`
	Cost          float64 `json:"estimated_cost" doc:"US dollars, as far as they are known."`
	MeanLatency   float64 `json:"average_latency_ms" doc:"Milliseconds, of the events that tell one."`
	MaxLatency    float64 `json:"max_latency_ms" doc:"Milliseconds, of the slowest event."`
	BusiestTool   *string `json:"most_used_tool" doc:"The tool that was called most; null without calls."`
	BusiestAgent  *string `json:"most_active_agent" doc:"The agent of the most events; null where no event names one."`
	Warnings      int     `json:"warnings_count" doc:"How many warnings the run has."`
	HealthScore   int     `json:"health_score" minimum:"0" maximum:"100" doc:"100 is well, 0 is stuck."`
	HealthStatus  string  `json:"loop_health_status" enum:"Healthy,Warning,Likely stuck,Failed" doc:"The same in words."`
	WorstDecision string  `json:"worst_decision" enum:"allow,warn,block,halt" doc:"The hardest that the profile's policy decided so far."`
}

func metricsOf(r *store.Run) Metrics {
	m := &r.Metrics
	return Metrics{
		RunID: r.ID, Events: m.Events, Duration: round(m.Duration, 3), LLMCalls: m.LLMCalls, ToolCalls: m.ToolCalls,
		Retries: m.Retries, Handoffs: m.Handoffs, Errors: m.Errors, Tokens: m.Tokens, Cost: round(m.Cost, 6),
		MeanLatency: round(m.MeanLatency, 2), MaxLatency: round(m.MaxLatency, 3), BusiestTool: m.BusiestTool,
		BusiestAgent: m.BusiestAgent, Warnings: r.Warnings, HealthScore: r.Health.Score, HealthStatus: r.Health.Status,
		WorstDecision: r.WorstAction.String(),
	}
}
