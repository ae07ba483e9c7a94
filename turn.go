package unloop

import (
	"time"

	"github.com/unloop-ai/unloop/internal/fingerprint"
)

// Turn is what a run keeps of the turn at hand: the part from one user message to the next.
type Turn struct {
	Number int       // from 0
	Began  time.Time // the time of its first event that has one

	// Row is the row of outcomes that are the same to the byte, of one tool and without a call of another in between. A
	// state update, a memory write and an override end it.
	Row  Streak
	Tool string // whose row it is
}

// Turn returns the turn at hand.
func (r *Run) Turn() *Turn { return &r.s.Turn }

// beginTurn begins a turn with the event at hand.
func (r *Run) beginTurn() {
	r.s.Turn = Turn{Number: r.s.Turn.Number + 1, Began: r.current.Time}
	r.noteNovelty()
}

// TurnCalls returns how many calls of the tool were started in the turn at hand.
func (r *Run) TurnCalls(t *Tool) int {
	if t.Turn != r.s.Turn.Number {
		return 0
	}
	return t.TurnCalls
}

// countInTurn counts a call that has started.
func (r *Run) countInTurn(t *Tool) {
	if t.Turn != r.s.Turn.Number {
		t.Turn, t.TurnCalls, t.Unchanged = r.s.Turn.Number, 0, Streak{}
	}
	t.TurnCalls++
}

// Shell is what a run keeps of its shell calls, if it keeps NeedShell.
type Shell struct {
	Failures Streak // shell calls in a row that failed
	Tests    Streak // test runs in a row that failed
}

// Shell returns what the run keeps of its shell calls.
func (r *Run) Shell() *Shell { return &r.s.Shell }

// MessagesSinceCall returns how many messages of assistants came in a row without a tool call.
func (r *Run) MessagesSinceCall() int { return r.s.MessagesSinceCall }

// shellOutcome reads the outcome of a shell call. A test run is one by its command or by what it printed.
func (r *Run) shellOutcome(e *Event) {
	step := &r.step
	row := func(s *Streak, failed bool) {
		if !failed {
			*s = Streak{}
			return
		}
		s.add(1, step.ArgsHash, step.End)
	}
	row(&r.s.Shell.Failures, step.Outcome == Failed)
	verdict := fingerprint.ReadTestOutput(e.Output)
	if !step.Test && (verdict == fingerprint.NoVerdict || step.Effect == ReadOnly) {
		return // to read the log of a test run is none
	}
	row(&r.s.Shell.Tests, step.Outcome == Failed || verdict == fingerprint.TestsFailed)
}
