// Package store defines the records of a server: runs, their events, warnings and decisions. The pipeline writes them, and the
// APIs read them. The package does not depend on a database. The packages below it implement stores.
package store

import (
	"cmp"
	"encoding/json"
	"math"
	"time"

	"github.com/unloop-ai/unloop/policy"
)

// The states of a run.
const (
	Running   = "running"
	Completed = "completed"
	Failed    = "failed"
	Abandoned = "abandoned" // no event arrived for so long that the run counts as ended; a later event reopens it
)

// Position is the place of an event in its run. Positions are ordered by sequence, then time, then tie.
type Position struct {
	Sequence int64 // from the sender; without one, that of the furthest event before it
	Time     int64 // Unix nanoseconds; without a time, that of the furthest event before it
	Tie      int64 // the arrival, or a value from the format that does not depend on it
}

// Start is before the position of every event.
var Start = Position{math.MinInt64, math.MinInt64, math.MinInt64}

// Compare returns -1, 0 or 1 if p is before, equal to or after q.
func (p Position) Compare(q Position) int {
	return cmp.Or(cmp.Compare(p.Sequence, q.Sequence), cmp.Compare(p.Time, q.Time), cmp.Compare(p.Tie, q.Tie))
}

// Event is a stored event.
type Event struct {
	Arrival  int64 // number of the event in the store, from 1, in the order of recording
	Run      int64 // the number of its run
	ID       string
	Position Position
	Received time.Time // time of arrival, in microseconds
	Body     []byte    // wire JSON
	Analysis []byte    // JSON of an Analysis; empty for none
}

// Run is the row of a run.
type Run struct {
	Number            int64 // from 1, in the order in which the runs were created
	ID                string
	Name              string
	Project           string
	Status            string
	Profile           string    // the profile that evaluates it
	Started           time.Time // time of the first event
	Ended             time.Time // time of the last event; zero while the run is running
	Updated           time.Time // time of the last arrival
	Arrival           int64     // of the event that was recorded last, or a later number without an event if a refold changed the run since
	Bytes             int64     // approximate size of its events
	Metadata          json.RawMessage
	Tools             []string // at most MaxTools, sorted
	Agents            []string // at most MaxAgents, sorted
	Models            []string // at most MaxModels, sorted
	Metrics           Metrics
	Health            policy.Health
	Warnings          int
	WorstAction       policy.Action // the most severe action of its decisions
	FirstWarningAt    time.Time     // time of the first warning; zero without one
	UsageAfterWarning Usage         // usage since FirstWarningAt
	UsageAfterStop    Usage         // usage after the profile would have stopped the run; if a guard did, an estimate of what that avoided
	Guard             Guard
	Untimed           bool      // no event has a time of its own
	Controls          []Control // what people did with the run; at most MaxControls
	Hints             []string  // what looks like a mistake of the sender; at most MaxHints
	Preview           Preview
	MeanNovelty       float64 // proportion of novel steps; 1 if it is unknown
	SlowestEvent      string  // id of the event with the highest latency; "" if no latency is known
	Refold            *Refold
}

// Guard is what the guard of a run has reported.
type Guard struct {
	By         string `json:"-"`                     // the kind of guard that acts in the run; "" for an observed run
	ShadowedBy string `json:"shadowed_by,omitempty"` // the kind of guard in shadow mode; "" for none
	Stopped    bool   `json:"stopped,omitempty"`     // the guard blocked a call or halted the run; in an observed run, the profile would have
	Repeats    int    `json:"repeats,omitempty"`     // the count of the finding at that decision; 0 if it has none
}

// Refold marks a run with late events that are recorded and not folded yet. The row, the warnings and the decisions of the run
// reflect the events without them.
type Refold struct {
	Behind Position `json:"behind"`         // checkpoints and decisions up to this position are valid
	Name   string   `json:"name,omitempty"` // the name that the events of the run gave it before
}

// MaxHints is the maximum number of hints of a run.
const MaxHints = 8

// The maximum numbers of names by which a run can be found.
const (
	MaxTools  = 64
	MaxAgents = 32
	MaxModels = 16
)

// The bounds of a Preview.
const (
	MaxBusiest = 5
	MaxNovelty = 32
	MaxHealth  = 128
)

// Preview is the summary of a run in a list.
type Preview struct {
	Tools   []ToolCalls `json:"tools,omitempty"`   // the most called tools, at most MaxBusiest
	Novelty []float64   `json:"novelty,omitempty"` // proportion of novel steps in intervals of equal length, at most MaxNovelty
	Health  []HealthAt  `json:"health,omitempty"`  // the health at the beginning and at each change, at most MaxHealth points
	Warning string      `json:"warning,omitempty"` // the rule of the most severe warning
}

// MostCalled returns the name of the most called tool, or "".
func (p *Preview) MostCalled() string {
	if len(p.Tools) == 0 {
		return ""
	}
	return p.Tools[0].Name
}

// ToolCalls is the number of calls of a tool.
type ToolCalls struct {
	Name  string `json:"name"`
	Calls int    `json:"calls"`
}

// HealthAt is the health from an event on.
type HealthAt struct {
	Number int `json:"number"` // of the event in the run, from 0
	Score  int `json:"score"`
}

// Usage is the usage of a part of a run.
type Usage struct {
	Calls  int     `json:"calls"`
	Tokens int64   `json:"tokens"`
	Cost   float64 `json:"cost"` // US dollars
}

// Metrics are the totals of a run in their wire form.
type Metrics struct {
	Events       int     `json:"total_events"`
	Duration     float64 `json:"total_duration_sec"`
	LLMCalls     int     `json:"total_llm_calls"`
	ToolCalls    int     `json:"total_tool_calls"`
	Retries      int     `json:"total_retries"`
	Handoffs     int     `json:"total_handoffs"`
	Errors       int     `json:"total_errors"`
	FailedSteps  int     `json:"total_failed_steps"`
	Tokens       int64   `json:"total_tokens"`
	Cost         float64 `json:"estimated_cost"` // US dollars
	MeanLatency  float64 `json:"average_latency_ms"`
	MaxLatency   float64 `json:"max_latency_ms"`
	BusiestTool  *string `json:"most_used_tool"`
	BusiestAgent *string `json:"most_active_agent"`
}

// Warning is a stored finding. There is one for each rule and subject of a run, and its count grows.
type Warning struct {
	ID       string // derived from run, rule and subject, so that a refold gives the same id
	Run      int64
	Rule     string
	Subject  string
	Severity string
	Tool     string // the subject, if it is a tool of the run; else ""
	Count    int
	EventID  string          // the latest event of the finding
	Message  string          // what happened
	Details  json.RawMessage // an object with the other fields of the finding
	Created  time.Time       // time of the event that raised it; without one, time of arrival
	Updated  time.Time       // likewise, of the event at which its count grew last
}

// Decision is a stored decision other than Allow.
type Decision struct {
	Run      int64
	Position Position // of the event
	EventID  string
	Number   int // of the event in the run, from 0
	Action   policy.Action
	Code     string
	Message  string
	Warning  string // id of the warning that it is based on; not stored
	ByGuard  bool   // a guard made the decision and carried it out; else the profile would have made it
}

// Checkpoint is the state of the fold of a run after the event at Position.
type Checkpoint struct {
	Run      int64
	Position Position
	Events   int // number of events in the state
	State    []byte
}

// Span is a stored span of a trace.
type Span struct {
	Trace, ID string
	Received  time.Time
	Body      []byte
}

// TraceRun links a trace to a run that has events of its spans. A trace may have events in several runs, and a further span may
// add links.
type TraceRun struct {
	Trace    string
	Run      int64     // number of the run; 0 means that the trace has no events
	Received time.Time // time of arrival of its latest spans, if Run is 0
}

// EventRef identifies an event.
type EventRef struct {
	Run int64
	ID  string
}

// Batch is the content of one commit. A store writes it atomically, in the order of the fields.
type Batch struct {
	Spans       []Span     // inserted or replaced
	Traces      []TraceRun // inserted or replaced
	Left        []TraceRun // links to remove: the trace has no more events in the run
	Deleted     []int64    // runs to delete with their records, and with the spans of traces without events in another run
	Emptied     []int64    // runs to delete whose events moved to other runs, with their records except spans
	Runs        []Run      // inserted or replaced
	Removed     []EventRef // events to delete; the new form of a changed event is in Events, and the row of its run in Runs
	Events      []Event
	Analyses    []Reanalyzed // new analyses of stored events; those of unknown events are ignored
	Invalidated []Invalidated
	Warnings    []Warning // inserted or replaced
	Decisions   []Decision
	Notices     []Notice // inserted; a level that the endpoint has for the warning stays as it is

	Sequence    uint64 // in a cluster: of the latest message of the partition's stream that is in the batch; 0 for none
	Flushed     int64  // arrival up to which the rows of all runs are current after this batch; 0 if unknown
	Checkpoints []Checkpoint
	Pruned      []Checkpoint // checkpoints to delete; State is not set
}

// Invalidated means that a run was folded again after a position. Its decisions and checkpoints after the position are deleted.
// So are all its warnings, because the valid ones are in the batch.
type Invalidated struct {
	Run    int64
	Behind Position
}
