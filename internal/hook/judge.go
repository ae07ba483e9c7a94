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

// answer returns the answer, and the decisive ruling. What a person ordered holds in every mode.
func (j *judge) answer() (Answer, *Ruling) {
	can := CanOf(j.event)
	if a, r, ok := j.ordered(can); ok {
		return a, r
	}
	a, r := j.ruled(can)
	return j.withWords(a, can), r
}

// ruled returns the answer for the rulings of the steps, and the decisive ruling. The answer is empty if the mode or the agent allows
// none.
func (j *judge) ruled(can Can) (Answer, *Ruling) {
	var worst *Ruling
	for k := range j.steps {
		if r := &j.steps[k].Ruling; r.Action != policy.Allow && (worst == nil || r.Action >= worst.Action) {
			worst = r
		}
	}
	switch {
	case j.mode == Shadow:
		return Answer{}, worst
	case j.event.Kind == Stop:
		return j.atStop(can, worst), worst
	case j.mode == Guard && worst != nil && worst.Action >= policy.Block:
		if a := j.stop(can, worst); !a.Empty() {
			return a, worst
		}
	case j.EndDue != "" && can.EndTurn:
		return j.endTurn(j.EndDue), worst
	}
	if worst != nil && j.mode == Nudge && j.nudgedRecently(worst) {
		worst = nil
	}
	if worst != nil && (j.mode == Guard || j.event.Kind != Before || worst.Action == policy.Warn) {
		j.Owed = j.nudge(worst)
	}
	if j.Owed == "" || !can.Context {
		return Answer{}, worst
	}
	owed := j.Owed
	j.Owed = ""
	j.Nudges++
	j.NudgedAt = j.Calls
	return Answer{Context: owed}, worst
}

// nudgeEvery is the minimum number of calls between nudges during one loop, in the mode nudge.
const nudgeEvery = 4

// nudgedRecently reports whether the model has recently been nudged. The first two levels of the ladder always nudge.
func (j *judge) nudgedRecently(r *Ruling) bool {
	return r.Action >= policy.Block && j.Calls < j.NudgedAt+nudgeEvery
}

// stop denies the call, or ends the turn at the last level of the ladder. If this event cannot end the turn, the next event that
// can does.
func (j *judge) stop(can Can, r *Ruling) Answer {
	pending := j.event.Kind == Before && j.steps[len(j.steps)-1].Ruling.Action >= policy.Block
	if r.Action == policy.Halt {
		if can.EndTurn {
			return j.endTurn(j.reason(r))
		}
		j.EndDue = j.reason(r)
	}
	if !pending || !can.Deny {
		return Answer{}
	}
	j.Denials++
	return Answer{Deny: j.reason(r)}
}

func (j *judge) endTurn(why string) Answer {
	j.EndDue, j.Owed = "", ""
	j.TurnsCut++
	return Answer{EndTurn: why}
}

// atStop answers an agent that is about to end its turn. If it stops in a loop, it is sent back once for each prompt, to report
// what is missing. If another hook sends it back again and again while it loops, it may stop for good.
func (j *judge) atStop(can Can, r *Ruling) Answer {
	halted := j.EndDue != ""
	j.EndDue = ""
	switch {
	case j.mode != Guard || r == nil || halted:
	case j.event.Continued && can.EndTurn && r.Action == policy.Halt:
		return j.endTurn(j.reason(r))
	case !j.event.Continued && !j.SentBack && can.SendBack:
		j.SentBack = true
		return Answer{SendBack: j.nudge(r) + "\nBefore the turn ends, say what was tried, what is missing and what a person has to decide."}
	}
	return Answer{}
}

// nudge returns the text for the model. In a mode that never denies, the text announces no denial.
func (j *judge) nudge(r *Ruling) string {
	text := r.Text
	if j.mode == Nudge && len(r.Findings) > 0 {
		text = j.profile.Nudge(&policy.Decision{
			Action: policy.Warn, Code: policy.CodeNudge, Message: decisive(r).What, Count: r.Count, Findings: r.Findings,
		})
	}
	return j.signed(text)
}

// decisive returns the finding that the text of a ruling describes.
func decisive(r *Ruling) *unloop.Finding {
	for k := range r.Findings {
		if strings.Contains(r.Text, r.Findings[k].What) {
			return &r.Findings[k]
		}
	}
	return &r.Findings[0]
}

func (j *judge) reason(r *Ruling) string { return j.signed(r.Text) }

// signed adds to a text its sender, and the command with which a person overrules it.
func (j *judge) signed(text string) string {
	const most = maxText - 200
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return "[unloop] " + text + "\nA person can let this go on with: unloop allow " + j.Session
}
