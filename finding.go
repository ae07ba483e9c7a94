package unloop

// Severity says how much a finding matters.
type Severity string

// The severities, in rising order.
const (
	SeverityInfo     Severity = "info"
	SeverityWarning  Severity = "warning"
	SeverityCritical Severity = "critical"
)

// Finding is what a detector says: what happened, why it matters, what to try, how often, and the events that prove it.
type Finding struct {
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	Subject  string   `json:"subject"`        // the tool, the agents or the event that it is about; "" for the run as a whole
	Count    int      `json:"count"`          // how often; 0 where the rule has no count
	Score    float64  `json:"score"`          // evidence of no progress: 1 is enough to say so, 2 is twice that; 0 where the rule has no score
	Advisory bool     `json:"advisory,omitempty"` // honest work can look the same, so it is worth a nudge and never more
	Event    EventRef `json:"event"`          // the culprit: the latest event that belongs to it
	First    EventRef `json:"first"`          // the first event that belongs to it, as far as it is remembered

	What string `json:"what"`
	Why  string `json:"why"`
	Try  string `json:"try"`

	// What a nudge tells the agent, as far as it is known: the calls that repeat, one line each; what changed between
	// them; the first error.
	Repeated   []string `json:"repeated,omitempty"`
	Changed    string   `json:"changed,omitempty"`
	FirstError string   `json:"first_error,omitempty"`
	Period     int      `json:"period,omitempty"`  // of a cycle, in calls
	Workers    int      `json:"workers,omitempty"` // of a swarm's loop

	// Next are the Question or Exact of calls that would go on with what was found; none where any call of the subject would.
	Next []Hash `json:"-"`

	// Evidence are the events that prove it, oldest first; the latest MaxEvidence of them.
	Evidence []EventRef `json:"evidence"`
}

// MaxEvidence is how many events a finding names at most.
const MaxEvidence = 8

// Info describes a detector.
type Info struct {
	Name  string // of the rule
	At    At     // the events at which it can find something; it is not asked at others
	Needs Needs  // what its runs must keep
}

// At is a set of kinds of events.
type At uint8

// The kinds of events that detectors wait for.
const (
	AtStart   At = 1 << iota // a call started
	AtEnd                    // a call completed, failed or was blocked; AtStale is a part of these
	AtMessage                // a message was sent
	AtHandoff                // control went to another agent
	AtOther                  // anything else
	AtStale                  // a call completed or failed, and told nothing new or told of a failure: of use with NeedOutcomes
	AtAny     = AtStart | AtEnd | AtMessage | AtHandoff | AtOther
)

// Kind returns the kind of the event.
func (t EventType) Kind() At {
	switch t {
	case ToolCallStarted:
		return AtStart
	case ToolCallCompleted, ToolCallFailed, ToolCallBlocked:
		return AtEnd
	case MessageSent:
		return AtMessage
	case HandoffStarted:
		return AtHandoff
	}
	return AtOther
}

// Detector is a rule. Check says whether it holds now, at the event that was last added to the run; it does not know
// or care whether it said so before. A detector keeps no state, so one value serves any number of runs at once.
type Detector interface {
	Info() Info
	Check(r *Run) (Finding, bool)
}
