package profile

import (
	"slices"
	"strings"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
)

// maxAllowed bounds the tools that a person lets a run use.
const maxAllowed = 64

// orders are the decisions of people about a run. They are events of the run, so a replay gives the same decisions. They take
// precedence over those of the policy. The zero value is ready to use.
type orders struct {
	Halt    string   `json:"halt,omitempty"`    // the text for the agent after a person halted the run; "" if the run was not halted
	Allowed []string `json:"allowed,omitempty"` // tools that are not warned about, blocked or halted
}

// take updates the orders by an event. It reports whether the event concerns the orders alone: then it sets d, which is the zero Decision, to
// the decision at it, and detectors and the policy do not see the event.
func (o *orders) take(e *unloop.Event, d *policy.Decision) (own bool) {
	switch e.Type {
	case unloop.Override:
		o.Halt = ""
		if e.Tool != "" && len(o.Allowed) < maxAllowed && !slices.Contains(o.Allowed, e.Tool) {
			o.Allowed = append(o.Allowed, e.Tool)
		}
	case unloop.Control:
		*d = o.control(e)
		return true
	}
	return false
}

func (o *orders) control(e *unloop.Event) policy.Decision {
	switch e.Name {
	case unloop.ControlNudge:
		return policy.Decision{Action: policy.Warn, Code: policy.CodePerson, Message: "A person who watches this run says: " + e.Text}
	case unloop.ControlHalt:
		o.Halt = strings.TrimSuffix("A person halted this run: "+e.Text, ": ")
		return o.halt()
	case unloop.ControlResume:
		o.Halt = ""
	}
	return policy.Decision{}
}

func (o *orders) halt() policy.Decision {
	return policy.Decision{Action: policy.Halt, Code: policy.CodePerson, Message: o.Halt}
}

// apply replaces the decision of the policy at the event by that of a person, if there is one.
func (o *orders) apply(e *unloop.Event, d *policy.Decision) {
	switch {
	case o.Halt != "" && e.Type.Kind()&(unloop.AtStart|unloop.AtEnd|unloop.AtMessage) != 0:
		*d = o.halt()
	case d.Action != policy.Allow && slices.Contains(o.Allowed, e.ToolName()):
		*d = policy.Decision{}
	}
}

// valid reports whether a session can have these orders.
func (o *orders) valid() bool { return len(o.Allowed) <= maxAllowed }
