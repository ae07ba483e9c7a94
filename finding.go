package unloop

// Severity is the importance of a finding.
type Severity string

// The severities, in ascending order.
const (
	SeverityInfo     Severity = "info"
	SeverityWarning  Severity = "warning"
	SeverityCritical Severity = "critical"
)

// Finding is a report that a rule holds: what happened, why it matters, what to try, and the events that show it.
type Finding struct {
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	Subject  string   `json:"subject"`            // the tool, the agents or the event concerned; "" for the whole run
	Count    int      `json:"count"`              // number of occurrences; 0 if the rule does not count
	Score    float64  `json:"score"`              // evidence of no progress relative to the threshold: 1 reaches it, 2 is twice that; 0 if the rule has no score
	Advisory bool     `json:"advisory,omitempty"` // healthy work can look the same, so policies at most nudge
	Event    EventRef `json:"event"`              // the latest event that belongs to the finding
	First    EventRef `json:"first"`              // the earliest remembered event that belongs to the finding

	What string `json:"what"`
	Why  string `json:"why"`
	Try  string `json:"try"`

	// The context that a nudge gives the agent. Repeated are the calls that repeat, one line each, oldest first. Changed
	// is how the latest call differs from the one a period before. FirstError is the first error of a series. Each is
	// empty if unknown.
	Repeated   []string `json:"repeated,omitempty"`
	Changed    string   `json:"changed,omitempty"`
	FirstError string   `json:"first_error,omitempty"`
	Period     int      `json:"period,omitempty"`  // length of a cycle, in calls
	Workers    int      `json:"workers,omitempty"` // workers in the loop of a swarm

	// Next are the Question or the ArgsHash of the calls that would continue the loop. If it is empty, any call of the subject would.
	Next []Hash `json:"-"`

	// Evidence are the events that show the finding, oldest first: the latest MaxEvidence of them.
	Evidence []EventRef `json:"evidence"`
}

// MaxEvidence is the maximum length of Finding.Evidence.
const MaxEvidence = 8

// Info describes a detector. It must not change between calls.
type Info struct {
	Name  string // the name of the rule
	At    At     // the kinds of events at which Check is called
	Needs Needs  // the state that its runs must keep
}

// At is a bit set of kinds of events.
type At uint8

// The kinds of events.
const (
	AtStart   At = 1 << iota // a call started
	AtEnd                    // a call completed, failed or was blocked; includes AtStale
	AtMessage                // a message was sent
	AtHandoff                // control passed to another agent
	AtOther                  // any other event
	AtStale                  // a call ended without novelty or with a failure; requires NeedOutcomes
	AtAny     = AtStart | AtEnd | AtMessage | AtHandoff | AtOther
)

// Kind returns the kind of events of this type. It never returns AtStale, which depends on the outcome: see Current.Kinds.
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

// Detector is a rule. A detector keeps no state, so one value is safe for concurrent use by any number of runs.
type Detector interface {
	// Info describes the rule.
	Info() Info

	// Check reports whether the rule holds at the event that was last added to the run, whether or not it was reported
	// before. It is called for every event of the kinds in Info().At, so it must take bounded time. It must not modify the
	// run or keep a reference to it.
	Check(r *Run) (Finding, bool)
}
