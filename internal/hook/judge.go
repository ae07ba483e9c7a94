package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/profile"
)

// Ruling is a decision about one step.
type Ruling struct {
	Action   policy.Action // the action, before the mode limits it
	Code     string
	Count    int
	Text     string // for the model
	Findings []unloop.Finding
	Tool     string // "" for a message
}

// Step is one folded operation of the guard's protocol, with the ruling about it.
type Step struct {
	Op     string // before, after, text or allow
	Call   Call
	Role   string
	Text   string
	Ruling Ruling

	recorded bool // the server has the event
}

// judge folds the events of one session and makes rulings about them.
type judge struct {
	*session
	event   *Event
	mode    Mode
	profile *profile.Profile
	steps   []Step
	refused *Step // the call that an order of a person denies; nil for none
}

// fold folds the event.
func (j *judge) fold(t *transcript) {
	j.foldTranscript(t)
	e := j.event
	switch e.Kind {
	case Before:
		if !j.refuse(e.Calls[0]) {
			j.before(e.Calls[0])
		}
	case After:
		j.after(e.Calls[0])
	case Batch:
		j.batch(e.Calls)
	case Prompt:
		j.endWaiting()
		j.EndDue, j.Owed, j.SentBack = "", "", false
		if !ingest.IsInserted(e.Text) { // the notice that a background task has ended is not a message of a person
			j.release()
		}
		j.text(unloop.RoleUser, e.Text)
	case Stop:
		j.endWaiting()
		if e.Text != "" && (t == nil || t.latest != e.Text) {
			j.text(unloop.RoleAssistant, e.Text)
		}
	}
}

// noWait is the context of a guard's decisions. A guard without a swarm never waits.
var noWait = context.Background()

// before folds the start of a call. A call that has already started was reported by two registrations of the hook.
func (j *judge) before(c Call) {
	if !j.Batches { // otherwise the waiting calls are of the same batch
		j.endWaiting()
	}
	if c.ID != "" && (slices.ContainsFunc(j.Open, func(o Call) bool { return o.ID == c.ID }) || slices.Contains(j.Done, c.ID)) {
		return
	}
	runs := j.allowed(c.Tool)
	if runs {
		j.guard.Allow(noWait, "a person let the tool go on")
		j.steps = append(j.steps, Step{Op: "allow", Text: "a person let the tool go on"})
	} else if j.AllowNext > 0 {
		j.AllowNext--
		runs = true
	}
	j.Calls++
	if c.ID == "" {
		c.ID = fmt.Sprintf("%s%d", ownID, j.Calls)
	}
	d := j.start(&c, runs)
	j.note(Step{Op: "before", Call: c}, d)
	if d.Stops() {
		j.Done = append(j.Done, c.ID)
		return
	}
	j.Open = append(j.Open, c)
}

// start folds the start of a call. A call that a person allowed runs, whatever the profile says, because some policies have no level that a
// person can reset.
func (j *judge) start(c *Call, runs bool) guard.Decision {
	if !runs {
		return j.guard.Before(noWait, guard.Call{ID: c.ID, Tool: c.Tool, Args: c.Args, Agent: j.event.SubAgent})
	}
	d := j.guard.Record(noWait, unloop.Event{Type: unloop.ToolCallStarted, CallID: c.ID, Tool: c.Tool, Input: c.Args, Agent: j.event.SubAgent})
	if max(d.Action, d.Shadow) > policy.Warn {
		return guard.Decision{}
	}
	return d
}

// allowed reports whether a person allowed calls of the tool. It uses up a permission for one call.
func (j *judge) allowed(tool string) bool {
	if slices.Contains(j.AllowTools, tool) {
		return true
	}
	k := slices.IndexFunc(j.AllowOnce, func(t string) bool { return t == tool || t == "" })
	if k < 0 {
		return false
	}
	j.AllowOnce = slices.Delete(j.AllowOnce, k, k+1)
	return true
}

// after folds the end of a call, or keeps it until its batch ends. A batch has the texts that the model sees, like traces. Claude
// Code reports batches since 2.1; the first batch shows whether an installation does.
func (j *judge) after(c Call) {
	if j.ended(c.ID) {
		return
	}
	if j.event.Agent == Claude {
		if c.Failed && c.ID != "" {
			j.Failed = append(j.Failed, c.ID)
		}
		j.Waiting = append(j.Waiting, c)
		return
	}
	j.end(c)
}

// batch folds the ends of all calls of a batch.
func (j *judge) batch(calls []Call) {
	j.Batches = true
	waiting := j.Waiting
	j.Waiting = nil
	for _, c := range calls {
		if j.ended(c.ID) {
			continue
		}
		for _, w := range waiting {
			if w.ID == c.ID {
				c.Took = w.Took
			}
		}
		if slices.Contains(j.Failed, c.ID) {
			c.Failed = true
			if json.Unmarshal(c.Result, &c.Error) != nil {
				c.Error = string(c.Result)
			}
		}
		j.end(c)
	}
	j.Failed = nil
}

// endWaiting folds the ends of calls whose batch was not reported. If the agent reports batches, there are none except for the
// first batch.
func (j *judge) endWaiting() {
	waiting := j.Waiting
	j.Waiting, j.Failed = nil, nil
	for _, c := range waiting {
		if !j.ended(c.ID) {
			j.end(c)
		}
	}
}

// ended reports whether the end of a call was folded.
func (j *judge) ended(id string) bool { return id != "" && slices.Contains(j.Done, id) }

// end folds the end of a call.
func (j *judge) end(c Call) {
	if k := j.open(&c); k >= 0 {
		c.ID = j.Open[k].ID
		if c.Args == nil {
			c.Args = j.Open[k].Args
		}
		j.Open = slices.Delete(j.Open, k, k+1)
	}
	if c.ID != "" {
		j.Done = append(j.Done, c.ID)
	}
	o := guard.Outcome{Result: c.Result, Latency: c.Took}
	if c.Failed {
		o = guard.Outcome{Err: errors.New(c.Error), Latency: c.Took}
	}
	if c.Failed || c.Result != nil {
		j.Results++
	}
	d := j.guard.After(noWait, guard.Call{ID: c.ID, Tool: c.Tool, Args: c.Args, Agent: j.event.SubAgent}, o)
	j.note(Step{Op: "after", Call: c}, d)
}

// ownID is the prefix of the ids of calls whose agent gives none.
const ownID = "call-"

// open returns the index of the open call that has ended, or -1. For an agent without ids, it is the oldest with the same tool
// and arguments, or else with the same tool.
func (j *judge) open(c *Call) int {
	if c.ID != "" {
		return slices.IndexFunc(j.Open, func(o Call) bool { return o.ID == c.ID })
	}
	same := slices.IndexFunc(j.Open, func(o Call) bool { return o.Tool == c.Tool && bytes.Equal(o.Args, c.Args) })
	if same >= 0 {
		return same
	}
	return slices.IndexFunc(j.Open, func(o Call) bool { return o.Tool == c.Tool && strings.HasPrefix(o.ID, ownID) })
}

// text folds a message.
func (j *judge) text(role, text string) {
	d := j.guard.Text(noWait, role, j.event.SubAgent, text)
	j.note(Step{Op: "text", Role: role, Text: text}, d)
}

// note adds a step with its ruling.
func (j *judge) note(s Step, d guard.Decision) {
	s.Ruling = Ruling{Action: max(d.Action, d.Shadow), Code: d.Code, Count: d.Count, Text: d.Nudge, Findings: d.Findings, Tool: s.Call.Tool}
	j.steps = append(j.steps, s)
}
