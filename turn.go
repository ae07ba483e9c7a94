package unloop

import (
	"time"

	"github.com/unloop-ai/unloop/internal/fingerprint"
)

// Turn is the state of the current turn: the part of a run from one user message to the next.
type Turn struct {
	Number int       // from 0
	Began  time.Time // the first timestamp in the turn; zero if there is none

	// Row is the streak of the latest outcomes with equal Step.ResultHash. An outcome of another tool, a state update, a
	// memory write and an override end it. The run must keep NeedResults.
	Row  Streak
	Tool string // the tool of Row
}

// Turn returns the current turn.
func (r *Run) Turn() *Turn { return &r.s.Turn }

// beginTurn begins a turn with the current event.
func (r *Run) beginTurn() {
	r.s.Turn = Turn{Number: r.s.Turn.Number + 1, Began: r.current.Time}
	r.noteNovelty()
}

// TurnCalls returns the number of started calls of the tool in the current turn.
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

// Shell is the state of shell calls; with NeedShell.
type Shell struct {
	Failures Streak // consecutive shell calls that failed
	Tests    Streak // consecutive test runs that failed
}

// Shell returns the state of shell calls. The run must keep NeedShell.
func (r *Run) Shell() *Shell { return &r.s.Shell }

// MessagesSinceCall returns the number of assistant messages since the latest tool call.
func (r *Run) MessagesSinceCall() int { return r.s.MessagesSinceCall }

// shellOutcome reads the outcome of a shell call. The command or the output shows whether the call is a test run.
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
		return // reading the log of a test run is not a test run
	}
	row(&r.s.Shell.Tests, step.Outcome == Failed || verdict == fingerprint.TestsFailed)
}
