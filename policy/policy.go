// Package policy derives decisions from findings: the action to take at each event. Detectors make the findings, and a
// profile.Session calls the policy. A guard carries the decision out; a scan and a server report it.
// It reads no clock, starts no goroutine and does no I/O. The state of a policy is small and changes only in Decide, so
// equal findings give equal decisions.
package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unloop-ai/unloop"
)

// Action is the action to take at an event. A higher value is more severe.
type Action uint8

// The actions.
const (
	Allow Action = iota // continue
	Warn                // continue, and send the agent a nudge
	Block               // do not run the call, and send the agent a nudge
	Halt                // stop the run
)

var actionNames = [...]string{"allow", "warn", "block", "halt"}

// ActionOf returns the action with the name, and whether there is one. It returns Allow for an unknown name.
func ActionOf(name string) (Action, bool) {
	k := slices.Index(actionNames[:], name)
	return Action(max(k, 0)), k >= 0
}

// String returns the name of the action.
func (a Action) String() string { return actionNames[a] }

// MarshalText writes the action's name.
func (a Action) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads the action's name.
func (a *Action) UnmarshalText(name []byte) error {
	action, ok := ActionOf(string(name))
	if !ok {
		return fmt.Errorf("unknown action %q; want %s", name, strings.Join(actionNames[:], ", "))
	}
	*a = action
	return nil
}

// Decision is the decision of a policy at one event. The zero Decision allows.
type Decision struct {
	Action  Action
	Code    string // the rule or the level that decided; "" for Allow
	Message string // what happened, for the agent and for people; "" for Allow
	Count   int    // the count of the finding that decided; 0 if it has none

	// Rule and Subject are from the finding that decided.
	Rule, Subject string
	// Findings are the findings that the decision is based on. They are valid until the next Decide.
	Findings []unloop.Finding

	AfterCall    bool // the call at which it was decided has run; a block applies to the next one that matches
	AfterMessage bool // it was decided at a message, where no call was waiting; a block applies to the next call that matches

	Question *Question // a request for a second opinion about the decision; nil for none
	Opinion  *Opinion  // the second opinion that the decision takes into account; nil for none
}

// decisionOn returns the decision that a finding causes. It is based on the findings in found.
func decisionOn(f *unloop.Finding, action Action, code string, found []unloop.Finding) Decision {
	return Decision{Action: action, Code: code, Message: f.What, Count: f.Count, Rule: f.Rule, Subject: f.Subject, Findings: found}
}

// Policy decides which action to take at the events of one run. It need not be safe for concurrent use.
type Policy interface {
	// Decide returns the decision at the latest event of r. It is called once for each event of the run, in order. found
	// are the findings that hold at the event. grown are those of them that are new or whose count has grown. Both are
	// valid only during the call.
	Decide(r *unloop.Run, found, grown []unloop.Finding) Decision
}

// Stateful is a policy with state that a snapshot must contain.
type Stateful interface {
	Policy
	// Snapshot returns the state as JSON.
	Snapshot() ([]byte, error)
	// Restore replaces the state of a new policy by one that Snapshot returned. The data may come from an untrusted source.
	// Restore returns an error if Snapshot cannot have written it, and the policy is then not used.
	Restore(data []byte) error
}

// Report is the policy of profiles that only report. It warns when a finding is new or its count has grown.
type Report struct{}

// Decide warns of the most severe finding in grown. Ties: the first.
func (Report) Decide(_ *unloop.Run, _, grown []unloop.Finding) Decision {
	if len(grown) == 0 {
		return Decision{}
	}
	worst := &grown[0]
	for k := range grown[1:] {
		if f := &grown[k+1]; severityRank(f.Severity) > severityRank(worst.Severity) {
			worst = f
		}
	}
	return decisionOn(worst, Warn, worst.Rule, grown)
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
