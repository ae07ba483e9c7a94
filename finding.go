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
	Subject  string   `json:"subject"` // the tool, the agents or the event that it is about; "" for the run as a whole
	Count    int      `json:"count"`   // how often; 0 where the rule has no count
	Score    float64  `json:"score"`   // evidence of no progress: 1 is enough to say so, 2 is twice that; 0 where the rule has no score
	Event    EventRef `json:"event"`   // the culprit: the latest event that belongs to it
	First    EventRef `json:"first"`   // the first event that belongs to it, as far as it is remembered

	What string `json:"what"`
	Why  string `json:"why"`
	Try  string `json:"try"`

	// Evidence are the events that prove it, oldest first; the latest MaxEvidence of them.
	Evidence []EventRef `json:"evidence"`
}

// MaxEvidence is how many events a finding names at most.
const MaxEvidence = 8

// Info describes a detector.
type Info struct {
	Name  string // of the rule
	Facts Facts  // what its runs must keep
}

// Detector is a rule. Check says whether it holds now, at the event that was last added to the run; it does not know
// or care whether it said so before. A detector keeps no state, so one value serves any number of runs at once.
type Detector interface {
	Info() Info
	Check(r *Run) (Finding, bool)
}
