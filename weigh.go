package unloop

import "github.com/unloop-ai/unloop/internal/fingerprint"

// newResult is the novelty, from 0 to 1, from which on an outcome is a new result. Messages behind it do not count as restated without one.
const newResult = 0.4

// weigh sets the Effort of the step that has just ended, and adds it to the evidence. w are the words of its outcome.
func (r *Run) weigh(t *Tool, w *fingerprint.Words, class Hash, varied variation) {
	m := &r.s.Meter
	m.Talk *= talkSteps
	m.Looked = true
	if t.Waits {
		m.Excused = excusedSteps
		return
	}
	ids, n := r.handles(t, w) // before readOutcome masks the ids
	o := r.readOutcome(t, w, class, varied)
	r.step.Effort.About = o.about && o.Runs >= richAnswer && r.step.Effort.about(w)
	r.step.Effort.Lines, r.step.Effort.Template, r.step.Effort.Mentions = o.Lines, o.Template, o.about || o.named
	if o.Lines == 0 {
		for _, id := range ids[:n] {
			m.Seen.add(id ^ saltHandle)
		}
	}
	excused := m.Excused
	r.assess(t, &o)
	if effort := &r.step.Effort; effort.Requested && effort.Yield == Change {
		m.Talk = 0 // a person dictates
	}
	if r.step.Effort.Novelty >= newResult || r.changesItem() {
		r.s.RestatedWeight, r.s.NewResult = 0, r.current.Ref.Number
	}
	if r.acts(t) {
		m.Acted++
	}
	r.estimate(t, &o, excused)
}

// changesItem reports whether the step has changed something in words that no earlier call of its tool has. Such a change is a new result,
// whatever its acknowledgement says.
func (r *Run) changesItem() bool {
	effort := &r.step.Effort
	return effort.Yield == Change && effort.Wasted == 0 && effort.Word != 0
}

// assess computes how much of the step was wasted, and adds it to the evidence.
func (r *Run) assess(t *Tool, o *reading) {
	m, effort, varied, class := &r.s.Meter, &r.step.Effort, o.varied, o.class
	if t.Thinks && effort.Fresh >= freshCommand {
		return // like a message, a new thought wastes nothing
	}
	if effort.Writes && !t.Shell && o.blank && !r.step.Failing && (len(o.words.List) == 0 || !effort.Reordered) {
		m.Excused = excusedSteps
		return // whether it did anything is not known
	}
	r.measureNovelty(t, o)
	effort.Yield = r.yield(t, o)
	if effort.Yield == Failure && r.step.Failing && class != 0 {
		if r.step.ResultCount == 1 || o.another {
			effort.Novelty = max(effort.Novelty, newError)
		} else if varied != onward {
			effort.Novelty *= knownError
		}
	}
	kept := 1 - effort.Novelty
	if effort.Yield == Change {
		if effort.NamesItem() {
			m.Named = r.step.Number
		}
		kept = r.weighChange(t, o)
	} else {
		effort.Wasted = r.wasted(t, o)
		if class != 0 {
			t.LastError = class
		}
		m.Yield = effort.Yield
		if effort.Yield == NoOp {
			kept = 1
		}
	}
	m.add(effort, kept, r.certain())
}

// measureNovelty sets how new the outcome of the step is, and whether it is known.
func (r *Run) measureNovelty(t *Tool, o *reading) {
	m, effort, varied := &r.s.Meter, &r.step.Effort, o.varied
	effort.Novelty = o.share()
	effort.Varies = varied == aimless
	o.returns = m.returns(o)
	if !o.shown && varied != further && (o.returns > 0 || !t.Shell && o.Runs >= richAnswer && effort.Novelty < knownNovelty && !o.about) {
		effort.Known = true
		switch {
		case varied != onward:
			effort.Novelty = 0
		case m.answer(r.step.TargetHash).Advances < leastAdvances: // it may be chance
			effort.Novelty /= 2
		}
	}
	if o.Lines > 0 && effort.Alike == 1 && r.step.ResultCount == 1 && !r.step.Failing && varied == otherwise {
		effort.Known, effort.Novelty = false, max(effort.Novelty, lineNovelty) // it asks again, and one line tells what has changed
		m.News = r.step.Number
	}
	if effort.Requested && !r.step.Failing {
		effort.Known, effort.Novelty = false, max(effort.Novelty, requestedNovelty)
	}
	if !r.step.Failing && t.shrinks(o, effort) {
		effort.Known, effort.Novelty = false, max(effort.Novelty, onwardNovelty)
	}
	if effort.Alike == 1 && r.newToAgent() {
		effort.NewToAgent, effort.Known, effort.Novelty = true, false, max(effort.Novelty, agentNovelty)
	}
}

// newToAgent reports whether all of the latest steps that are equal to the current one, and there is one, are of other agents than its own.
func (r *Run) newToAgent() bool {
	others := false
	for k := 1; r.step.Agent != ""; k++ {
		s := r.StepAt(k)
		if s == nil {
			break
		}
		if s.TargetHash == r.step.TargetHash {
			if s.Agent == r.step.Agent || s.Agent == "" {
				return false
			}
			others = true
		}
	}
	return others
}

// rewrites reports whether the step changed again what the tool changed last: it sent its longest argument again, and named nothing new.
func (r *Run) rewrites(t *Tool) bool {
	effort := &r.step.Effort
	return effort.Resent && effort.Names == 0 && effort.Item == 0 && r.step.ArgsCount <= 1 && !t.Shell && r.s.Meter.Changed == t.Hash
}

// weighChange sets how much of a change was wasted, and returns how much of the evidence is kept.
func (r *Run) weighChange(t *Tool, o *reading) (kept float64) {
	m, effort := &r.s.Meter, &r.step.Effort
	kept = 1 - changeNovelty*effort.Fresh
	requested := m.Spoken && m.NewRequest && r.step.sent() <= 1
	switch {
	case requested:
		effort.Wasted = 0
	case r.rewrites(t):
		effort.Wasted, kept = weightRewrite, 1 // the number of the version in its outcome is no news
	case m.Remaining.falls(o.words, m.Changed == t.Hash && t.Acknowledged == o.words.Shape):
		kept = 1 - onwardNovelty
	case o.varied == onward:
		kept = 1 - effort.Novelty
	case effort.Rearranged && !t.Shell:
		effort.Wasted, kept = weightReworded, 1 // whatever the new place is
	case m.Excused == excusedSteps && effort.Item == 0: // it follows another change directly
		effort.Wasted = weightRewrite * likeness(effort.Alike) * max(0, 1-2*effort.Fresh)
		if same := rewritten(effort); same > 0 && (t.Acknowledged == o.words.Shape || effort.Novelty < knownNovelty) && !t.Shell && m.Changed == t.Hash {
			effort.Wasted, kept = max(effort.Wasted, same), 1
		}
	}
	if t.Shell { // the output of a command may be new, too
		effort.Wasted *= 1 - effort.Novelty
		kept = min(kept, 1-effort.Novelty)
	}
	again := !m.Seen.add(acknowledgement(t, o.words)) && effort.Names == 0 && effort.Item == 0 && effort.Word == 0 // also a short one
	m.Reapplied = !requested && effort.Fresh <= reapplied && (o.returns > 0 || again) && !o.names(effort.Item)     // else it changes another item
	t.Acknowledged, m.Changed = o.words.Shape, t.Hash
	m.Causes.introduce(effort, &r.callWords)
	m.Excused = excusedSteps
	return kept
}

// wasted returns how much of a step that changed nothing was wasted, from 0 to weightStubborn.
func (r *Run) wasted(t *Tool, o *reading) float64 {
	m, effort, step := &r.s.Meter, &r.step.Effort, &r.step
	if effort.Yield == NoOp {
		if m.Yield != NoOp {
			return weightSlip
		}
		return 1
	}
	if o.varied == further || m.Spoken && m.NewQuestion && effort.Yield == Content && !effort.Writes {
		return 0
	}
	if (effort.Heeds || effort.Requested) && effort.Yield == Content {
		return 0
	}
	weight, alike := r.weighResult(t, o)
	if a := m.answer(step.TargetHash); effort.Writes && a != nil && a.Before > 0 && m.News > a.Before && effort.Yield != Failure {
		return 0 // another call has shown the effect of the equal call before
	}
	if step.Repeats.N >= 2 {
		weight, alike = max(weight, weightAgain), 1
	}
	switch {
	case m.Reapplied && (step.Repeats.N >= 3 || o.returns == 2):
		weight = weightStubborn
	case effort.Yield == Failure && o.words.Passing:
		weight = weightPassing
	case effort.Yield == Failure && step.Repeats.N >= 3:
		weight = weightStubborn
	case step.Effect == Polling:
		weight = weightPoll
	}
	if m.Excused > 0 {
		m.Excused--
		brokenAgain := o.class != 0 && step.ResultCount > 1 && t.LastError != o.class && effort.Novelty < knownError*knownNovelty
		switch {
		case brokenAgain, m.Reapplied && (step.Repeats.N >= 2 || o.returns > 0):
		case o.returns == 2 && effort.Yield != Failure:
			weight *= weightReturned
		case effort.Yield == Failure:
			weight *= weightRetried
		default:
			weight *= weightExcused
		}
	}
	return weight * alike * (1 - effort.Novelty)
}

// weighResult returns the weight of the step's kind of result, and the likeness of the call to an earlier one, by its words or by its
// answer.
func (r *Run) weighResult(t *Tool, o *reading) (weight, alike float64) {
	effort := &r.step.Effort
	alike = likeness(effort.Alike)
	switch effort.Yield {
	case Failure:
		if effort.Novelty < 0.1 && (r.step.Failing || effort.Names == 0) {
			alike = max(alike, alikeFailures)
			if o.returns == 2 {
				alike = max(alike, alikeAnswers)
			}
		}
		return 1, alike
	case NothingFound:
		if t.Effect == Mutating && !t.Shell && o.words.Ending == fingerprint.Nothing {
			return 1, max(alike, alikeAnswers)
		}
		if o.words.Zero && effort.Known && effort.Names == 0 {
			return weightKnown, alike
		}
		return weightNothing, alike
	}
	switch {
	case !t.Shell && r.value(o):
		return weightPoll, alike
	case o.returns == 2:
		return weightAgain, 1
	case effort.Known && effort.Names == 0:
		return weightKnown, max(alike, min(1, alikeAnswers+float64(o.Runs)/longAnswer))
	case effort.Known:
		return weightKnown, max(alike, alikeAnswers)
	case !t.Shell && !o.about:
		alike = max(alike, alikeAnswers*min(1, float64(o.Runs)/richAnswer)*(1-effort.Novelty))
	}
	return weightContent, alike
}

// rewritten returns how much a change repeats an earlier one in other words or another order, from 0 to 1. It is 0 for a change of a new
// item.
func rewritten(effort *Effort) float64 {
	if effort.Rearranged {
		return 1
	}
	if effort.Names != 0 || effort.Item != 0 {
		return 0
	}
	if effort.Reordered {
		return 1
	}
	alike := max(0, effort.Alike-rewrittenFrom) / (1 - alikeTo)
	return weightReworded * min(1, alike)
}

// likeness maps the share of common words of two calls to a likeness from 0, different, to 1, equal.
func likeness(alike float64) float64 {
	return min(1, max(0, (alike-alikeFrom)/(alikeTo-alikeFrom)))
}

// certain reports whether the step is certain evidence of no progress: the call does nothing, or it has had this result at least twice
// before without a change in between. A call that found nothing is certain evidence only if it has no new words.
func (r *Run) certain() bool {
	effort := &r.step.Effort
	return effort.Yield == NoOp ||
		effort.Wasted >= weightAgain && r.step.Repeats.N >= 3 && !effort.Varies && r.s.Meter.Excused == 0 && (effort.Yield != NothingFound || effort.Fresh == 0)
}
