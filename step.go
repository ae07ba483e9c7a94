package unloop

import "github.com/unloop-ai/unloop/internal/fingerprint"

// Hash is a fingerprint: it says "the same" in one particular sense. Zero stands for nothing known.
type Hash = fingerprint.Hash

// EventRef names an event: by its id, by where it stood in its input, and by its place in the run.
type EventRef struct {
	ID     string `json:"id"`
	Index  int    `json:"index"`
	Number int    `json:"number"` // of the event in the run's order, from 0
}

// Outcome is how a call ended.
type Outcome uint8

// The outcomes of a call.
const (
	Pending   Outcome = iota // it has not ended
	Completed                // it returned
	Failed                   // it returned an error
	Blocked                  // a guard did not let it run
)

// Step is one tool call with its outcome: a started event joined to its completed, failed or blocked event.
type Step struct {
	Number  int // of the call in the run, from 0
	Tool    string
	Agent   string
	Effect  Effect // of the tool; for a shell, of the command
	Outcome Outcome
	Start   EventRef
	End     EventRef // the zero EventRef while the call is pending

	RawHash    Hash // tool and arguments as sent; 0 unless the run keeps NeedRaw
	ArgsHash   Hash // tool and canonical arguments
	TargetHash Hash // tool and primary arguments

	// Question is what the call asks: its Target, or its Exact once an argument beside the primary ones has changed an
	// outcome of its tool; the latter is learned where the run keeps NeedOutcomes.
	Question         Hash
	ResultHash       Hash // tool and outcome, as it came; 0 when the outcome has no content
	NormalizedResult Hash // tool and outcome with volatile parts masked; 0 when the outcome has no content

	RawCount  int    // how many calls of the run so far had this Raw, this one included
	ArgsCount int    // how many calls of the run so far had this Exact, this one included; 0 where the run does not count them
	Repeats   Count  // how often the same Target brought the same Stable result so far, this time included
	Told      int    // how often its tool brought this Stable result or this class of error so far, this time included
	Errors    Count  // how often the tool failed with this class of error so far, this time included; the zero Count if it did not fail
	Test      bool   // its command runs tests
	Empty     bool   // it completed and returned nothing
	Failing   bool   // it failed, or what it returned tells that it did; the latter where the run keeps NeedOutcomes or NeedExcerpts
	Effort    Effort `json:",omitzero"` // what it brought; kept with FactEffort
	Novel     bool   // its outcome told something new: see Run.StepsWithoutNovelty
}

// key says what was asked and what came back.
func (s *Step) key() Hash { return fingerprint.Join(s.Question, s.NormalizedResult) }
