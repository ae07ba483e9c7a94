package hook

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/nudge"
	"github.com/unloop-ai/unloop/policy"
)

// Order is an order of a person to a session, from a server.
type Order struct {
	Number int64         // within the session, increasing
	Event  *unloop.Event // a control or an override
}

// Ordered is the state of the orders to a session that hooks have fetched.
type Ordered struct {
	Heard   int64    `json:"heard"`             // Number of the last order; -1 for none
	Paused  bool     `json:"paused,omitempty"`  // calls wait
	Halted  string   `json:"halted,omitempty"`  // why a person halted the session; "" if it is not halted
	Order   string   `json:"order,omitempty"`   // the id of the order to pause or to halt
	Ended   []string `json:"ended,omitempty"`   // ids of orders that a person's message ended and the server does not know
	Pending string   `json:"pending,omitempty"` // a person's words for the model that no event could carry so far
}

// pauseWait is how long a hook waits for the end of a pause. Agents stop waiting for a hook after 10 seconds.
const pauseWait = 5 * time.Second

// heard is a server's answer to a request for orders.
type heard struct {
	orders []Order
	last   int64 // Number of the last order
	failed bool  // the server did not answer
}

// hear fetches the orders that the session does not have. It holds no lock meanwhile. Before a call in a paused session it
// waits for the end of the pause, at most as long as pauseWait.
func (h *Hook) hear(ctx context.Context, server Server, e *Event, settings *Settings) (all heard) {
	if server == nil {
		return all
	}
	known := h.Folder.ordered(e)
	end := time.Now().Add(pauseWait)
	for wait := time.Duration(0); ; wait = time.Until(end) {
		asking, answered := context.WithTimeout(ctx, wait+ruleWait)
		orders, last, err := server.Orders(asking, RunID(e), known.Heard, wait)
		if err != nil {
			h.unanswered(asking, e, settings, err)
			all.failed = true
		}
		answered()
		for _, o := range orders {
			known.obey(o.Event)
		}
		known.Heard = max(known.Heard, last)
		all.orders, all.last = append(all.orders, orders...), known.Heard
		over := wait > 0 && len(orders) == 0 || time.Now().After(end)
		if all.failed || !known.Paused || e.Kind != Before || over {
			return all
		}
	}
}

// ordered returns the stored state of the orders to a session.
func (f Folder) ordered(e *Event) Ordered {
	data, err := readRegular(f.path("sessions", key(e.Agent, e.Session, e.SubAgent)+".state"), maxSession)
	if err != nil {
		return Ordered{Heard: -1}
	}
	about, _, err := split(data)
	if err != nil {
		return Ordered{Heard: -1}
	}
	return about.Ordered
}

// obey applies an order to the state.
func (o *Ordered) obey(e *unloop.Event) {
	switch {
	case e.Type == unloop.Override, e.Name == unloop.ControlResume:
		o.Paused, o.Halted = false, ""
	case e.Name == unloop.ControlNudge:
		o.Pending = nudge.Join(o.Pending, "[unloop] A person who watches this session says: "+e.Text)
		o.Pending = o.Pending[:min(len(o.Pending), maxText)]
	case e.Name == unloop.ControlPause:
		o.Paused, o.Order = true, e.ID
	case e.Name == unloop.ControlHalt:
		o.Paused, o.Halted, o.Order = false, "A person halted this session.", e.ID
		if e.Text != "" {
			o.Halted = "A person halted this session: " + e.Text
		}
	}
}

// release ends a pause and a halt, because a person has sent a new message.
func (j *judge) release() {
	if j.Paused || j.Halted != "" {
		j.Ended = append(j.Ended, j.Order)
		j.Paused, j.Halted = false, ""
	}
}

// obey applies the orders that no other hook of the session has applied.
func (j *judge) obey(all heard) {
	for _, o := range all.orders {
		if o.Number <= j.Heard {
			continue
		}
		j.Heard = o.Number
		j.Ordered.obey(o.Event)
		if o.Event.Type != unloop.Override {
			continue
		}
		j.EndDue, j.Owed = "", ""
		switch tool := o.Event.Tool; {
		case tool == "":
			j.goOn(o.Event.Name)
			j.steps = append(j.steps, Step{Op: "allow", Text: o.Event.Name, recorded: true})
		case !slices.Contains(j.AllowTools, tool):
			j.AllowTools = append(j.AllowTools, tool)
		}
	}
	j.Heard = max(j.Heard, all.last)
}

// refuse refuses a call of a session that a person has paused or halted. It reports false for other sessions. The guard does not see
// a refused call.
func (j *judge) refuse(c Call) bool {
	text := j.Halted
	if j.Paused {
		text = "A person paused this session, and it is still paused. End your turn and say so. A person tells you when to continue."
	}
	if text == "" {
		return false
	}
	if c.ID == "" {
		c.ID = fmt.Sprintf("%srefused-%d", ownID, j.Denials)
	}
	action := policy.Block
	if j.Halted != "" {
		action = policy.Halt
	}
	j.refused = &Step{Op: "before", Call: c, Ruling: Ruling{Action: action, Code: policy.CodePerson, Text: text, Tool: c.Tool}}
	j.Done = append(j.Done, c.ID)
	return true
}

// ordered returns the answer that an order of a person demands, and false if there is none.
func (j *judge) ordered(can Can) (Answer, *Ruling, bool) {
	r := &Ruling{Action: policy.Halt, Code: policy.CodePerson, Text: j.Halted}
	if j.refused != nil {
		r = &j.refused.Ruling
	}
	text := "[unloop] " + r.Text
	switch {
	case j.Halted != "" && j.event.Kind == Stop:
		return Answer{}, nil, true
	case j.Halted != "" && can.EndTurn:
		j.TurnsCut++
		return Answer{EndTurn: text}, r, true
	case j.refused != nil && can.Deny:
		j.Denials++
		return Answer{Deny: text}, r, true
	}
	return Answer{}, nil, false
}

// withWords adds a person's words to an answer that can carry them.
func (j *judge) withWords(a Answer, can Can) Answer {
	if j.Pending == "" || !can.Context || a != (Answer{Context: a.Context}) {
		return a
	}
	a.Context, j.Pending = nudge.Join(j.Pending, a.Context), ""
	return a
}
