package unloop

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/unloop-ai/unloop/internal/fingerprint"
	"github.com/unloop-ai/unloop/internal/snapshot"
)

// Bounds of the state of a run.
const (
	recentSteps    = 32  // steps that StepAt returns
	recentHandoffs = 6   // receivers of control that Handoffs returns
	maxOpen        = 256 // calls without an outcome; the oldest is dropped
	maxAgents      = 256 // agents that are counted
)

// Run is the state that is folded from the events of one agent's work on one task. Add takes the events one by one, in
// their order, and updates the state that detectors read. Add takes time proportional to the size of the event,
// amortised, and independent of the length of the run. A run takes at most 4 MiB. It remembers the latest steps, inputs,
// outcomes, tools and agents, up to the bounds that the methods state.
//
// A Run is not safe for concurrent use.
type Run struct {
	id        string
	options   Options
	current   Current
	step      Step    // the step of the current event
	callWords wordSet // the words of its call; with NeedEffort
	newID     bool    // the message of the current event gives a new id, and a step has ended since the message before: see givesNewID
	advanced  bool    // it tells of progress: see readDialogue
	s         state

	lastTool *Tool // of s.Tools
}

// state is what a run keeps between events. It is the content of a snapshot, so its fields are exported for JSON.
type state struct {
	Metrics      Metrics
	LatencySum   float64 // sum, ms
	LatencyCount int     // events that carry a latency
	FirstTime    time.Time
	LastTime     time.Time
	Agents       map[string]int `json:",omitempty"`
	Progress     int            // state_updated and memory_write so far

	Calls    int  // started
	Waited   bool `json:",omitzero"` // the latest call waits; with NeedEffort
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
	OutcomeCounts       recentCounts // by target and normalized result
	ResultCounts        recentCounts // by tool and normalized result, or by tool and class of error
	CallPeriods         periods
	TargetStreak        Streak // of calls with the same target
	OutcomePeriods      periods
	Changes             int // novel outcomes of mutating calls
	Advances            int `json:",omitzero"` // how often a number in the answers to a call had moved one way twice, or a call that had failed succeeded
	StepsWithoutNovelty int
	RestatedInARow      int // consecutive messages that are nearly equal to an earlier one
	RestatedWeight      float64
	RestatedSinceCall   float64 `json:",omitzero"` // what the messages since the latest call added to RestatedWeight
	NewResult           int     `json:",omitzero"` // number of the event with the latest new result; with NeedEffort
	Advanced            int     `json:",omitzero"` // number of the event of the latest message that tells of progress; with NeedEffort
	NovelMessages       int     // messages that are not nearly equal to an earlier one of their agent
	RepeatedMessages    int     // the others
	AssistantWords      int     // words of assistants
	LastNovelty         EventRef
	LastUnobserved      EventRef

	HandoffAgents []string
	Introduced    int `json:",omitzero"` // number of the latest event of them, if its agent was new; else 0
	HandoffEvents []EventRef
	HandoffTotals []handoffTotals     // the totals at each of them
	Speakers      map[string]*speaker `json:",omitempty"`
	Meter         meter               `json:",omitzero"`
}

// handoffTotals are totals of a run at a handoff.
type handoffTotals struct{ Words, Outcomes, RepeatedMessages int }

// Current describes the event that was last added to a run.
type Current struct {
	Type    EventType
	Ref     EventRef
	Time    time.Time
	Agent   string
	Role    string
	Cost    float64  // US dollars
	Latency *float64 // milliseconds; nil if unknown
	Step    *Step    // the step of a tool call event; nil for other events and ignored tools
	Text    *Text    // of an assistant's message, with NeedTexts; else nil
}

// Kinds returns the kind of the event. An event at which AtStale detectors are called is of two kinds, AtEnd and AtStale.
func (c *Current) Kinds() At {
	kind := c.Type.Kind()
	if kind == AtEnd && c.Step != nil && (c.Step.Failing || !c.Step.Novel) {
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
	Duration     time.Duration // from the first timestamp to the last; 0 if they are out of order
	MaxLatency   float64       // milliseconds
	MeanLatency  float64       // milliseconds, over the events that carry one
	BusiestTool  string        // the tool with the most started calls; "" if none has a name
	BusiestAgent string        // the agent with the most events; "" if none has a name
	Failed       bool          // the run ended with run_failed
	Ended        bool          // the run ended with run_completed or run_failed
	ToolCallsOf  int           // started calls of BusiestTool
	EventsOf     int           // events of BusiestAgent
}

// NewRun returns a run without events. It reads its events according to the options, which must not change afterwards.
func NewRun(id string, options Options) *Run {
	return &Run{id: id, options: options, s: state{Tools: make(map[string]*Tool)}}
}

// ID returns the run's id.
func (r *Run) ID() string { return r.id }

// Current returns a description of the event that was last added. It is valid until the next Add.
func (r *Run) Current() *Current { return &r.current }

// Add folds the next event into the run. It keeps no reference to the raw JSON of the event. The caller must add each
// event once, in the order of the run: Add neither sorts nor removes duplicates.
func (r *Run) Add(e *Event) {
	if r.options.Needs&NeedOutcomes != 0 {
		if arguments, result := fingerprint.PackedArguments(e.Input), fingerprint.PackedResult(e.Output); arguments || result {
			r.addUnpacked(e, arguments, result)
			return
		}
	}
	r.add(e)
}

// addUnpacked adds an event whose arguments, result or both are JSON in a string, as if they came without the string.
func (r *Run) addUnpacked(e *Event, arguments, result bool) {
	s := getScratch()
	s.event, s.unpacked = *e, s.unpacked[:0]
	if arguments {
		s.unpacked = fingerprint.Unpack(s.unpacked, e.Input)
		s.event.Input = s.unpacked
	}
	if from := len(s.unpacked); result {
		s.unpacked = fingerprint.Unpack(s.unpacked, e.Output)
		s.event.Output = s.unpacked[from:]
	}
	r.add(&s.event)
	s.event = Event{}
	if cap(s.unpacked) > maxUnpacked {
		s.unpacked = nil
	}
	s.put()
}

func (r *Run) add(e *Event) {
	c := &r.current // filled in place: it is large
	c.Type, c.Ref.ID, c.Ref.Index, c.Ref.Number, c.Time = e.Type, e.ID, e.Index, r.s.Metrics.Events, e.Time
	c.Agent, c.Role, c.Cost, c.Latency, c.Step, c.Text = e.Agent, e.Role, e.Cost, e.Latency, nil, nil
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

// countHandoff records a handoff. Its agent receives control.
func (r *Run) countHandoff(e *Event) {
	r.s.Metrics.Handoffs++
	if e.Agent == "" {
		return
	}
	r.s.Introduced = 0
	if r.s.Agents[e.Agent] == 1 { // it is its first event
		r.s.Introduced = r.current.Ref.Number
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

// Cost returns the cost of the run so far, in US dollars.
func (r *Run) Cost() float64 { return r.s.Metrics.Cost }

// Retries returns the number of retries so far.
func (r *Run) Retries() int { return r.s.Metrics.Retries }

// Tool returns the state of a tool, or nil if the tool was never called or was evicted. A run keeps the 256 tools that were
// called last.
func (r *Run) Tool(name string) *Tool { return r.s.Tools[name] }

// Progressed reports whether a state update or a memory write occurred since the first call of the tool.
func (r *Run) Progressed(t *Tool) bool { return r.s.Progress > t.ProgressAtFirstCall }

// Calls returns the number of started calls so far, without those of ignored tools.
func (r *Run) Calls() int { return r.s.Calls }

// StepAt returns the step that is k calls before the latest one, where k = 0 is the latest. It returns nil if there is none
// or if it was evicted: a run keeps 32 steps.
func (r *Run) StepAt(k int) *Step {
	if k < 0 || k >= len(r.s.Recent) {
		return nil
	}
	return &r.s.Recent[(r.s.Calls-1-k)%recentSteps]
}

// CallPeriods returns the periods in the sequence of Step.ArgsHash. A call is added when it starts.
func (r *Run) CallPeriods() Periods { return Periods{&r.s.CallPeriods} }

// TargetStreak returns the streak of the latest calls with equal Step.TargetHash.
func (r *Run) TargetStreak() *Streak { return &r.s.TargetStreak }

// OutcomePeriods returns the periods in the sequence of steps, where two steps are equal if TargetHash and
// NormalizedResult are. A step is added when its call ends. The run must keep NeedOutcomes.
func (r *Run) OutcomePeriods() Periods { return Periods{&r.s.OutcomePeriods} }

// StepsWithoutNovelty returns the number of consecutive outcomes without novelty. An outcome is novel if the run has not
// seen its normalized result from the tool before, or, of a failure, its class of error. The outcome of a mutating call
// that succeeded with new arguments is novel, too. A state update, a memory write, a user message and an override reset
// the number to 0. The run must keep NeedOutcomes.
func (r *Run) StepsWithoutNovelty() int { return r.s.StepsWithoutNovelty }

// LastNovelty returns the latest event with novelty, in the sense of StepsWithoutNovelty.
func (r *Run) LastNovelty() EventRef { return r.s.LastNovelty }

// LastUnobserved returns the end of the latest call whose result was not captured, so that its novelty is unknown.
func (r *Run) LastUnobserved() EventRef { return r.s.LastUnobserved }

// Changes returns the number of calls so far that changed something: mutating calls that succeeded with new arguments. The
// run must keep NeedOutcomes.
func (r *Run) Changes() int { return r.s.Changes }

func (r *Run) noteNovelty() {
	r.s.StepsWithoutNovelty, r.s.RestatedWeight, r.s.LastNovelty = 0, 0, r.current.Ref
}

// RestatedInARow returns the number of consecutive assistant messages that are nearly equal to an earlier message of their
// agent. The run must keep NeedTexts.
func (r *Run) RestatedInARow() int { return r.s.RestatedInARow }

// RestatedWeight returns how much the agents have restated since the last novelty, in messages. Each message weighs its
// greatest overlap with a message since the latest new result, and half as much for every three messages since. The weight is 0 after a
// message that reports progress (see Advanced), and after a new plan, which is far longer than the earlier messages of its agent. The run
// must keep NeedTexts.
func (r *Run) RestatedWeight() float64 { return r.s.RestatedWeight }

// Advanced returns the number of the event of the latest message that reports progress, 0 for none. Such a message counts on by one towards
// the same total ("page 3 of 38"), reports a failure in a later line than the message before of its agent, or is that message with
// additions. The run must keep NeedTexts and NeedEffort.
func (r *Run) Advanced() int { return r.s.Advanced }

// Handoffs returns the agents that received control last and the events of the handoffs, oldest first: at most 6. The
// slices are valid until the next Add.
func (r *Run) Handoffs() (agents []string, at []EventRef) {
	return r.s.HandoffAgents, r.s.HandoffEvents
}

// Introduced returns the number of the latest handoff's event if the agent that received control was new to the run, else 0. What was said to
// other agents before is new to it.
func (r *Run) Introduced() int { return r.s.Introduced }

// SinceHandoffs returns totals since the first handoff that Handoffs returns: words of assistants, their messages that are
// nearly equal to an earlier one, and captured outcomes of calls. The run must keep NeedTexts and NeedOutcomes.
func (r *Run) SinceHandoffs() (words, again, outcomes int) {
	if len(r.s.HandoffTotals) == 0 {
		return 0, 0, 0
	}
	then := &r.s.HandoffTotals[0]
	return r.s.AssistantWords - then.Words, r.s.RepeatedMessages - then.RepeatedMessages, r.s.OutcomePeriods.N - then.Outcomes
}

// addSaturating returns a + b, or the nearest int64 if the sum overflows.
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
