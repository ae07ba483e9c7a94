// Package store holds the records of a server: what is kept of runs, their events, warnings and decisions, as the pipeline
// writes them and those who answer questions read them. It stands between the two and knows no database; the stores
// below it do.
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
	Closed    = "closed" // nothing came for so long that it is taken to be over; what comes later reopens it
)

// Position is the place of an event in its run. Positions are ordered by sequence, then time, then tie.
type Position struct {
	Sequence int64 // as the sender counted; that of the furthest event before it where it has none
	Time     int64 // Unix nanoseconds; that of the furthest event before it where it has none
	Tie      int64 // the arrival, or what a format has that does not depend on it
}

// Start stands before every event's position.
var Start = Position{math.MinInt64, math.MinInt64, math.MinInt64}

// Compare returns -1, 0 or 1, as p stands before, at or behind q.
func (p Position) Compare(q Position) int {
	return cmp.Or(cmp.Compare(p.Sequence, q.Sequence), cmp.Compare(p.Time, q.Time), cmp.Compare(p.Tie, q.Tie))
}

// Event is an event as it is kept.
type Event struct {
	Arrival  int64 // counts the events of the store, from 1, in the order in which they were recorded
	Run      int64 // the number of its run
	ID       string
	Position Position
	Received time.Time // when it arrived, to the microsecond
	Body     []byte    // its JSON on the wire
}

// Run is what is known of a run.
type Run struct {
	Number            int64 // from 1, in the order in which the runs appeared
	ID                string
	Name              string
	Project           string
	Status            string
	Profile           string    // under which it is judged
	Started           time.Time // when its first event happened
	Ended             time.Time // when its last event happened; zero while it runs
	Updated           time.Time // when its last event arrived
	Arrival           int64     // of the event that was recorded last, or a later one of no event where a refold changed the run after it
	Bytes             int64     // that its events take, about
	Metadata          json.RawMessage
	Tools             []string // at most MaxTools, sorted
	Metrics           Metrics
	Health            policy.Health
	Warnings          int
	WorstAction       policy.Action // of its decisions so far
	FirstWarningAt    time.Time     // when its first warning was raised; zero without one
	UsageAfterWarning Usage         // since then
	Preview           Preview
	SlowestEvent      string // the id of the event that took longest; "" where none tells how long it took
	Refold            *Refold
}

// Refold marks a run of which late events are recorded and not folded yet. What the run's row, warnings and decisions say holds
// for the events before those.
type Refold struct {
	Behind Position `json:"behind"`         // checkpoints up to it are valid, and so are decisions
	Name   string   `json:"name,omitempty"` // that the run's events gave it before
}

// MaxTools is how many tools a run is found by.
const MaxTools = 64

// The bounds of a Glance.
const (
	MaxBusiest = 5
	MaxNovelty = 32
	MaxHealth  = 128
)

// Preview is what a run looks like from afar.
type Preview struct {
	Tools   []ToolCalls `json:"tools,omitempty"`   // those that were called most, at most MaxBusiest
	Novelty []float64   `json:"novelty,omitempty"` // which part of its steps told something new, in at most MaxNovelty stretches of equal length
	Health  []HealthAt  `json:"health,omitempty"`  // how it went: a point where it begins, and one for each change, at most MaxHealth
}

// ToolCalls says how often a tool was called.
type ToolCalls struct {
	Name  string `json:"name"`
	Calls int    `json:"calls"`
}

// HealthAt is the health from an event on.
type HealthAt struct {
	Number int `json:"number"` // of the event in the run, from 0
	Score  int `json:"score"`
}

// Usage is what a part of a run took.
type Usage struct {
	Calls  int     `json:"calls"`
	Tokens int64   `json:"tokens"`
	Cost   float64 `json:"cost"` // US dollars
}

// Metrics are the totals of a run, in the words of the wire.
type Metrics struct {
	Events       int     `json:"total_events"`
	Duration     float64 `json:"total_duration_sec"`
	LLMCalls     int     `json:"total_llm_calls"`
	ToolCalls    int     `json:"total_tool_calls"`
	Retries      int     `json:"total_retries"`
	Handoffs     int     `json:"total_handoffs"`
	Errors       int     `json:"total_errors"`
	Tokens       int64   `json:"total_tokens"`
	Cost         float64 `json:"estimated_cost"` // US dollars
	MeanLatency  float64 `json:"average_latency_ms"`
	MaxLatency   float64 `json:"max_latency_ms"`
	BusiestTool  *string `json:"most_used_tool"`
	BusiestAgent *string `json:"most_active_agent"`
}

// Warning is a finding as it is kept: raised once for its rule and subject, its count growing with the loop.
type Warning struct {
	ID       string // made of run, rule and subject, so that the same warning has the same id whenever it is worked out
	Run      int64
	Rule     string
	Subject  string
	Severity string
	Tool     string // where the subject is a tool of the run; else ""
	Count    int
	EventID  string          // the culprit
	Message  string          // what happened
	Details  json.RawMessage // an object with all else that the finding says
	Created  time.Time       // when the event happened, or else arrived, at which it was raised
	Updated  time.Time       // the same for the event at which it grew last
}

// Decision is a moment at which the profile's policy would not have said allow.
type Decision struct {
	Run      int64
	Position Position // of the event
	EventID  string
	Number   int // of the event in the run, from 0
	Action   policy.Action
	Code     string
	Message  string
	Warning  string // the id of the warning that it rests on, for who is told of it; it is not kept
}

// Checkpoint is the state of a run's fold behind the event at Position, with which it goes on.
type Checkpoint struct {
	Run      int64
	Position Position
	Events   int // that are folded in it
	State    []byte
}

// Span is a span of a trace as its format keeps it.
type Span struct {
	Trace, ID string
	Received  time.Time
	Body      []byte
}

// TraceRun says that spans of a trace give events in a run. Spans belong to their trace, which may have events in several runs,
// and in others after its next span.
type TraceRun struct {
	Trace    string
	Run      int64     // the run's number; 0 says that the trace gives no events
	Received time.Time // when its latest spans arrived, as far as Run is 0
}

// EventRef names an event.
type EventRef struct {
	Run int64
	ID  string
}

// Batch is what one commit writes, all of it or nothing, in the order of the fields.
type Batch struct {
	Spans       []Span     // new, or to be written over
	Traces      []TraceRun // new, or to be written over
	Left        []TraceRun // a trace has no more events in a run
	Deleted     []int64    // deleted runs, with all that belongs to them, and with the spans of traces that have events in no other run
	Emptied     []int64    // deleted runs whose events went to other runs, with all that belongs to them except spans
	Runs        []Run      // new, or to be written over
	Removed     []EventRef // events that are no more; of a changed one the new form stands among Events
	Events      []Event
	Invalidated []Invalidated
	Warnings    []Warning // new, or to be written over
	Decisions   []Decision

	Flushed     int64 // an arrival up to which the rows of all runs are written with this batch; 0 for nothing to say
	Checkpoints []Checkpoint
	Pruned      []Checkpoint // are dropped; their states are not given
}

// Invalidated says that a run was folded anew behind a position: decisions and checkpoints behind it are dropped, and so are all
// the run's warnings, for those that stand are written anew.
type Invalidated struct {
	Run    int64
	Behind Position
}
