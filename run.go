package unloop

import (
	"encoding/json"
	"time"

	"github.com/unloop-ai/unloop/internal/fingerprint"
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
	step      Step             // the step of the current event
	callWords wordSet          // the words of its call; with NeedEffort
	echo      fingerprint.Echo // of its command; with NeedOutcomes
	newID     bool             // the message of the current event gives a new id, and a step has ended since the message before: see givesNewID
	advanced  bool             // it tells of progress: see readDialogue
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
	if r.options.Needs&NeedOutcomes == 0 || !needsUnpacking(e) {
		r.add(e)
		return
	}
	s := getScratch()
	s.unpack(e)
	r.add(&s.event)
	s.event = Event{}
	if cap(s.unpacked) > maxUnpacked {
		s.unpacked = nil
	}
	s.put()
}

// needsUnpacking reports whether the arguments or the result of an event are JSON in a string, or one of its
// contents has invisible characters.
func needsUnpacking(e *Event) bool {
	return fingerprint.PackedArguments(e.Input) || fingerprint.PackedResult(e.Output) ||
		fingerprint.Invisible(e.Input) || fingerprint.Invisible(e.Output) || fingerprint.Invisible(e.Error) ||
		len(fingerprint.Visible(e.Text)) < len(e.Text)
}

// unpack sets s.event to an event whose arguments and result are as if they came without strings around them, and whose content has no
// invisible characters. Otherwise an agent or a tool could make each of its calls or results another one with them.
func (s *scratch) unpack(e *Event) {
	s.event, s.unpacked = *e, s.unpacked[:0]
	s.event.Text = fingerprint.Visible(e.Text)
	if fingerprint.PackedArguments(e.Input) {
		s.event.Input = s.keep(fingerprint.Unpack(s.unpacked, e.Input))
	}
	if fingerprint.PackedResult(e.Output) {
		s.event.Output = s.keep(fingerprint.Unpack(s.unpacked, e.Output))
	}
	for _, content := range [...]*json.RawMessage{&s.event.Input, &s.event.Output, &s.event.Error} {
		if fingerprint.Invisible(*content) {
			*content = s.keep(fingerprint.AppendVisible(s.unpacked, *content))
		}
	}
}

// keep sets s.unpacked to a text that was appended to it, and returns what was appended.
func (s *scratch) keep(appended []byte) []byte {
	from := len(s.unpacked)
	s.unpacked = appended
	return appended[from:len(appended):len(appended)]
}

// add folds an event whose arguments and result are not packed in strings, as far as the run reads them.
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

// noteNovelty records that the current event is novel.
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
