package unloop

import (
	"math/bits"
	"slices"

	"github.com/unloop-ai/unloop/internal/fingerprint"
)

// recentAnswers is the number of questions whose latest answer a run keeps.
const recentAnswers = 16

// answer is the latest outcome of a question, which is a Step.TargetHash. Comparing it with the next outcome shows which differences
// matter. An argument that changes the outcome makes every combination of the tool's arguments a question of its own. Numbers and ids
// that differ each time, without a trend, do not matter.
type answer struct {
	Question Hash
	Exact    Hash // Step.exact of the call
	Stable   Hash // Step.NormalizedResult
	Shape    Hash // of the outcome without its numbers and ids
	Changes  int  // Run.Changes at the outcome
	Turn     int  // number of the turn
	Acted    int  `json:",omitzero"` // meter.Acted after the outcome
	Step     int  `json:",omitzero"` // number of the step of the outcome
	Before   int  `json:",omitzero"` // number of the step of the outcome before it
	Failing  bool
	Words    int // number of words of the outcome
	Moves    int // consecutive outcomes that differ from the one before in numbers and ids only
	Count    int // number of Numbers
	Numbers  [8]float64
	Ways     [8]uint8         // the directions in which each number has moved: up, down or both
	Tail     fingerprint.Tail // of the outcome
	TailWays [4]uint8         // up for each number of Tail that has grown
	Left     float64          // the first duration in the outcome, as fingerprint.Words.Left
	Falls    int              // consecutive outcomes with a smaller Left
	Place    float64          `json:",omitzero"` // the place in the outcome, as fingerprint.Words.Place
	Rises    int              `json:",omitzero"` // consecutive failures with a greater Place
	Advances int              `json:",omitzero"` // consecutive outcomes that vary onward
	Shrinks  int              `json:",omitzero"` // consecutive outcomes of equal calls with fewer words
}

// variation is how an outcome differs from the latest one of the same question.
type variation uint8

const (
	otherwise variation = iota // not at all, or in more than numbers and ids
	onward                     // a number moves in one direction, or a call that failed succeeds
	aimless                    // only in numbers and ids without a trend
	fewer                      // a failure has fewer words than the one before
	further                    // it continues a list, and the list goes on
)

// The directions in which a number has moved.
const (
	up = 1 << iota
	down
)

// compareAnswer compares an outcome with the latest answer to the same question, and keeps it as the latest. If only ids and numbers
// without a trend differ, it returns the fingerprint of the answer before, because both say the same. A question whose answers
// advance is progress for other calls, too.
func (r *Run) compareAnswer(t *Tool, w *fingerprint.Words, stable Hash) (normalized Hash, varied variation) {
	step := &r.step
	now := answer{
		Question: step.TargetHash, Exact: step.exact(), Stable: stable, Shape: w.Shape, Changes: r.s.Changes, Turn: r.s.Turn.Number,
		Count: w.Count, Numbers: w.Numbers, Words: len(w.List), Failing: step.Failing,
		Tail: w.Tail, Left: w.Left, Place: w.Place, Step: step.Number,
		Acted: r.s.Meter.Acted,
	}
	if r.acts(t) {
		now.Acted++
	}
	before := r.s.Meter.answer(step.TargetHash)
	if before == nil {
		r.s.Meter.keepAnswer(&now)
		return stable, otherwise
	}
	recovered := before.Failing && !now.Failing && before.Exact == now.Exact
	now.Advances, now.Before = before.Advances+1, before.Step
	normalized, varied = now.vary(before, t, r.attempts(before))
	if varied != onward {
		now.Advances = 0
	} else if recovered || now.Advances >= leastAdvances {
		r.s.Advances++
		t.ErrorsSinceAdvance = 0
	}
	*before = now
	return normalized, varied
}

// vary compares an answer with the one before. It returns the fingerprint that the outcome counts as, and the difference. attempts
// is the number of calls in between that Run.attempts returns.
func (now *answer) vary(before *answer, t *Tool, attempts int) (normalized Hash, varied variation) {
	stable := now.Stable
	fell := now.recordFalls(before)
	if now.Failing && before.Failing && before.Place > 0 && now.Place > before.Place {
		now.Rises = before.Rises + 1
	}
	if before.Failing && !now.Failing && before.Exact == now.Exact {
		varied = onward
	}
	if before.Stable == stable && before.Exact == now.Exact {
		now.Moves, now.Ways, now.TailWays = before.Moves, before.Ways, before.TailWays
		if now.Falls >= leastAdvances {
			return fingerprint.Join(stable, Hash(now.Left)), onward
		}
		return stable, otherwise
	}
	if before.Exact != now.Exact && before.Stable != stable && !t.Shell && before.Changes == now.Changes {
		t.Distinct = true
	}
	same := before.Shape == now.Shape && before.Count == now.Count && before.Changes == now.Changes && before.Turn == now.Turn &&
		before.Exact == now.Exact && before.Stable != stable && (now.Words > 0 || now.Count > 0)
	if !same {
		if before.Exact == now.Exact && before.Stable != stable && now.Words < before.Words {
			now.Shrinks = before.Shrinks + 1
		}
		switch {
		case now.counts(before) && !now.countsAttempts(before, attempts), now.Shrinks >= leastAdvances:
			varied = onward
		case now.Failing && before.Failing && (fell || now.Rises >= leastAdvances):
			varied = onward
		case now.Failing && before.Failing && now.Words < before.Words:
			varied = fewer
		}
		return stable, varied
	}
	now.Moves, now.Ways = before.Moves+1, before.Ways
	moved := now.recordWays(before)
	switch {
	case moved && now.countsAttempts(before, attempts):
		now.Stable, varied = before.Stable, aimless
	case moved && now.oneWay(), !moved && now.Falls >= leastAdvances:
		varied = onward
	case now.Moves > 1 && (moved || now.Count < len(now.Numbers)):
		now.Stable, varied = before.Stable, aimless
	}
	return now.Stable, varied
}

// counts reports whether the answer, after a change, differs from the one before it in one number only, which has moved in this direction
// before: it counts what is done or what is left. A number that turns, and a second one that moves, begin the count anew.
func (now *answer) counts(before *answer) bool {
	if now.Changes == before.Changes || now.Exact != before.Exact || now.Shape != before.Shape || now.Count != before.Count || now.Failing {
		return false
	}
	now.Ways = before.Ways
	moved, moving := now.recordWays(before), 0
	for _, way := range now.Ways {
		moving += bits.OnesCount8(way)
	}
	if moving != 1 {
		now.Ways = [8]uint8{}
	}
	return moved && moving == 1 && now.Ways == before.Ways
}

// countsAttempts reports whether one number of the answer has grown, by at most the number of attempts, and is the greatest number, so that it
// is no share of a total. It then counts the attempts, whatever they achieved.
func (now *answer) countsAttempts(before *answer, attempts int) bool {
	grown := 0.0
	for k, x := range now.Numbers[:now.Count] {
		if x != before.Numbers[k] {
			if grown != 0 || x < before.Numbers[k] || x-before.Numbers[k] > float64(attempts) || x < slices.Max(now.Numbers[:now.Count]) {
				return false
			}
			grown = x - before.Numbers[k]
		}
	}
	return grown > 0
}

// attempts returns the number of calls that may have changed something since an answer, or 0 if one of them changed something and named what
// no earlier call of its tool had.
func (r *Run) attempts(since *answer) int {
	if r.s.Meter.Named > since.Step {
		return 0
	}
	return r.s.Meter.Acted - since.Acted
}

// acts reports whether the step may have changed something. Of a shell's command, its outcome has to say so.
func (r *Run) acts(t *Tool) bool {
	return r.step.Effort.Yield == Change || r.step.Effort.Writes && !t.Shell
}

// recordWays records the directions in which the numbers moved since the answer before, and reports whether any of them moved.
func (a *answer) recordWays(before *answer) (moved bool) {
	for k := range a.Count {
		switch {
		case a.Numbers[k] > before.Numbers[k]:
			a.Ways[k] |= up
		case a.Numbers[k] < before.Numbers[k]:
			a.Ways[k] |= down
		default:
			continue
		}
		moved = true
	}
	return moved
}

// oneWay reports whether one of the numbers has moved only up or only down.
func (a *answer) oneWay() bool {
	for _, way := range a.Ways[:a.Count] {
		if way == up || way == down {
			return true
		}
	}
	return false
}

// answer returns the latest answer to a question, or nil if the run does not keep one. It is valid until the next keepAnswer.
func (m *meter) answer(question Hash) *answer {
	for k := range m.Answers {
		if m.Answers[k].Question == question {
			return &m.Answers[k]
		}
	}
	return nil
}

// keepAnswer keeps the first answer to a question. It replaces the oldest answer if there are recentAnswers.
func (m *meter) keepAnswer(a *answer) {
	if len(m.Answers) < recentAnswers {
		m.Answers = append(m.Answers, *a)
		return
	}
	m.Answers[m.Next] = *a
	m.Next = (m.Next + 1) % recentAnswers
}

// leastAdvances is the number of consecutive outcomes with a shorter duration from which on it is the remaining time, and of those
// with an advance from which on it is progress for other calls.
const leastAdvances = 2

// recordFalls records how the numbers of the last line and the first duration moved since the answer before. It reports whether a number
// of that line fell that has never grown.
func (a *answer) recordFalls(before *answer) (fell bool) {
	if a.Left > 0 && a.Left < before.Left {
		a.Falls = before.Falls + 1
	}
	if a.Tail.Shape != before.Tail.Shape || a.Tail.Count != before.Tail.Count {
		return false
	}
	a.TailWays = before.TailWays
	for k := range a.Tail.Count {
		switch {
		case a.Tail.Numbers[k] > before.Tail.Numbers[k]:
			a.TailWays[k] |= up
		case a.Tail.Numbers[k] < before.Tail.Numbers[k]:
			fell = fell || a.TailWays[k] == 0
		}
	}
	return fell
}
