// Package policy makes decisions of findings: which warnings a run has, how healthy it is, and what to do about the
// step at hand. It stands behind the detectors and is as pure as they are: a policy's state is its own, small, and
// changes only with what it is asked.
package policy

import "github.com/unloop-ai/unloop"

// Action is what to do about a step, in rising order of severity.
type Action uint8

// The actions.
const (
	Allow Action = iota // go on
	Warn                // go on, and tell the agent
	Block               // do not run this call; tell the agent
	Halt                // stop the run
)

var actionNames = [...]string{"allow", "warn", "block", "halt"}

// String returns the name of the action.
func (a Action) String() string { return actionNames[a] }

// MarshalText writes the action's name.
func (a Action) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// Decision is what a policy makes of the findings at one event.
type Decision struct {
	Action  Action
	Code    string // the rule, or the stage of a ladder, that decided
	Message string // for the agent and its owner; "" for Allow
	Count   int    // how often what it is about happened; 0 where that has no count

	// Rule and Subject are those of the finding that decided.
	Rule, Subject string
	// Findings are those that the decision rests on.
	Findings []unloop.Finding
}

// Policy decides. Decide is asked at every event of one run, in order, with the findings that hold there and those of
// them that are new or have grown.
type Policy interface {
	Decide(r *unloop.Run, found, grown []unloop.Finding) Decision
}

// Stateful is a policy that keeps something from event to event.
type Stateful interface {
	Policy
	// State returns a pointer to what it keeps, which JSON can write and read. A snapshot that is read back may come from anybody:
	// if the state has a method Validate() error, that is called behind reading, and an error refuses the snapshot.
	State() any
}

// Report is the policy of profiles that only report: it warns when a warning is raised or grows.
type Report struct{}

// Decide names the most severe finding that is new or has grown.
func (Report) Decide(_ *unloop.Run, _, grown []unloop.Finding) Decision {
	if len(grown) == 0 {
		return Decision{}
	}
	worst := grown[0]
	for _, f := range grown[1:] {
		if severityRank(f.Severity) > severityRank(worst.Severity) {
			worst = f
		}
	}
	return Decision{Action: Warn, Code: worst.Rule, Message: worst.What, Count: worst.Count, Rule: worst.Rule, Subject: worst.Subject, Findings: grown}
}

func severityRank(s unloop.Severity) int {
	switch s {
	case unloop.SeverityCritical:
		return 2
	case unloop.SeverityWarning:
		return 1
	}
	return 0
}
