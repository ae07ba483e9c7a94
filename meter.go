package unloop

// Effort is what a step was about and what it yielded, in a run that keeps NeedEffort. Shares are from 0 to 1. A sequence is one of
// four words. The run has seen a sequence if an earlier call, outcome or message contained it.
type Effort struct {
	Alike      float64 `json:",omitzero"` // the share of common words with the most similar of the last twelve calls; less if that is of another tool
	Fresh      float64 `json:",omitzero"` // the share of the call's sequences that the run had not seen
	Words      int     `json:",omitzero"` // number of words of the call
	Names      uint64  `json:",omitzero"` // fingerprints of the last two numbers or ids of the call that no earlier call of its tool has; 0 for none
	Item       uint32  `json:",omitzero"` // fingerprint of the first word of an identifier that no earlier call of its tool has; 0 for none
	Known      bool    `json:",omitzero"` // its outcome has many words, and the run has seen nearly all of them
	Word       uint32  `json:",omitzero"` // fingerprint of the first word, of the first 16, that no earlier call of its tool has; 0 for none
	Reordered  bool    `json:",omitzero"` // a member of its arguments has the words of that member in an earlier call, in any order
	Rearranged bool    `json:",omitzero"` // a member of its arguments has lines of earlier calls of the tool in a new order, and hardly a new line
	Resent     bool    `json:",omitzero"` // a member of its arguments that has most of its words is equal to one of an earlier call
	Idle       bool    `json:",omitzero"` // the call does nothing: a shell's : or true, or a command without words
	About      bool    `json:",omitzero"` // its outcome has many words and mentions an item, not as the cause of a failure, that no earlier call of its tool names
	Varies     bool    `json:",omitzero"` // its outcome differs from the latest one of this call in numbers without a trend
	Writes     bool    `json:",omitzero"` // the call may change something
	Heeds      bool    `json:",omitzero"` // it may change something, and names what only the latest failure mentioned
	Requested  bool    `json:",omitzero"` // its new item is what only the latest message of a person mentioned
	Follows    bool    `json:",omitzero"` // it sends a key that the latest outcome of its tool gave, and that no call has sent before
	Similar    int     `json:",omitzero"` // of the last twelve calls, those of this tool with a similarity of at least 0.4
	Said       int     `json:",omitzero"` // number of words in the message of the agent before the call; 0 for no message
	Announced  float64 `json:",omitzero"` // the similarity of the words of the call and of that message
	NewToAgent bool    `json:",omitzero"` // its outcome is new to its agent: of the latest 32 calls, the equal ones are of other agents
	Novelty    float64 `json:",omitzero"` // how much of the outcome is new, mainly the share of its sequences that the run had not seen
	Lines      int     `json:",omitzero"` // lines, sentences and members of its outcome that are new to the run in more than numbers, ids and words of the call
	Mentions   bool    `json:",omitzero"` // its outcome has a word, number or id of the call that no earlier call of its tool has
	Template   uint32  `json:",omitzero"` // fingerprint of its outcome without ids, the words of the call and the order of lines
	Wasted     float64 `json:",omitzero"` // how much of the step was wasted, from 0 to 1.3
	Yield      Yield   `json:",omitzero"` // the kind of its result
}

// NamesItem reports whether the call names what no earlier call of its tool has.
func (e *Effort) NamesItem() bool { return e.Names != 0 || e.Item != 0 || e.Word != 0 }

// Yield is the kind of result that a step had.
type Yield uint8

// The kinds of results.
const (
	Content      Yield = iota // content; Effort.Novelty is how much of it is new
	Change                    // the step changed something
	NothingFound              // nothing was found, or the outcome is empty
	Failure                   // the step failed or was refused, according to its status or to its outcome
	NoOp                      // the call does nothing
)

// Meter is the evidence that the latest steps of a run made no progress. The run must keep NeedEffort. Each step without novelty adds to
// the evidence, and novelty lowers it in proportion to its amount.
type Meter struct {
	Wasted  float64  // wasted steps, less the novelty since
	Certain float64  // of these, no-ops and calls that returned the same result before
	Stalled float64  // the estimated probability that the latest steps made no progress
	Steps   int      // number of steps since Stalled was last below 0.2
	First   EventRef // the end of the first of these steps
	Stuck   int      `json:",omitzero"` // number of consecutive wasted steps at which Wasted and Stalled were near their limits; a person's message ends them
	Talk    float64  // messages to a person without novelty, less the novelty since
	Talked  EventRef // the first of these messages

	// Features are the quantities from which the model rates the latest step. Detectors do not need them: they are exported for
	// the program that trains the model, which is in another package.
	Features Features `json:"-"`
}

// meter is the Meter and the state that it is computed from.
type meter struct {
	Meter
	Changed     Hash      // the tool of the latest change
	Named       int       `json:",omitzero"` // number of the latest step that changed something and named something new
	Acted       int       `json:",omitzero"` // number of steps that may have changed something
	Reapplied   bool      // the latest change has nearly the words of an earlier one, the same acknowledgement, and no new item in it
	Remaining   remaining `json:",omitzero"`
	Yield       Yield     // of the latest step that changed nothing
	Excused     int       // number of the next steps with a reason to look again, because something was changed or a person spoke
	Asked       bool      // a person has spoken since the last message of an assistant
	Given       bool      // it has numbers or ids, and earlier messages of the person had all of them
	AskedAgain  bool      // that message of the person repeats an earlier one
	Refused     bool      `json:",omitzero"` // it also says that a message of the assistant was refused or failed
	NewRequest  bool      `json:",omitzero"` // the latest message of a person has mostly new words, and tells of no failure
	NewQuestion bool      `json:",omitzero"` // the latest message of a person is a question in mostly new words
	Question    float64   // what the assistant's latest message added to Talk, if it is a question in new words
	Settled     float64   `json:",omitzero"` // the Question that the person has answered since
	Answer      float64   `json:",omitzero"` // what the assistant's latest message added to Talk
	Demand      uint32    `json:",omitzero"` // fingerprint of the first new word in the latest message of a person, if it is otherwise known; 0 for none
	News        int       `json:",omitzero"` // number of the latest step that made an equal call again and returned a line in new words
	Requested   wordSet   `json:",omitzero"` // words of the latest message of a person that none of theirs had before
	Ordinal     float64   `json:",omitzero"` // the number of the item of a numbered list that the assistant's latest answer was about
	Looked      bool      // a step has ended since the assistant's latest message
	LatestTool  Hash      // of the latest step
	Same        int       // consecutive earlier steps of that tool
	Spoken      bool      // a person has spoken since the latest step
	Said        int       // number of words of the assistant's latest message; 0 if a call has started since
	Message     outline   // of that message
	Causes      causes
	Averages    [stepFeatures]float32
	Acts        []act    // the latest calls, a ring: the next one goes to Acts[N%recentActs]
	N           int      // number of calls
	Answers     []answer // the latest answers, a ring: Answers[Next] is the oldest
	Next        int
	Seen        seen // sequences of words of calls, outcomes and messages
}

// act is a started call.
type act struct {
	Tool    Hash
	Outline outline
}

// recentActs is the number of earlier calls with which a call is compared.
const recentActs = 12

// The constants of the meter were set by hand, on the judged runs and the tuning kinds of docs/eval.md. docs/progress-meter.md says what each
// of them is for. Weights have wide ranges in which the verdicts are nearly the same (ADR 12); the others tell apart forms of results that
// are listed there. The model is trained on what they give, so it has to be trained again when one of them changes.

// Weights: how much of a step is wasted, in steps, by the kind of its result. Run.wasted multiplies them by the likeness of the call and by
// what is known of the outcome.
const (
	weightContent  = 0.5  // known content
	weightKnown    = 0.6  // a rich outcome, all of it known
	weightNothing  = 0.35 // nothing found
	weightAgain    = 0.68 // the same call with the same result
	weightPoll     = 0.2  // a poll
	weightRewrite  = 0.4  // a change in nearly the words of an earlier change
	weightReworded = 0.8  // a change that resembles the one before, with the same acknowledgement
	weightPassing  = 0.6  // a transient failure
	weightSlip     = 0.4  // the first no-op after another kind of step
	weightStubborn = 1.3  // the third equal failure of the same call, and the third equal outcome after changes that are alike
)

// Excuses: the steps after a change or a message of a person have a reason to look again. The factors apply to their weights.
const (
	excusedSteps   = 2   // the number of these steps
	weightExcused  = 0.4 // their factor
	weightRetried  = 0.6 // their factor if they fail
	weightReturned = 0.8 // their factor if two earlier outcomes are the same page
)

// Likeness of a call to an earlier one, from 0 to 1. It is computed from the share of common words.
const (
	alikeFrom, alikeTo = 0.1, 0.6 // the shares of common words at which likeness begins and is complete
	rewrittenFrom      = 0.4      // the share of common words that two changes have by chance
	otherTool          = 0.8      // the factor for a call of another tool
	alikeFailures      = 0.45     // the least likeness of failures of one tool in known words
	alikeAnswers       = 0.7      // the least likeness of calls with rich and known outcomes
	longAnswer         = 100      // sequences of four words of an outcome that make two calls fully alike
)

// Lengths by which calls and outcomes are classified, in words, or in sequences of four words.
const (
	fullAnswer  = 5  // the least number of words of an outcome whose return counts
	shortAnswer = 15 // the most words of an acknowledgement
	richAnswer  = 8  // the least number of sequences of a rich outcome
	namingWords = 16 // the most words of a call that names an item by a number, or by known words
)

// Shares by which calls and outcomes are classified, from 0 to 1.
const (
	freshCommand = 0.3  // the share of new sequences from which on a shell command is a new action
	reapplied    = 0.4  // the share of new sequences up to which a change is an earlier one with another value
	knownNovelty = 0.15 // the novelty below which an outcome is known
)

// Novelty of an outcome, from 0 to 1: the factors and the half that compute it from the new sequences of words, and the least that it is
// where the sequences say too little.
const (
	noveltyGain      = 1.3 // the factor from the share of new sequences to novelty
	noveltyHalf      = 60  // the number of new sequences that is half of the greatest novelty
	knownError       = 0.5 // the factor for the novelty of text around a known error
	newError         = 0.5 // the least novelty of an error that was not seen before
	lineNovelty      = 0.5 // the least novelty of a new line in the answer to an equal call
	requestedNovelty = 0.5 // the least novelty of an outcome about an item that a person has just named
	agentNovelty     = 0.5 // the least novelty of a known outcome that is new to the agent
	onwardNovelty    = 0.7 // the least novelty of a number that moves one way
)

// Decay of the evidence of wasted steps, Meter.Wasted. Its limit is in steps, the others are shares of the evidence.
const (
	mostWasted    = 3.5  // the upper limit
	keptEach      = 0.96 // the share that is kept from step to step
	keptByPerson  = 0.7  // the share that is kept when a person speaks
	changeNovelty = 0.5  // the share that a change with new words only removes
)

// Messages of a person: what an answer to them is expected to bring. Shares are of the pairs of words of the message.
const (
	shortReply  = 3   // the most words of a message that answers a question and asks none
	answeredNew = 0.5 // the share of new pairs from which on a message is a new answer
	askedNew    = 0.2 // the share of new pairs below which a person repeats a message
)

// Answers of an assistant to a person: how much each adds to Meter.Talk, in messages, and how it is compared with earlier ones.
const (
	talkNew       = 0.6 // the share of new pairs of words from which on an answer is new, and adds nothing
	askedForKnown = 1.3 // the factor for an answer to a person who repeats a message
	askedForGiven = 0.7 // the least for an answer without a new number or id, to a person who has given the same ones again
	repeatedIDs   = 0.5 // the least for an answer whose numbers and ids earlier messages had
	refusedAgain  = 1.1 // the least for an answer to a person who repeats that the one before failed
	sentAgain     = 1.1 // for an answer that was sent before, word for word
	restatedShare = 0.4 // the share of its words from which on a message sends an earlier text again
	longItem      = 4   // the least number of words of a line or a sentence that is compared whole
)

// Decay of the evidence of answers, Meter.Talk: shares of it.
const (
	talkKept  = 0.9 // kept from message to message
	talkSteps = 0.6 // kept from step to step
)

// Ends of a stretch: the evidence below which messages, and the estimate below which steps, are a new stretch.
const (
	begunAgain  = 0.3 // Meter.Talk, in messages
	progressing = 0.2 // Meter.Stalled, a probability
)

// What the evidence must reach for a step to count in Meter.Stuck. One novel result or one new change lowers the evidence below it.
const (
	stuckWasted  = 0.8 * mostWasted // Meter.Wasted, in steps
	stuckStalled = 0.95             // Meter.Stalled, a probability
)

// Meter returns the evidence that the latest steps made no progress. It is the zero Meter unless the run keeps NeedEffort.
func (r *Run) Meter() *Meter { return &r.s.Meter.Meter }

// add adds a step to the evidence. kept is the share of the earlier evidence that its novelty leaves.
func (m *meter) add(effort *Effort, kept float64, certain bool) {
	m.Wasted = min(mostWasted, m.Wasted*kept*keptEach+effort.Wasted)
	m.Certain *= kept * keptEach
	if certain {
		m.Certain = min(2*mostWasted, m.Certain+1)
	}
}
