package unloop

// Effort is what a step yields, in a run that keeps NeedEffort. Shares are from 0 to 1.
type Effort struct {
	Alike     float64 `json:",omitzero"` // the share of the call's words that one of the last twelve calls has, less for another tool
	Fresh     float64 `json:",omitzero"` // the share of the call's runs of four words that the run had not seen
	Words     int     `json:",omitzero"` // of the call
	Names     uint64  `json:",omitzero"` // fingerprints of the first two numbers and ids that no earlier call of its tool names
	Item      uint32  `json:",omitzero"` // fingerprint of the first word of an identifier that no earlier call of its tool has; 0 for none
	Known     bool    `json:",omitzero"` // its outcome tells much, and all of it is known
	Reordered bool    `json:",omitzero"` // a member of its arguments has the words of that member in an earlier call, in any order
	Idle      bool    `json:",omitzero"` // the call can do nothing: a shell's : or true, or no word
	Varies    bool    `json:",omitzero"` // its outcome differs from the latest one of this call in numbers without a trend
	Writes    bool    `json:",omitzero"` // the call may change something
	Novelty   float64 `json:",omitzero"` // the share of the outcome's runs of four words that the run had not seen
	Wasted    float64 `json:",omitzero"` // how much of the step was in vain
	Yield     Yield   `json:",omitzero"`
}

// Yield is the kind of result that a step had.
type Yield uint8

// What a step can bring.
const (
	Content      Yield = iota // what its Novelty says
	Change                    // it changed something
	NothingFound              // nothing was found, or nothing came back
	Failure                   // it failed, was refused, or the like, whatever its status says
	NoOp                      // it could not do anything
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
	Yield      Yield   // what the latest step brought that changed nothing
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
	weightNothing  = 0.35
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
	namingWords  = 16   // a call of more words names no item by a number among them
	longAnswer   = 100  // runs of words of a page: calls with this answer are the more alike, the longer it is
	freshCommand = 0.3  // the share of new words of a shell command that does something else than those before
	richAnswer   = 8    // runs of words that tell much
	knownNovelty = 0.15 // under which all of an answer is known

	noveltyGain    = 1.3  // what a share of new words tells of novelty
	newError       = 0.5  // of an error that was not told before, at least
	knownError     = 0.5  // of its novelty, where an error was told before and the page around it is new
	onwardNovelty  = 0.7  // of a number that moves one way
	noveltyHalf    = 60   // so many new runs of words are half of all the news that a step can bring
	keptEach       = 0.96 // of the evidence, from step to step
	keptByPerson   = 0.7  // of the evidence, when a person speaks
	changeNews     = 0.5  // how much a change lowers the evidence, if all its words are new
	mostWasted     = 3.5
	excusedSteps   = 2   // steps behind a change, or a person's message
	weightExcused  = 0.4 // what they weigh
	weightRetried  = 0.6 // what they weigh if they fail
	weightReturned = 0.8 // what they weigh if two earlier outcomes are the same page
	shortAnswer    = 15  // words: a change is told in no more

	askedForKnown = 1.3 // what an answer counts to a person who says the same again
	shortReply    = 3   // words of a person that answer a question and ask none
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
