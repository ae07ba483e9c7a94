// Package guard checks the tool calls of an application while the agent runs. Before decides whether a call may run. After
// decides whether the agent loops. A guard feeds the events of one run to a profile.Session, so its verdicts are those of a
// scan of the same run.
//
//	p, err := profile.New("default")
//	g := guard.New(p, guard.Options{Run: conversationID})
//	search := g.Wrap("search", searchTool)
//
// Without Wrap:
//
//	d := g.Before(ctx, call)
//	if d.Stops() {
//		return d.Result(), d.Err()
//	}
//	result, err := run(call)
//	d = g.After(ctx, call, guard.Outcome{Result: result, Err: err})
//	return d.Attach(result), d.Err()
//
// Every method that returns a Decision takes a context. It bounds the wait for what may be remote, and nothing else: the store
// of a Swarm, which Before asks, and the answers to a SecondOpinion. Once the context is done, the guard does not wait, and
// decides from the events of its run alone. The event is recorded and the decision is returned in any case, so a canceled context neither
// blocks a call nor causes an error.
package guard

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/profile"
	"github.com/unloop-ai/unloop/swarm"
)

// Call is a tool call that an agent wants to make.
type Call struct {
	ID    string            // joins Before and After; may be "" if calls of a tool end in the order in which they start
	Tool  string            // the name of the tool
	Args  json.RawMessage   // the arguments, as the model sent them
	Agent string            // the agent that calls; "" if there is only one
	Hints *unloop.ToolHints // the annotations of the tool; nil if unknown
}

// Outcome is the outcome of a call.
type Outcome struct {
	Result  json.RawMessage // nil if it is not known
	Err     error           // nil if the call succeeded
	Latency time.Duration   // 0 if it is not known
}

// Options are the options of a guard. The zero value is valid.
type Options struct {
	Run       string           // the id of the run
	Now       func() time.Time // the clock; nil means time.Now
	Listeners []Listener       // receive every decision, Allow included
	Swarm     *Swarm           // counts that are shared with other workers; nil for none

	Shared *Shared // keeps the state of the run in a store, for guards in many processes; nil for none

	SecondOpinion *SecondOpinion // asks about advisory evidence and before stops; nil for none

	// Events, if set, takes each event of the run as the guard records it, and the decision at it, which is that of the run without a
	// swarm. Run must be set. It is called under the lock of the guard, so it must return at once, and it must not keep the event.
	// A panic is recovered, and its event counts as dropped: see Stats.DroppedEvents. Package guard/reporter has one that sends the events to a server.
	Events func(*unloop.Event, Decision)

	// Controls, if set, subscribes to what people do with the run: it calls take, which is Guard.Control, with each event until stop is
	// called. Run must be set. Package guard/reporter has one that asks a server.
	Controls func(run string, take func(*unloop.Event)) (stop func())
}

// Guard checks the calls of one run. It is safe for concurrent use. A decision takes about as long as profile.Session.Add and
// holds a lock for that time. With a Swarm, Before also waits for the store, until the context is done or 20 ms have passed. With a
// SecondOpinion, a decision that asks for one also waits for the answer, until the context is done or SecondOpinion.Wait has
// passed. Neither wait holds the lock.
type Guard struct {
	profile   *profile.Profile
	now       func() time.Time
	listeners *listeners
	swarm     *Swarm
	shared    *Shared    // nil for a run of one process
	second    *questions // nil without second opinions

	mu      sync.Mutex
	session *profile.Session
	event   unloop.Event // the current event; reused
	next    int          // number of the next event
	stats   Stats

	failed error // why the guard has failed; nil if it has not
	halted error // of the latest decision that halted the run; nil for none

	paused  chan struct{} // closed when the pause ends; nil if the run is not paused
	pending *Decision     // the nudge of a person that waits for the next decision; nil for none
	closed  bool
	stop    func() // ends Options.Controls; nil for none

	run           string
	events        func(*unloop.Event, Decision) // nil for none
	droppedEvents int64                         // at which events panicked
}

// New returns a guard for one run.
func New(p *profile.Profile, o Options) *Guard {
	g := &Guard{profile: p, now: o.Now, session: p.NewSession(o.Run), swarm: o.Swarm, listeners: newListeners(o.Listeners), run: o.Run, events: o.Events, shared: o.Shared}
	if g.now == nil {
		g.now = time.Now
	}
	if o.Shared == nil {
		g.second = newQuestions(o.SecondOpinion)
		g.second.keep(g.session)
	}
	g.listen(o.Controls)
	return g
}

// Before decides about a call that is about to run. While a person has paused the run, it waits, until ctx is done. If Stops returns
// true, the call must not run, and After must not be called for it: the guard has recorded the call as blocked. Once ctx is done,
// Before decides without the counts of a Swarm.
func (g *Guard) Before(ctx context.Context, c Call) Decision {
	g.awaitResume(ctx)
	var global *swarm.Count // counted once, however often the call is folded
	d := g.transact(ctx, Usage{Calls: 1}, func() Decision {
		d, started := g.start(ctx, c)
		if g.swarm == nil {
			return g.finish(c, d)
		}
		if global == nil {
			global = g.countInSwarm(ctx, c.Tool, started.target)
		}
		return g.finish(c, g.joinSwarm(d, *global, c.Tool, started.ref))
	})
	g.notify("before", c, d)
	return d
}

// countInSwarm counts a call in the swarm. The caller holds the lock, which is released for that time because a store may be slow.
func (g *Guard) countInSwarm(ctx context.Context, tool string, target unloop.Hash) *swarm.Count {
	if target == 0 {
		return &swarm.Count{}
	}
	g.mu.Unlock()
	defer g.mu.Lock()
	global := g.swarm.record(ctx, tool, target)
	return &global
}

// started identifies a started call. The target is 0 for a call of an ignored tool.
type started struct {
	target unloop.Hash
	ref    unloop.EventRef
}

// start folds the start of a call and returns the decision of the run and of a second opinion. The guard is locked, but not while
// it waits for the opinion.
func (g *Guard) start(ctx context.Context, c Call) (Decision, started) {
	d := g.add(unloop.Event{Type: unloop.ToolCallStarted, CallID: c.ID, Tool: c.Tool, Input: c.Args, Agent: c.Agent, Hints: c.Hints})
	now := g.session.Run().Current()
	begun := started{}
	if now.Step != nil {
		begun = started{now.Step.TargetHash, now.Ref}
	}
	return g.consult(ctx, d), begun
}

// finish concludes the decision about a call, and records a call that it stops. The guard is locked.
func (g *Guard) finish(c Call, d Decision) Decision {
	if d.Stops() {
		g.add(unloop.Event{Type: unloop.ToolCallBlocked, CallID: c.ID, Tool: c.Tool, Agent: c.Agent})
	}
	g.conclude(d)
	return d
}

// After records the outcome of a call and decides about it. A nudge is for the agent and goes with the result: see
// Decision.Attach. A block applies to the next call that matches the finding. A halt ends the run: see Decision.Err.
func (g *Guard) After(ctx context.Context, c Call, o Outcome) Decision {
	e := unloop.Event{Type: unloop.ToolCallCompleted, CallID: c.ID, Tool: c.Tool, Input: c.Args, Output: o.Result, Agent: c.Agent}
	if o.Err != nil {
		e.Type = unloop.ToolCallFailed
		e.Error = quoted(textOf(o.Err))
	}
	if o.Latency > 0 {
		ms := float64(o.Latency) / float64(time.Millisecond)
		e.Latency = &ms
	}
	return g.record(ctx, "after", c, e)
}

// textOf returns the text of a tool's error. An error whose method panics, such as a nil pointer in the interface, has its type as text.
func textOf(err error) (text string) {
	defer func() {
		if recover() != nil {
			text = fmt.Sprintf("%T that cannot be read", err)
		}
	}()
	return err.Error()
}

// quoted returns the text as JSON, with "<" as it is, like the texts of a trace.
func quoted(text string) json.RawMessage {
	var to bytes.Buffer
	encoder := json.NewEncoder(&to)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string can always be written
	return bytes.TrimSuffix(to.Bytes(), []byte("\n"))
}

// Text records a message and decides about it. The role is unloop.RoleAssistant, RoleUser or RoleSystem. A user message
// begins a turn.
func (g *Guard) Text(ctx context.Context, role, agent, text string) Decision {
	return g.record(ctx, "text", Call{Agent: agent}, unloop.Event{Type: unloop.MessageSent, Role: role, Agent: agent, Text: text})
}

// ResetTurn begins a turn without a message.
func (g *Guard) ResetTurn(ctx context.Context) Decision {
	return g.Text(ctx, unloop.RoleUser, "", "")
}

// ModelCall records a model call with its tokens, input and output together, and its cost in US dollars, and decides about it. With a
// Shared, both count as usage of the project.
func (g *Guard) ModelCall(ctx context.Context, agent, model string, tokens int64, cost float64) Decision {
	return g.record(ctx, "model", Call{Agent: agent}, unloop.Event{Type: unloop.LLMCallCompleted, Agent: agent, Model: model, Tokens: tokens, Cost: cost})
}

// Record records an event that the other methods do not make, such as a model call with its usage by kind, and decides about it. The
// guard sets its index and its time, and its id if it has none.
func (g *Guard) Record(ctx context.Context, e unloop.Event) Decision {
	return g.record(ctx, "event", Call{Agent: e.Agent}, e)
}

// MarkProgress records progress that the calls do not show, as a state update. The description what is the name of the event.
func (g *Guard) MarkProgress(ctx context.Context, what string) Decision {
	return g.record(ctx, "progress", Call{}, unloop.Event{Type: unloop.StateUpdated, Name: what})
}

// Allow records that a person lets the agent continue. It resets the level of policy.Ladder. The reason why is the name of
// the event.
func (g *Guard) Allow(ctx context.Context, why string) Decision {
	return g.record(ctx, "allow", Call{}, unloop.Event{Type: unloop.Override, Name: why})
}

// record adds an event, concludes the decision at it and notifies the listeners.
func (g *Guard) record(ctx context.Context, stage string, c Call, e unloop.Event) Decision {
	d := g.transact(ctx, usageOf(e.Tokens, e.Cost), func() Decision {
		d := g.consult(ctx, g.add(e))
		g.conclude(d)
		return d
	})
	g.notify(stage, c, d)
	return d
}

// notify notifies the listeners, if there are any.
func (g *Guard) notify(stage string, c Call, d Decision) {
	if len(g.listeners.queues) > 0 {
		g.listeners.send(g.notice(stage, c, d))
	}
}
