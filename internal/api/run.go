package api

import (
	"encoding/json"

	"github.com/unloop-ai/unloop/internal/store"
)

// RunBasics is what every interface says of a run.
type RunBasics struct {
	Name      string  `json:"name" doc:"Display name. Default: the first line of the user's first message, else the run's id."`
	Project   string  `json:"project" doc:"The project that the run belongs to."`
	Status    string  `json:"status" enum:"running,completed,failed,abandoned" doc:"Status of the run. abandoned: the run did not end, and had no events for the idle_close time."`
	StartedAt *string `json:"started_at" format:"date-time" doc:"Time of its first event; null before the first event."`
	EndedAt   *string `json:"ended_at" format:"date-time" doc:"Time when it ended; null while it runs."`
}

// RunCounts are the counts that every interface has of a run.
type RunCounts struct {
	EventCount   int `json:"event_count" doc:"Number of events."`
	WarningCount int `json:"warning_count" doc:"Number of warnings."`
}

// RunVerdict is what every interface says of how a run does.
type RunVerdict struct {
	HealthScore   int     `json:"health_score" minimum:"0" maximum:"100" doc:"Health score, in the range of the health's word: healthy 80 to 100, repeated 50 to 79, looping 20 to 49, stuck 0 to 19. Each warning lowers it within the range."`
	HealthStatus  string  `json:"loop_health_status" enum:"healthy,repeated,looping,stuck" doc:"Health of the run as a whole. healthy: the policy made no decision. repeated: the run repeated itself and recovered. looping: a large part of the run, or its end, is a loop. stuck: both."`
	WorstDecision string  `json:"worst_decision" enum:"allow,warn,block,halt" doc:"The most severe decision so far. Of a guarded run, what the guard did; of an observed run, what the profile would have done."`
	GuardedBy     *string `json:"guarded_by" doc:"The kind of guard that carries out decisions in this run, as the guard reported: Go, Python, TypeScript, stdio, hook: AGENT, proxy or mcp-proxy. null: the run is observed, and nobody acts on decisions."`
}

// Run is a run on the wire.
type Run struct {
	ID string `json:"id" doc:"The run's id, as its sender gave it. If that id contains a secret: masked- and 32 hexadecimal digits."`
	RunBasics
	Untimed  bool            `json:"untimed,omitzero" required:"false" doc:"true: no event has a timestamp. started_at and ended_at are then times of arrival, and the duration is 0."`
	Cost     float64         `json:"total_cost" doc:"Known cost in US dollars."`
	Tokens   int64           `json:"total_tokens" doc:"Tokens of all model calls."`
	Metadata json.RawMessage `json:"metadata" doc:"An object set by the sender, or null."`
}

// RunSummary is a run in a list. The members after loop_health_status are unloop's own.
type RunSummary struct {
	Run
	RunCounts
	RunVerdict
	ShadowedBy   *string `json:"shadowed_by" doc:"The kind of guard that runs in shadow mode: it reports decisions and does not carry them out. null for none."`
	Stopped      bool    `json:"stopped" doc:"true: a call was blocked or the run was halted. Of an observed run: the profile would have done so."`
	StoppedAfter *int    `json:"stopped_after" doc:"The number of repeats at that decision; null without one, or if its rule does not count."`

	Avoided UsageTotals `json:"avoided" doc:"Of a guarded run: an estimate of what its first stop avoided. It assumes that the loop would have continued for as many events as it had lasted, at the rate of the run. It is 0 once a person lets the agent continue."`
	Wasted  UsageTotals `json:"wasted" doc:"Of an observed run: usage since the profile would first have stopped it."`

	Profile        string  `json:"profile" doc:"The profile that evaluates the run."`
	FirstWarningAt *string `json:"warned_at" format:"date-time" doc:"Time when its first warning was raised; null without warnings."`
	UpdatedAt      *string `json:"updated_at" format:"date-time" doc:"Time when its latest event arrived."`
	Arrival        int64   `json:"arrival" doc:"The server-wide sequence number of its latest event or later change. Sent as Last-Event-ID, it makes the stream of all runs resume after this point."`
	CallsAfter     int     `json:"calls_after_warning" doc:"Number of tool calls since its first warning."`
	TokensAfter    int64   `json:"tokens_after_warning" doc:"Number of tokens since its first warning."`
	CostAfter      float64 `json:"cost_after_warning" doc:"Cost in US dollars since its first warning."`
	Refolding      bool    `json:"refolding" doc:"true: late events are recorded, but the run's totals, health, warnings and decisions do not include them yet."`

	Duration float64     `json:"duration_sec" doc:"Seconds from the first event to the last."`
	Agents   []string    `json:"agents" doc:"The agents that acted, sorted; 32 at most."`
	Models   []string    `json:"models" doc:"The models that were called, sorted; 16 at most."`
	Tools    []ToolCalls `json:"tools" doc:"The most called tools, the most called first; 5 at most."`
	Novelty  []float64   `json:"novelty" doc:"The proportion of steps with novel results, 0 to 1, in at most 32 stretches of equal length. The last stretch may be shorter. Empty if the profile does not look at what calls return."`

	MeanNovelty  *float64 `json:"mean_novelty" doc:"The proportion of all steps with novel results, 0 to 1; null if it is unknown. By novelty, runs with an unknown one are sorted as 1."`
	WorstWarning *string  `json:"worst_warning" doc:"The rule of its most severe warning; null without warnings. Of equal severity, the longest loop."`
}

// ToolCalls says how often a tool was called.
type ToolCalls struct {
	Name  string `json:"name" doc:"The tool's name."`
	Calls int    `json:"calls" doc:"Number of calls."`
}

// RunDetails is a run that was asked for.
type RunDetails struct {
	RunSummary
	Hints  []string      `json:"hints" doc:"What looks like a mistake of the sender: unknown fields and event types, and names of tools that differ by a letter."`
	Health []HealthPoint `json:"health" doc:"Health over time: the initial value and one point for each change; 128 points at most."`
}

// RunOf returns a run. Its name is never empty: without one it is the id.
func RunOf(r *store.Run) Run {
	name := r.Name
	if name == "" {
		name = r.ID
	}
	return Run{
		ID: r.ID, Untimed: r.Untimed,
		RunBasics: RunBasics{name, r.Project, r.Status, TimeOrNull(r.Started), TimeOrNull(r.Ended)},
		Cost:      store.Round(r.Metrics.Cost, 6), Tokens: r.Metrics.Tokens, Metadata: ObjectOrNull(r.Metadata),
	}
}

func verdictOf(r *store.Run) RunVerdict {
	return RunVerdict{r.Health.Score, string(r.Health.Status), r.WorstAction.String(), OrNull(r.Guard.By)}
}

// SummaryOf returns a run for a list.
func SummaryOf(r *store.Run) RunSummary {
	tools := make([]ToolCalls, 0, len(r.Preview.Tools))
	for _, t := range r.Preview.Tools {
		tools = append(tools, ToolCalls(t))
	}
	var avoided, wasted store.Usage
	if r.Guard.By == "" {
		wasted = r.UsageAfterStop
	} else {
		avoided = r.UsageAfterStop
	}
	var mean *float64
	if len(r.Preview.Novelty) > 0 {
		mean = &r.MeanNovelty
	}
	return RunSummary{
		MeanNovelty: mean, WorstWarning: OrNull(r.Preview.Warning),
		ShadowedBy: OrNull(r.Guard.ShadowedBy), Stopped: r.Guard.Stopped, StoppedAfter: OrNull(r.Guard.Repeats),
		Avoided: UsageOf(avoided), Wasted: UsageOf(wasted),
		Run: RunOf(r), RunCounts: RunCounts{r.Metrics.Events, r.Warnings}, RunVerdict: verdictOf(r), Profile: r.Profile, FirstWarningAt: TimeOrNull(r.FirstWarningAt),
		UpdatedAt: TimeOrNull(r.Updated), Arrival: r.Arrival, CallsAfter: r.UsageAfterWarning.Calls, TokensAfter: r.UsageAfterWarning.Tokens,
		CostAfter: store.Round(r.UsageAfterWarning.Cost, 6), Refolding: r.Refold != nil, Duration: store.Round(r.Metrics.Duration, 3),
		Agents: append([]string{}, r.Agents...), Models: append([]string{}, r.Models...), Tools: tools, Novelty: append([]float64{}, r.Preview.Novelty...),
	}
}

// DetailsOf returns a run with the course of its health.
func DetailsOf(r *store.Run) RunDetails {
	return RunDetails{SummaryOf(r), hintsOf(r), HealthPoints(r.Preview.Health)}
}

// HealthPoints returns the course of the health; never nil.
func HealthPoints(course []store.HealthAt) []HealthPoint {
	points := make([]HealthPoint, 0, len(course))
	for _, at := range course {
		points = append(points, HealthPoint{at.Number, at.Score})
	}
	return points
}

// Totals are the totals of the events of a run.
type Totals struct {
	Events       int     `json:"total_events" doc:"Number of events of all types."`
	Duration     float64 `json:"total_duration_sec" doc:"Seconds from the first event to the last."`
	LLMCalls     int     `json:"total_llm_calls" doc:"Number of model calls started."`
	ToolCalls    int     `json:"total_tool_calls" doc:"Number of tool calls started."`
	Retries      int     `json:"total_retries" doc:"Number of retries."`
	Handoffs     int     `json:"total_handoffs" doc:"Number of handoffs to another agent."`
	Errors       int     `json:"total_errors" doc:"Number of events that report an error: failed tool calls, model calls and runs."`
	FailedSteps  int     `json:"total_failed_steps" doc:"Number of tool calls that failed, or whose result describes a failure, such as an exit status. A profile that does not read results counts only the former."`
	Tokens       int64   `json:"total_tokens" doc:"Tokens of all model calls."`
	Cost         float64 `json:"estimated_cost" doc:"Known cost in US dollars."`
	MeanLatency  float64 `json:"average_latency_ms" doc:"Mean latency in milliseconds of the events that report one."`
	MaxLatency   float64 `json:"max_latency_ms" doc:"Latency in milliseconds of the slowest event."`
	BusiestTool  *string `json:"most_used_tool" doc:"The most called tool; null without calls."`
	BusiestAgent *string `json:"most_active_agent" doc:"The agent with the most events; null if no event names an agent."`
}

// totalsOf rounds seconds to 3 decimal places, dollars to 6, the mean latency to 2 and the maximum latency to 3.
func totalsOf(m *store.Metrics) Totals {
	return Totals{
		Events: m.Events, Duration: store.Round(m.Duration, 3), LLMCalls: m.LLMCalls, ToolCalls: m.ToolCalls, Retries: m.Retries,
		Handoffs: m.Handoffs, Errors: m.Errors, FailedSteps: m.FailedSteps, Tokens: m.Tokens, Cost: store.Round(m.Cost, 6), MeanLatency: store.Round(m.MeanLatency, 2),
		MaxLatency: store.Round(m.MaxLatency, 3), BusiestTool: m.BusiestTool, BusiestAgent: m.BusiestAgent,
	}
}

// Metrics are the totals of a run.
type Metrics struct {
	RunID string `json:"run_id" doc:"The run's id."`
	Totals
	Warnings int `json:"warnings_count" doc:"Number of warnings."`
	RunVerdict
}

// MetricsOf returns the totals of a run.
func MetricsOf(r *store.Run) Metrics {
	return Metrics{r.ID, totalsOf(&r.Metrics), r.Warnings, verdictOf(r)}
}
