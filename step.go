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
	Test    bool // its command runs tests
	Empty   bool // it completed and returned nothing
	Failing bool // it failed, or its result describes a failure; the latter requires NeedOutcomes or NeedExcerpts
	Novel   bool // its outcome is novel: see Run.StepsWithoutNovelty
	Start   EventRef
	End     EventRef // the zero EventRef while the call is pending

	RawHash    Hash // tool and arguments as sent; 0 unless the run keeps NeedRaw
	ArgsHash   Hash // tool and canonical arguments; with NeedOutcomes without those that only explain the call
	TargetHash Hash // tool and primary arguments

	// CommandHash is tool and canonical arguments of a shell without those that limit or describe the command, such as timeout and
	// description. It is 0 if there are none of these; with NeedOutcomes.
	CommandHash Hash `json:",omitzero"`

	// Question is TargetHash. It is ArgsHash once an argument other than the primary ones has changed an outcome of the tool,
	// which a run with NeedOutcomes detects.
	Question         Hash
	ResultHash       Hash // tool and outcome as received; 0 if the outcome has no content
	NormalizedResult Hash // tool and outcome with volatile parts masked; 0 if the outcome has no content

	RawCount  int // calls so far with this RawHash, this one included
	ArgsCount int // calls so far with this ArgsHash, this one included; 0 if the run does not count them

	// CommandCount is the number of calls so far with this CommandHash, this one included. It is 0 without one, and if the command only reads
	// or polls.
	CommandCount int `json:",omitzero"`

	Repeats     Count  // steps so far with this TargetHash and NormalizedResult, this one included
	ResultCount int    // outcomes of the tool so far with this NormalizedResult or, of a failure, this class of error, this one included
	Errors      Count  // failures of the tool so far with this class of error, this one included; the zero Count if it did not fail
	Effort      Effort `json:",omitzero"` // its novelty and waste; with NeedEffort
}

// exact returns the fingerprint of the call. Commands that differ only in how long they may take and in how they are described are equal.
func (s *Step) exact() Hash {
	if s.CommandHash != 0 {
		return s.CommandHash
	}
	return s.ArgsHash
}

// sent returns the number of calls so far that are equal to this one, this one included; 0 if the run does not count them.
func (s *Step) sent() int { return max(s.ArgsCount, s.CommandCount) }

// key returns the fingerprint of the step's question with its result.
func (s *Step) key() Hash { return fingerprint.Join(s.Question, s.NormalizedResult) }
