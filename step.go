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

	RawHash          Hash // tool and arguments as sent; 0 unless the run keeps NeedRaw
	ArgsHash         Hash // tool and canonical arguments
	TargetHash       Hash // tool and primary arguments: optional ones are left out
	ResultHash       Hash // tool and outcome as received, with NeedResults; 0 if the outcome was not captured
	NormalizedResult Hash // tool and outcome with volatile parts masked, with NeedOutcomes; 0 if the outcome was not captured

	RawCount  int   // calls so far with this RawHash, this one included; with NeedRaw
	ArgsCount int   // calls so far with this ArgsHash, this one included; 0 if the run does not count them
	Repeats   Count // steps so far with this TargetHash and NormalizedResult, this one included; with NeedOutcomes
	Test      bool  // the command line runs tests
	Empty     bool  // the call completed with an empty result; with NeedEmpty
	Failing   bool  // the call failed; with NeedOutcomes or NeedExcerpts, also if its output reports a failure
	Novel     bool  // the outcome is novel, with NeedOutcomes: see Run.StepsWithoutNovelty
}

// key identifies the step by its target and its normalized result.
func (s *Step) key() Hash { return fingerprint.Join(s.TargetHash, s.NormalizedResult) }
