package unloop

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/unloop-ai/unloop/internal/snapshot"
)

// Bounds of what a run keeps.
const (
	recentSteps    = 32  // steps that can be looked at again
	recentHandoffs = 6   // receivers of control
	maxOpen        = 256 // calls without an outcome; the oldest is given up
	maxAgents      = 256 // agents that are counted
)

// Run is a fold over the events of one agent's work on one task: Add takes them one by one, in the run's order, and
// keeps the facts that detectors read. Adding is O(1) amortised, and proportional to the event's size; the hundredth
// event costs what the ten-thousandth does. A run keeps at most 4 MiB, whatever its length: of steps, inputs, outcomes,
// tools and agents it remembers the latest, up to the bounds that the methods state.
//
// A Run is not safe for concurrent use.
type Run struct {
	id      string
	options Options
	current Current
	step    Step // the step of the current moment
	s       state

	lastTool *Tool // of s.Tools
}

// state is what a run keeps from event to event. It is all that a snapshot holds, so its fields have names for JSON.
type state struct {
	Metrics      Metrics
	LatencySum   float64 // sum, ms
	LatencyCount int     // events that carry a latency
	FirstTime    time.Time
	LastTime     time.Time
	Agents       map[string]int `json:",omitempty"`
	Progress     int            // state_updated and memory_write so far

	Calls    int // started
	Recent   []Step
	Excerpts []excerpt `json:",omitempty"`
	Open     []openCall
	Tools    map[string]*Tool

	InputText           int // bytes of inputs kept
	Turn                Turn
	Shell               Shell
	MessagesSinceCall   int
	RawCounts           recentCounts
	ArgsCounts          recentCounts
	OutcomeCounts       recentCounts // of what was asked and what came back
	ResultCounts        recentCounts // of what a tool returned
	CallPeriods         Periods
	TargetStreak        Streak // of calls with the same target
	OutcomePeriods      Periods
	Changes             int // news that came from calls that changed something
	StepsWithoutNovelty int
	RestatedInARow      int // messages in a row that were nearly said before
	RestatedWeight      float64
	NovelMessages       int // messages that were not nearly said before
	RepeatedMessages    int // messages that were
	AssistantWords      int // words of assistants
	LastNovelty         EventRef
	LastUnobserved      EventRef

	HandoffAgents []string
	HandoffEvents []EventRef
	HandoffTotals []handoffTotals     // what had happened at each of them
	Speakers      map[string]*speaker `json:",omitempty"`
	Meter         meter               `json:",omitzero"`
}

// handoffTotals is how much had happened in a run at some event.
type handoffTotals struct{ Words, Outcomes, RepeatedMessages int }

// Current is what the event that was last added told.
type Current struct {
	Type    EventType
	Ref     EventRef
	Time    time.Time
	Agent   string
	Role    string
	Cost    float64  // US dollars
	Latency *float64 // milliseconds; nil when unknown
	Step    *Step    // of a tool call event, its step as far as it is known; else nil
	Text    *Text    // of an assistant's message, if the run keeps NeedTexts; else nil
}

// Kinds returns what kind of event it was. One at which AtStale detectors are asked is of two kinds, AtEnd and AtStale.
func (m *Current) Kinds() At {
	kind := m.Type.Kind()
	if kind == AtEnd && m.Step != nil && (m.Step.Failing || !m.Step.Novel) {
		kind |= AtStale
	}
	return kind
}

// Metrics are the totals of a run.
type Metrics struct {
	Events       int
	LLMCalls     int // started
	ToolCalls    int // started
	Retries      int
	Handoffs     int
	Errors       int // events whose type ends in _failed
	Tokens       int64
	Cost         float64       // US dollars
	Duration     time.Duration // from the first event to the last
	MaxLatency   float64       // milliseconds
	MeanLatency  float64       // milliseconds, over the events that carry one
	BusiestTool  string        // by started calls
	BusiestAgent string        // by events
	Failed       bool          // the run ended in failure
	Ended        bool
	ToolCallsOf  int // the busiest tool
	EventsOf     int // the busiest agent
}

// NewRun returns a run without events.
func NewRun(id string, reading Options) *Run {
	return &Run{id: id, options: reading, s: state{Tools: make(map[string]*Tool)}}
}

// ID returns the run's id.
func (r *Run) ID() string { return r.id }

// Current returns what the event that was last added told. It is valid until the next Add.
func (r *Run) Current() *Current { return &r.current }

// Add folds the next event of the run into it. It keeps no reference to the event's raw JSON. Events must come in the
// run's order and once each: putting them into order is the business of whoever feeds the run.
func (r *Run) Add(e *Event) {
	r.current = Current{
		Type: e.Type, Ref: EventRef{e.ID, e.Index, r.s.Metrics.Events}, Time: e.Time, Agent: e.Agent, Role: e.Role, Cost: e.Cost, Latency: e.Latency,
	}
	r.count(e)
	switch e.Type {
	case ToolCallStarted:
		r.start(e)
	case ToolCallCompleted, ToolCallFailed, ToolCallBlocked:
		r.end(e)
	case StateUpdated, MemoryWrite:
		r.s.Progress++
		r.s.Turn.Row = Streak{}
		r.noteNovelty()
	case HandoffStarted:
		r.countHandoff(e)
	case MessageSent:
		r.message(e)
	case Override:
		r.s.Turn.Row = Streak{}
		r.noteNovelty()
	}
}

func (r *Run) count(e *Event) {
	m := &r.s.Metrics
	m.Events++
	m.Tokens = addSaturating(m.Tokens, e.Tokens)
	m.Cost = snapshot.Sum(m.Cost, e.Cost)
	if e.Latency != nil {
		r.s.LatencySum = snapshot.Sum(r.s.LatencySum, *e.Latency)
		r.s.LatencyCount++
		m.MaxLatency = math.Max(m.MaxLatency, snapshot.Sum(*e.Latency, 0))
	}
	if !e.Time.IsZero() {
		if r.s.FirstTime.IsZero() {
			r.s.FirstTime = e.Time
		}
		r.s.LastTime = e.Time
		if r.s.Turn.Began.IsZero() {
			r.s.Turn.Began = e.Time
		}
	}
	switch e.Type {
	case LLMCallStarted:
		m.LLMCalls++
	case RetryTriggered:
		m.Retries++
	case RunCompleted, RunFailed:
		m.Ended, m.Failed = true, e.Type == RunFailed
	}
	if strings.HasSuffix(string(e.Type), "_failed") {
		m.Errors++
	}
	r.countAgent(e.Agent)
}

func (r *Run) countAgent(agent string) {
	if agent == "" {
		return
	}
	if r.s.Agents == nil {
		r.s.Agents = make(map[string]int)
	}
	if n, ok := r.s.Agents[agent]; ok || len(r.s.Agents) < maxAgents {
		r.s.Agents[agent] = n + 1
		if n+1 > r.s.Metrics.EventsOf {
			r.s.Metrics.EventsOf, r.s.Metrics.BusiestAgent = n+1, agent
		}
	}
}

// countHandoff notes a handoff. Its agent is the one that receives control.
func (r *Run) countHandoff(e *Event) {
	r.s.Metrics.Handoffs++
	if e.Agent == "" {
		return
	}
	if len(r.s.HandoffAgents) == recentHandoffs {
		r.s.HandoffAgents = slices.Delete(r.s.HandoffAgents, 0, 1)
		r.s.HandoffEvents = slices.Delete(r.s.HandoffEvents, 0, 1)
		r.s.HandoffTotals = slices.Delete(r.s.HandoffTotals, 0, 1)
	}
	r.s.HandoffAgents = append(r.s.HandoffAgents, e.Agent)
	r.s.HandoffEvents = append(r.s.HandoffEvents, r.current.Ref)
	r.s.HandoffTotals = append(r.s.HandoffTotals, handoffTotals{r.s.AssistantWords, r.s.OutcomePeriods.N, r.s.RepeatedMessages})
}

// Metrics returns the run's totals so far.
func (r *Run) Metrics() Metrics {
	m := r.s.Metrics
	if r.s.LatencyCount > 0 {
		m.MeanLatency = r.s.LatencySum / float64(r.s.LatencyCount)
	}
	if m.Duration = r.s.LastTime.Sub(r.s.FirstTime); m.Duration < 0 {
		m.Duration = 0
	}
	return m
}

// Cost returns what the run has cost so far, in US dollars.
func (r *Run) Cost() float64 { return r.s.Metrics.Cost }

// Retries returns how many retries were triggered so far.
func (r *Run) Retries() int { return r.s.Metrics.Retries }

// Tool returns what the run keeps of the tool, or nil if it was never called or is forgotten: a run remembers 256 tools.
func (r *Run) Tool(name string) *Tool { return r.s.Tools[name] }

// Progressed reports whether the state was updated or the memory written since the tool's first call.
func (r *Run) Progressed(t *Tool) bool { return r.s.Progress > t.ProgressAtFirstCall }

// Calls returns how many calls were made so far.
func (r *Run) Calls() int { return r.s.Calls }

// StepAt returns the call made k calls before the latest one (0: the latest itself), or nil if there is none or it is
// forgotten: a run remembers 32 steps.
func (r *Run) StepAt(k int) *Step {
	if k < 0 || k >= len(r.s.Recent) {
		return nil
	}
	return &r.s.Recent[(r.s.Calls-1-k)%recentSteps]
}

// CallPeriods is the sequence of the calls' Exact fingerprints, each noted when the call starts.
func (r *Run) CallPeriods() *Periods { return &r.s.CallPeriods }

// TargetStreak is the row of the latest calls with the same Target.
func (r *Run) TargetStreak() *Streak { return &r.s.TargetStreak }

// OutcomePeriods is the sequence of what was asked and what came back (Target and Stable), each noted when the call ends. The
// run must keep NeedOutcomes.
func (r *Run) OutcomePeriods() *Periods { return &r.s.OutcomePeriods }

// StepsWithoutNovelty returns how many outcomes in a row told nothing new. An outcome is news when its stable result was not seen
// before from this tool, or when it changed something: a mutating call that succeeded, with arguments not seen before.
// A state update, a memory write, a user's message and an override are news too. The run must keep NeedOutcomes.
func (r *Run) StepsWithoutNovelty() int { return r.s.StepsWithoutNovelty }

// LastNovelty is the event that last told something new.
func (r *Run) LastNovelty() EventRef { return r.s.LastNovelty }

// LastUnobserved is the event at which a call last ended of which it is not known what it brought, news or not, because the
// content is missing.
func (r *Run) LastUnobserved() EventRef { return r.s.LastUnobserved }

// Changes returns how many calls so far changed something: mutating calls with arguments not seen before that did not fail.
// The run must keep NeedOutcomes.
func (r *Run) Changes() int { return r.s.Changes }

func (r *Run) noteNovelty() {
	r.s.StepsWithoutNovelty, r.s.RestatedWeight, r.s.LastNovelty = 0, 0, r.current.Ref
}

// RestatedInARow returns how many assistant messages in a row were nearly said before by the same agent. The run must keep
// NeedTexts.
func (r *Run) RestatedInARow() int { return r.s.RestatedInARow }

// RestatedWeight returns how much of what the agents said since the last news they had said before, in messages: each counts by
// its Text.Overlap, and half for every three messages since. A new plan, which is a message far longer than those of its
// agent before, takes it back to 0. The run must keep NeedTexts.
func (r *Run) RestatedWeight() float64 { return r.s.RestatedWeight }

// Handoffs returns the agents that received control last, and at which event, oldest first: up to six.
func (r *Run) Handoffs() (agents []string, at []EventRef) {
	return r.s.HandoffAgents, r.s.HandoffEvents
}

// SinceHandoffs returns how many words assistants said, how many messages they sent that were nearly said before, and how many
// calls ended and told something, since the first of these handoffs. The run must keep NeedTexts and NeedOutcomes.
func (r *Run) SinceHandoffs() (words, again, outcomes int) {
	if len(r.s.HandoffTotals) == 0 {
		return 0, 0, 0
	}
	then := &r.s.HandoffTotals[0]
	return r.s.AssistantWords - then.Words, r.s.RepeatedMessages - then.RepeatedMessages, r.s.OutcomePeriods.N - then.Outcomes
}

// addSaturating adds two numbers; a sum that an int64 does not hold is the nearest that it does.
func addSaturating(a, b int64) int64 {
	sum := a + b
	switch {
	case b >= 0 && sum < a:
		return math.MaxInt64
	case b < 0 && sum > a:
		return math.MinInt64
	}
	return sum
}
