package hook

import (
	"strings"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
)

// answer returns the answer, and the decisive ruling. What a person ordered holds in every mode.
func (j *judge) answer() (Answer, *Ruling) {
	can := canOf(j.event)
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
