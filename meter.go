package unloop

import (
	"github.com/unloop-ai/unloop/internal/fingerprint"
)

// Effort is what a step brought, in a run that keeps NeedEffort. Shares are from 0 to 1.
type Effort struct {
	Alike     float64 `json:",omitzero"` // how much of the call's words is that of one of the last twelve calls, less of another tool
	Fresh     float64 `json:",omitzero"` // of the call's runs of four words, the share that the run had not seen
	Names     uint64  `json:",omitzero"` // fingerprints of the first two numbers and ids that the call names, and no call of its tool before
	Known     bool    `json:",omitzero"` // its outcome tells much, and all of it is known
	Reordered bool    `json:",omitzero"` // a member of its arguments has the words that an earlier call's had, in whatever order
	Idle      bool    `json:",omitzero"` // the call can do nothing: a shell's : or true, or not one word
	Writes    bool    `json:",omitzero"` // the call may change something
	Novelty   float64 `json:",omitzero"` // of the outcome's runs of four words, the share that the run had not seen
	Wasted    float64 `json:",omitzero"` // how much of the step was in vain
	Brought   Brought `json:",omitzero"`
}

// Brought says what a step brought, at best.
type Brought uint8

// What a step can bring.
const (
	Content Brought = iota // what its Novelty says
	Change                 // it changed something
	Absence                // nothing was found, or nothing came back
	Setback                // it failed, was refused, or the like, whatever its status says
	Nothing                // it could not do anything
)

// Meter is what a run that keeps NeedEffort knows of how much its latest steps brought. Evidence that it brings little adds up
// step by step, and falls with news in proportion to how much news it is.
type Meter struct {
	Wasted  float64  // steps in vain, less what has been new since
	Certain float64  // of these, the calls that can do nothing, and those that came with their result before
	Steps   int      // steps with something in vain since First
	First   EventRef // the first of these
	Talk    float64  // messages to a person that said nothing new, less what has been new since
	Talked  EventRef // the first of these
}

// meter is the Meter with what it rests on.
type meter struct {
	Meter
	Changed    Hash    // the tool of the latest change
	Brought    Brought // what the latest step brought that changed nothing
	Excused    int     // how many of the next steps have a reason to look again: something was changed, or a person spoke
	Asked      bool    // a person has spoken since the last message of an assistant
	AskedAgain bool    // and said hardly more than before
	Question   float64 // what the assistant's latest message wasted, if it asked what had not been asked in these words
	Looked     bool    // a step has ended since
	Acts       []act   // the latest calls; Acts[N%recentActs] comes next
	N          int
	Answers    []answer // Answers[Next] is the oldest
	Next       int
	Seen       seen // runs of words of calls, outcomes and messages
}

type act struct {
	Tool    Hash
	Outline outline
}

// recentActs is with how many calls before it one is compared.
const recentActs = 12

// What a step weighs that told nothing new, by what it brought; a step in vain is 1.
const (
	weightContent  = 0.5 // what was known before
	weightKnown    = 0.6 // an answer that tells much, and all of it is known
	weightAbsence  = 0.35
	weightAgain    = 0.68 // the same call with the same result
	weightPoll     = 0.2
	weightRewrite  = 0.4 // a change in nearly the words of an earlier one
	weightReworded = 0.8 // a change that its tool acknowledges as the one before, which it resembles
	weightPassing  = 0.6 // a failure that may pass by itself
	weightSlip     = 0.4 // a call that can do nothing, behind one that could
	weightStubborn = 1.3 // the same call fails in the same way for the third time

	alikeFrom, alikeTo = 0.1, 0.6 // calls are different to the one share of common words, and one and the same from the other on
	rewrittenFrom      = 0.4      // two changes have more words in common by chance
	otherTool          = 0.8      // what the likeness to a call of another tool counts
	alikeFailures      = 0.45     // at least, of calls of one tool that fail with words that were seen before

	alikeAnswers = 0.7  // at least, of calls whose answers tell much, and all of it is known
	fullAnswer   = 5    // words that a call may be answered with twice
	richAnswer   = 8    // runs of words that tell much
	knownNovelty = 0.15 // under which all of an answer is known

	noveltyGain   = 1.3  // what a share of new words tells of novelty
	newError      = 0.5  // of an error that was not told before, at least
	knownError    = 0.5  // of its novelty, where an error was told before and the page around it is new
	onwardNovelty = 0.7  // of a number that moves one way
	noveltyHalf   = 60   // so many new runs of words are half of all the news that a step can bring
	keptEach      = 0.96 // of the evidence, from step to step
	keptByPerson  = 0.7  // of the evidence, when a person speaks
	changeNews    = 0.5  // how much a change lowers the evidence, if all its words are new
	mostWasted    = 3.5
	excusedSteps  = 2   // steps behind a change, or a person's message
	weightExcused = 0.4 // what they weigh
	weightRetried = 0.6 // what they weigh if they fail
	shortAnswer   = 15  // words: a change is told in no more

	askedForKnown = 1.3 // what an answer counts to a person who says the same again
	answeredNew   = 0.5 // the share of new pairs of words from which on an answer to another question is news
	askedNew      = 0.2 // the same, for a person who does not only say the same again
	talkNew       = 0.6 // the share of new pairs of words from which on a message counts as new
	talkKept      = 0.9 // of the evidence, from message to message
	talkSteps     = 0.6 // of the evidence, at each step
)

// begunAgain is the evidence under which a stretch is over.
const begunAgain = 0.3

// Meter returns what the run knows of how much its latest steps brought; the zero Meter unless it keeps NeedEffort.
func (r *Run) Meter() *Meter { return &r.s.Meter.Meter }

// read notes the runs of four words, and returns the share of them that was not seen before.
func (m *meter) read(w *fingerprint.Words) float64 {
	fresh, all := m.count(w, false, false)
	if all == 0 {
		return 0
	}
	return float64(fresh) / float64(all+1)
}

// count notes the runs of four words of each line, sentence or JSON member, or the one run of fewer: how many were not seen before,
// and how many there are. In the text of an outcome an id behind a word is any id: what is known but for its ids is known.
func (m *meter) count(w *fingerprint.Words, outcome, failed bool) (fresh, all int) {
	for words := w.List; len(words) > 0; {
		n := 1
		for n < len(words) && !words[n].First {
			n++
		}
		item := words[:n]
		words = words[n:]
		if n < 4 {
			if all++; m.Seen.add(shortRun(item)) {
				fresh++
			}
			continue
		}
		for k := 1; outcome && k < n; k++ {
			switch {
			case item[k].Kind == fingerprint.Mixed && item[k-1].Kind == fingerprint.Letters:
				item[k].Hash = anyID
			case item[k].Kind == fingerprint.Number && failed:
				item[k].Hash = anyID
			}
		}
		first, second := fingerprint.Run2(item[0], item[1]), fingerprint.Run2(item[1], item[2])
		for k := 3; k < n; k++ {
			third := fingerprint.Run2(item[k-1], item[k])
			if run := fingerprint.Run4(first, third); n < sampledFrom {
				all++
				if m.Seen.add(run) {
					fresh++
				}
			} else if run&sampled == 0 { // one of two, and always the same ones
				all += 2
				if m.Seen.add(run) {
					fresh += 2
				}
			}
			first, second = second, third
		}
	}
	return fresh, all
}

// Of a line of many words, half of the runs are looked up: which ones depends on their fingerprints alone.
const (
	sampledFrom = 12
	sampled     = 1 << 16
)

// anyID stands for the fingerprint of every id.
const anyID = 2

// shortRun returns the fingerprint of a line of one to three words.
func shortRun(item []fingerprint.Word) uint32 {
	var words [4]fingerprint.Word
	copy(words[:], item)
	for k := len(item); k < len(words); k++ {
		words[k] = item[0]
	}
	return fingerprint.Run4(fingerprint.Run2(words[0], words[1]), fingerprint.Run2(words[2], words[3]))
}

// weigh works out what the step that has just ended brought. The words are those of its outcome.
func (r *Run) weigh(t *Tool, w *fingerprint.Words, class, told Hash, varied variation) {
	m, effort := &r.s.Meter, &r.step.Effort
	about := effort.answered(w)
	fresh, all := m.count(w, !about, r.step.Failing)
	if all > 0 {
		effort.Novelty = min(1, max(noveltyGain*float64(fresh)/float64(all+2), float64(fresh)/float64(fresh+noveltyHalf)))
	}
	switch varied {
	case onward:
		effort.Novelty = max(effort.Novelty, onwardNovelty)
	case aimless:
		effort.Novelty = 0
	}
	blank := len(w.List) == 0 || len(w.List) == 1 && w.List[0].Kind == fingerprint.Number && fresh == 0
	m.Talk *= talkSteps
	m.Looked = true
	if effort.Writes && !t.Shell && blank && !r.step.Failing && (len(w.List) == 0 || !effort.Reordered) {
		m.Excused = excusedSteps
		return // whether it did anything is not known
	}
	if again := len(w.List) >= fullAnswer && !m.Seen.add(uint32(told)^ofOutcomes); again || !t.Shell && all >= richAnswer && effort.Novelty < knownNovelty && !about {
		effort.Novelty, effort.Known = 0, true
	}
	r.judge(t, w, blank, all)
	if effort.Brought == Setback && r.step.Failing && class != 0 {
		if r.step.Told == 1 {
			effort.Novelty = max(effort.Novelty, newError)
		} else {
			effort.Novelty *= knownError
		}
	}
	kept := 1 - effort.Novelty
	if effort.Brought == Change {
		kept = 1 - changeNews*effort.Fresh
		if varied == onward {
			kept = 1 - effort.Novelty
		} else if m.Excused == excusedSteps { // it follows another change, and nobody has looked in between
			effort.Wasted = weightRewrite * likeness(effort.Alike) * max(0, 1-2*effort.Fresh)
			if same := rewritten(effort); same > 0 && (t.Acknowledged == w.Shape || effort.Novelty < knownNovelty) && !t.Shell && m.Changed == t.Hash {
				effort.Wasted, kept = max(effort.Wasted, same), 1
			}
		}
		t.Acknowledged, m.Changed = w.Shape, t.Hash
		m.Excused = excusedSteps
	} else {
		returned := class != 0 && r.step.Told > 1 && t.LastError != class && effort.Novelty < knownError*knownNovelty
		effort.Wasted = r.wasted(t, w, returned)
		if class != 0 {
			t.LastError = class
		}
		m.Brought = effort.Brought
		if effort.Brought == Nothing {
			kept = 1
		}
	}
	m.add(effort, kept, r.certain(), r.step.End)
}

// judge says what the step brought, at best.
func (r *Run) judge(t *Tool, w *fingerprint.Words, blank bool, all int) {
	effort, step := &r.step.Effort, &r.step
	blank = blank || step.Failing && w.Says == 0
	failed := !blank && (step.Failing || w.Tells == fingerprint.Refused)
	nothing := blank || w.Tells == fingerprint.Nothing
	switch {
	case effort.Idle && (failed || nothing || effort.Novelty < 0.5):
		effort.Brought = Nothing
	case failed:
		effort.Brought = Setback
	case effort.Writes && (step.ArgsCount <= 1 || step.Repeats.N == 1) && (blank || t.Shell && nothing || w.Tells == fingerprint.Done || effort.acknowledged(w, step.Told)):
		effort.Brought = Change
	case nothing:
		effort.Brought = Absence
	}
}

// acknowledged reports whether a call that may change something is answered as one that did: in a few words that were not told before,
// or about an item that no call of its tool has named.
func (effort *Effort) acknowledged(w *fingerprint.Words, told int) bool {
	return w.Tells != fingerprint.Nothing && len(w.List) < shortAnswer && (effort.Names != 0 || !effort.Known && told == 1)
}

// wasted returns how much of the step was in vain.
func (r *Run) wasted(t *Tool, w *fingerprint.Words, returned bool) float64 {
	m, effort, step := &r.s.Meter, &r.step.Effort, &r.step
	weight := weightContent
	switch effort.Brought {
	case Nothing:
		if m.Brought != Nothing {
			return weightSlip
		}
		return 1
	case Absence:
		weight = weightAbsence
	case Setback:
		weight = 1
	}
	alike := likeness(effort.Alike)
	if effort.Brought == Setback && effort.Novelty < 0.1 && (step.Failing || effort.Names == 0) {
		alike = max(alike, alikeFailures)
	}
	switch {
	case effort.Brought == Content && effort.Known:
		weight, alike = weightKnown, max(alike, alikeAnswers)
	case effort.Brought == Absence && effort.Writes && !t.Shell && w.Tells == fingerprint.Nothing:
		weight, alike = 1, max(alike, alikeAnswers)
	}
	if step.Repeats.N >= 2 {
		weight, alike = max(weight, weightAgain), 1
	}
	switch {
	case effort.Brought == Setback && w.Passing:
		weight = weightPassing
	case effort.Brought == Setback && step.Repeats.N >= 3:
		weight = weightStubborn
	case step.Effect == Polling:
		weight = weightPoll
	}
	if m.Excused > 0 {
		m.Excused--
		if returned {
			// the change has brought back an error that was gone
		} else if effort.Brought == Setback {
			weight *= weightRetried
		} else {
			weight *= weightExcused
		}
	}
	return weight * alike * (1 - effort.Novelty)
}

// answered reports whether a text names one of the numbers and ids that the call was the first of its tool to name: it is about
// that item.
func (effort *Effort) answered(w *fingerprint.Words) bool {
	if effort.Names == 0 {
		return false
	}
	for _, word := range w.List {
		if word.Kind != fingerprint.Letters && (word.Hash == uint32(effort.Names) || word.Hash == uint32(effort.Names>>32)) {
			return true
		}
	}
	return false
}

// rewritten returns how much a change is what an earlier one wrote, in other words or another order, from 0 to 1. One that names a
// number or an id that no call has named is about another item.
func rewritten(effort *Effort) float64 {
	if effort.Names != 0 {
		return 0
	}
	if effort.Reordered {
		return 1
	}
	alike := max(0, effort.Alike-rewrittenFrom) / (1 - alikeTo)
	return weightReworded * min(1, alike)
}

// likeness scales how alike two calls are to from 0, different, to 1, one and the same.
func likeness(alike float64) float64 {
	return min(1, max(0, (alike-alikeFrom)/(alikeTo-alikeFrom)))
}

// certain reports whether the step was in vain beyond doubt: it could do nothing, or came with its result twice before, and
// nothing was changed since. That nothing was found is beyond doubt in the same words only.
func (r *Run) certain() bool {
	effort := &r.step.Effort
	return effort.Brought == Nothing ||
		effort.Wasted >= weightAgain && r.step.Repeats.N >= 3 && r.s.Meter.Excused == 0 && (effort.Brought != Absence || effort.Fresh == 0)
}

// add adds what a step wasted to what is kept of the evidence.
func (m *meter) add(effort *Effort, kept float64, certain bool, at EventRef) {
	m.Wasted = min(mostWasted, m.Wasted*kept*keptEach+effort.Wasted)
	m.Certain *= kept * keptEach
	if certain {
		m.Certain = min(2*mostWasted, m.Certain+1)
	}
	if m.Wasted < begunAgain {
		m.Steps = 0
		return
	}
	if effort.Wasted > 0 {
		if m.Steps == 0 {
			m.First = at
		}
		m.Steps++
	}
}
