package unloop

import "github.com/unloop-ai/unloop/internal/fingerprint"

// Hash is a 64-bit fingerprint. Two equal hashes mean equality in the sense that the field documents. 0 means unknown.
type Hash = fingerprint.Hash

// EventRef identifies an event. The zero EventRef means no event.
type EventRef struct {
	ID     string `json:"id"`
	Index  int    `json:"index"`  // Event.Index: the position in the input, from 0
	Number int    `json:"number"` // the position in the run, from 0
}

// Outcome is the state of a call.
type Outcome uint8

// The outcomes of a call.
const (
	Pending   Outcome = iota // the call has not ended
	Completed                // the call returned
	Failed                   // the call returned an error
	Blocked                  // a guard prevented the call
)

// Step is one tool call with its outcome: a started event joined to its completed, failed or blocked event.
type Step struct {
	Number  int // position among the calls of the run, from 0
	Tool    string
	Agent   string
	Effect  Effect // of the tool; for a shell, of the command line
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
	Effort    Effort `json:",omitzero"` // what it brought; kept with NeedEffort
	Novel     bool   // its outcome told something new: see Run.StepsWithoutNovelty
}

// key says what was asked and what came back.
func (s *Step) key() Hash { return fingerprint.Join(s.Question, s.NormalizedResult) }
