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
	Similar   int     `json:",omitzero"` // of the last twelve calls, those of this tool that have most of its words
	Said      int     `json:",omitzero"` // words that the agent wrote before the call
	Announced float64 `json:",omitzero"` // the share of the words of the call and of what the agent wrote before it that both have
	Novelty   float64 `json:",omitzero"` // the share of the outcome's runs of four words that the run had not seen
	Wasted    float64 `json:",omitzero"` // how much of the step was wasted
	Yield     Yield   `json:",omitzero"`
}

// Yield is the kind of result that a step had.
type Yield uint8

// The kinds of results.
const (
	Content      Yield = iota // content; Novelty says how much of it is new
	Change                    // it changed something
	NothingFound              // nothing was found, or nothing came back
	Failure                   // it failed or was refused, whatever its status says
	NoOp                      // it could not do anything
)

// Meter is the evidence of a run that keeps NeedEffort that its latest steps made no progress. Each step without novelty adds to it.
// Novelty lowers it in proportion to its amount.
type Meter struct {
	Wasted  float64  // wasted steps, less the novelty since
	Certain float64  // of these, no-ops and calls that returned the same result before
	Stalled float64  // the estimated probability that the latest steps made no progress
	Steps   int      // steps since Stalled was last below 0.2
	First   EventRef // the first of these
	Talk    float64  // messages to a person without novelty, less the novelty since
	Talked  EventRef // the first of these

	Features Features `json:"-"` // what Stalled was estimated from at the latest step
}

// meter is the Meter and the state that it is computed from.
type meter struct {
	Meter
	Changed    Hash    // the tool of the latest change
	Reapplied  bool    // the latest change has nearly the words of an earlier one, and the same acknowledgement
	Yield      Yield   // of the latest step that changed nothing
	Excused    int     // how many of the next steps have a reason to look again: something was changed, or a person spoke
	Asked      bool    // a person has spoken since the last message of an assistant
	AskedAgain bool    // and repeated an earlier message
	Question   float64 // what the assistant's latest message added to Talk, if it is a question in new words
	Looked     bool    // a step has ended since
	LatestTool Hash    // of the latest step
	Same       int     // steps of that tool in a row
	Spoken     bool    // a person has spoken since
	Said       int     // words of the latest message of an assistant since the latest call
	Message    outline // of that message
	Averages   [stepFeatures]float32
	Acts       []act // the latest calls; Acts[N%recentActs] comes next
	N          int
	Answers    []answer // Answers[Next] is the oldest
	Next       int
	Seen       seen // runs of words of calls, outcomes and messages
}

type act struct {
	Tool    Hash
	Outline outline
}

// recentActs is how many earlier calls a call is compared with.
const recentActs = 12

// How much a step without novelty is wasted, by its result: 1 is a whole step.
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

// How alike two calls are.
const (
	alikeFrom, alikeTo = 0.1, 0.6 // the shares of common words at which likeness begins and is complete
	rewrittenFrom      = 0.4      // the share of common words that two changes have by chance
	otherTool          = 0.8      // the factor for a call of another tool
	alikeFailures      = 0.45     // the least likeness of failures of one tool in known words
	alikeAnswers       = 0.7      // the least likeness of calls with rich and known outcomes
	longAnswer         = 100      // runs of words of an outcome that make two calls fully alike
)

// Sizes and shares that classify calls and outcomes.
const (
	fullAnswer   = 5    // the least number of words of an outcome whose return counts
	shortAnswer  = 15   // the most words of an acknowledgement
	richAnswer   = 8    // the least number of runs of words of a rich outcome
	namingWords  = 16   // the most words of a call in which a number names an item
	freshCommand = 0.3  // the share of new words from which on a shell command is a new action
	reapplied    = 0.4  // the share of new words up to which a change is an earlier one with another value
	knownNovelty = 0.15 // the novelty below which an outcome is known
)

// How novelty is measured, and how it lowers the evidence.
const (
	noveltyGain   = 1.3  // the factor from the share of new runs of words to novelty
	noveltyHalf   = 60   // the number of new runs of words that is half of the greatest novelty
	newError      = 0.5  // the least novelty of an error that was not seen before
	knownError    = 0.5  // the factor for the novelty of text around a known error
	onwardNovelty = 0.7  // the least novelty of a number that moves one way
	keptEach      = 0.96 // the share of the evidence that is kept from step to step
	keptByPerson  = 0.7  // the share of the evidence that is kept when a person speaks
	changeNovelty = 0.5  // the share of the evidence that a change with new words only removes
	mostWasted    = 3.5  // the upper limit of the evidence
)

// Steps after a change or a message of a person have a reason to look again.
const (
	excusedSteps   = 2   // the number of these steps
	weightExcused  = 0.4 // their factor
	weightRetried  = 0.6 // their factor if they fail
	weightReturned = 0.8 // their factor if two earlier outcomes are the same page
)

// How answers to a person are measured.
const (
	askedForKnown = 1.3 // the factor for an answer to a person who repeats a message
	shortReply    = 3   // the most words of a person's message that answers a question and asks none
	answeredNew   = 0.5 // the share of new pairs of words from which on a person's message is a new answer
	askedNew      = 0.2 // the share of new pairs of words below which a person repeats a message
	talkNew       = 0.6 // the share of new pairs of words from which on an assistant's message is new
	talkKept      = 0.9 // the share of the evidence that is kept from message to message
	talkSteps     = 0.6 // the share of the evidence that is kept from step to step
)

// begunAgain is the evidence below which a stretch of messages is over.
const begunAgain = 0.3

// progressing is the estimate below which a stretch of steps is over.
const progressing = 0.2

// Meter returns what the run knows of how much its latest steps brought; the zero Meter unless it keeps NeedEffort.
func (r *Run) Meter() *Meter { return &r.s.Meter.Meter }

// add adds a step to the evidence. kept is the share of the earlier evidence that its novelty leaves.
func (m *meter) add(effort *Effort, kept float64, certain bool) {
	m.Wasted = min(mostWasted, m.Wasted*kept*keptEach+effort.Wasted)
	m.Certain *= kept * keptEach
	if certain {
		m.Certain = min(2*mostWasted, m.Certain+1)
	}
}
