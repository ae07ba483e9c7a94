// Package guard is what application code puts around its tool calls: Before a call it says whether the call should run, After
// it whether the agent goes round in circles. It feeds a profile's Watch with the events of one run, so its verdict is that
// of a scan of the same run.
//
//	g := guard.New(p, guard.Options{})
//	search := g.Wrap("search", searchTool)
//
// or, by hand:
//
//	d := g.Before(call)
//	if d.Stops() {
//		return d.Result(), d.Err()
//	}
//	result, err := run(call)
//	d = g.After(call, guard.Outcome{Result: result, Err: err})
//	return d.Attach(result), d.Err()
package guard

import (
	"encoding/json"
	"strconv"
	"sync"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/profile"
	"github.com/unloop-ai/unloop/swarm"
)

// Call is a tool call that an agent wants to make.
type Call struct {
	ID    string            // joins Before and After; "" where calls of one tool end in the order in which they began
	Tool  string            //
	Args  json.RawMessage   // as the model sent them
	Agent string            // who calls; "" if there is only one
	Hints *unloop.ToolHints // what the tool says of itself; nil if nothing
}

// Outcome is how a call ended.
type Outcome struct {
	Result  json.RawMessage // nil where it is not known
	Err     error           // nil if the call succeeded
	Latency time.Duration   // 0 where it is not known
}

// Options are what a guard needs beside its profile. The zero value is fine.
type Options struct {
	Run       string           // the run's id
	Now       func() time.Time // the clock; time.Now if nil
	Listeners []Listener       // told of every decision, Allow included
	Swarm     *Swarm           // counts shared with other workers; nil for none
}

// Guard guards the calls of one run. It is safe for concurrent use; a decision takes about as long as Run.Add and keeps a
// lock for that time.
type Guard struct {
	profile   *profile.Profile
	now       func() time.Time
	listeners *listeners
	swarm     *Swarm

	mu      sync.Mutex
	session *profile.Session
	event   unloop.Event // the memory of the event at hand
	next    int          // number of the next event
	stats   Stats

	failed error // why the guard decides nothing more
}

// New returns a guard for one run.
func New(p *profile.Profile, o Options) *Guard {
	g := &Guard{profile: p, now: o.Now, session: p.NewSession(o.Run), swarm: o.Swarm, listeners: newListeners(o.Listeners)}
	if g.now == nil {
		g.now = time.Now
	}
	return g
}

// Before decides about a call that is about to run. If the decision Stops, the call must not run; the guard has noted that it
// was blocked, and After must not be called for it.
func (g *Guard) Before(c Call) Decision {
	d, started := g.start(c)
	var global swarm.Count
	if g.swarm != nil && started.target != 0 {
		global = g.swarm.record(c.Tool, started.target) // without the lock: a store may be slow
	}
	d = g.settle(c, d, global, started.ref)
	g.announce("before", c, d)
	return d
}

// started says which call has started. Its target is 0 where the call is left out.
type started struct {
	target unloop.Hash
	ref    unloop.EventRef
}

// start folds the start of a call and returns the run's own decision about it.
func (g *Guard) start(c Call) (Decision, started) {
	g.mu.Lock()
	defer g.mu.Unlock()
	d := g.add(unloop.Event{Type: unloop.ToolCallStarted, CallID: c.ID, Tool: c.Tool, Input: c.Args, Agent: c.Agent, Hints: c.Hints})
	now := g.session.Run().Current()
	if now.Step == nil {
		return d, started{}
	}
	return d, started{now.Step.TargetHash, now.Ref}
}

// settle makes the decision about a call of what the run and the swarm say, and counts it. The call began at the event at.
func (g *Guard) settle(c Call, d Decision, global swarm.Count, at unloop.EventRef) Decision {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.swarm != nil {
		d = g.joinSwarm(d, global, c.Tool, at)
	}
	if d.Stops() {
		g.add(unloop.Event{Type: unloop.ToolCallBlocked, CallID: c.ID, Tool: c.Tool, Agent: c.Agent})
	}
	g.count(d)
	return d
}

// After tells how a call ended and decides about it: a warning goes to the agent with the result, a block holds for the next
// such call, a halt ends the run.
func (g *Guard) After(c Call, o Outcome) Decision {
	e := unloop.Event{Type: unloop.ToolCallCompleted, CallID: c.ID, Tool: c.Tool, Input: c.Args, Output: o.Result, Agent: c.Agent}
	if o.Err != nil {
		e.Type = unloop.ToolCallFailed
		e.Error, _ = json.Marshal(o.Err.Error()) // a string can always be written
	}
	if o.Latency > 0 {
		ms := float64(o.Latency) / float64(time.Millisecond)
		e.Latency = &ms
	}
	return g.tell("after", c, e)
}

// Text tells that somebody said something. Role is unloop.RoleAssistant, RoleUser or RoleSystem; a user's text begins a turn.
func (g *Guard) Text(role, agent, text string) Decision {
	return g.tell("text", Call{Agent: agent}, unloop.Event{Type: unloop.MessageSent, Role: role, Agent: agent, Text: text})
}

// ResetTurn begins a turn without a text.
func (g *Guard) ResetTurn() Decision {
	return g.Text(unloop.RoleUser, "", "")
}

// MarkProgress tells that the agent got on, whatever its calls look like. What says on what.
func (g *Guard) MarkProgress(what string) Decision {
	return g.tell("progress", Call{}, unloop.Event{Type: unloop.StateUpdated, Name: what})
}

// Allow tells that a person lets the agent go on. Why is kept with the event.
func (g *Guard) Allow(why string) Decision {
	return g.tell("allow", Call{}, unloop.Event{Type: unloop.Override, Name: why})
}

// tell adds an event, counts the decision at it and tells the listeners.
func (g *Guard) tell(moment string, c Call, e unloop.Event) Decision {
	d := g.decide(e)
	g.announce(moment, c, d)
	return d
}

// decide adds an event and counts the decision at it.
func (g *Guard) decide(e unloop.Event) Decision {
	g.mu.Lock()
	defer g.mu.Unlock()
	d := g.add(e)
	g.count(d)
	return d
}

// announce tells the listeners, if there are any.
func (g *Guard) announce(moment string, c Call, d Decision) {
	if len(g.listeners.queues) > 0 {
		g.listeners.tell(g.notice(moment, c, d))
	}
}

// add folds an event. A panic fails the guard. The lock is held.
func (g *Guard) add(e unloop.Event) (d Decision) {
	if g.failed != nil {
		return g.failedDecision(e.Tool)
	}
	defer func() {
		if cause := recover(); cause != nil {
			g.fail(cause)
			d = g.failedDecision(e.Tool)
		}
	}()
	g.event = e
	g.event.ID = eventID(g.next)
	g.event.Index, g.event.Time = g.next, g.now()
	g.next++
	return newDecision(g.session.Add(&g.event), e.Tool, g.profile)
}

// eventID names the event with the number.
func eventID(number int) string {
	var id [24]byte
	return string(strconv.AppendInt(append(id[:0], 'g'), int64(number), 10))
}

// State is what a guard says of its run at a moment.
type State struct {
	Profile             string           `json:"profile"`
	Run                 string           `json:"run"`
	Calls               int              `json:"calls"`
	StepsWithoutNovelty int              `json:"stale"` // outcomes in a row that told nothing new
	Last                string           `json:"last_tool"`
	InARow              int              `json:"in_a_row"` // calls in a row with the same arguments
	Looping             bool             `json:"looping"`  // there are warnings
	Health              policy.Health    `json:"health"`
	Warned              []unloop.Finding `json:"warnings"`
	Failed              string           `json:"failed,omitempty"` // why the guard decides nothing more; "" if it does
}

// State returns how the run stands. Of a guard that failed, only the names and the reason are known.
func (g *Guard) State() State {
	g.mu.Lock()
	defer g.mu.Unlock()
	run := g.session.Run()
	s := State{Profile: g.profile.Name(), Run: run.ID()}
	if g.failed != nil {
		s.Failed = g.failed.Error()
		return s
	}
	s.Calls, s.StepsWithoutNovelty, s.Health, s.Warned = run.Calls(), run.StepsWithoutNovelty(), g.session.Health(), g.session.Warnings()
	s.Looping = len(s.Warned) > 0
	if step := run.StepAt(0); step != nil {
		s.Last, s.InARow = step.Tool, run.CallPeriods().Rounds(1)
	}
	return s
}
