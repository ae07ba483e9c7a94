package unloop

import "github.com/unloop-ai/unloop/internal/fingerprint"

// recentAnswers is of how many different questions the latest answer is kept.
const recentAnswers = 16

// answer is the latest outcome of a question, which is a call's Target. It is what a run learns from what varies: an argument
// that changes the outcome makes another question of it; numbers and ids that differ each time, and go nowhere, mean nothing.
type answer struct {
	Question Hash
	Exact    Hash // the call, with all its arguments
	Stable   Hash // the outcome
	Shape    Hash // the outcome, but for its numbers and ids
	Changes  int  // what had been changed in the run by then
	Turn     int
	Failing  bool
	Words    int // of the outcome
	Moves    int // how often nothing but numbers and ids has varied
	Count    int // of Numbers
	Numbers  [8]float64
	Ways     [8]uint8 // how each number moved so far
	Tail     fingerprint.Tail
	TailWays [4]uint8
	Left     float64
	Falls    int
	Advances int `json:",omitzero"` // how often in a row it has moved onward
}

// variation says how an outcome differs from the latest one of the same question.
type variation uint8

const (
	otherwise variation = iota // not at all, or in more than numbers and ids
	onward                     // a number moves one way
	aimless                    // numbers and ids vary that mean nothing
	fewer                      // a failure has fewer words than the one before
)

// The ways of a number.
const (
	up = 1 << iota
	down
)

// compareAnswer compares an outcome with the latest one of the same question, and keeps it. Where nothing but ids and numbers without a
// direction has varied, it returns the fingerprint of the one before, since both say the same. A question whose answers advance is progress
// for other calls, too.
func (r *Run) compareAnswer(t *Tool, w *fingerprint.Words, stable Hash) (normalized Hash, varied variation) {
	step := &r.step
	now := answer{
		Question: step.TargetHash, Exact: step.ArgsHash, Stable: stable, Shape: w.Shape, Changes: r.s.Changes, Turn: r.s.Turn.Number,
		Count: w.Count, Numbers: w.Numbers, Words: len(w.List), Failing: step.Failing,
		Tail: w.Tail, Left: w.Left,
	}
	before := r.s.Meter.answer(step.TargetHash)
	if before == nil {
		r.s.Meter.keepAnswer(&now)
		return stable, otherwise
	}
	recovered := before.Failing && !now.Failing && before.Exact == now.Exact
	now.Advances = before.Advances + 1
	normalized, varied = now.vary(before, t)
	if varied != onward {
		now.Advances = 0
	} else if recovered || now.Advances >= leastAdvances {
		r.s.Advances++
		t.ErrorsSinceAdvance = 0
	}
	*before = now
	return normalized, varied
}

// vary says how an answer differs from the one before, and returns the fingerprint that the outcome counts as.
func (now *answer) vary(before *answer, t *Tool) (normalized Hash, varied variation) {
	stable := now.Stable
	down := now.falls(before)
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
		before.Exact == now.Exact && before.Stable != stable
	if !same {
		switch {
		case now.Failing && before.Failing && down:
			varied = onward
		case now.Failing && before.Failing && now.Words < before.Words:
			varied = fewer
		}
		return stable, varied
	}
	now.Moves, now.Ways = before.Moves+1, before.Ways
	moved := now.turn(before)
	switch {
	case moved && now.oneWay():
		varied = onward
	case now.Moves > 1 && (moved || now.Count < len(now.Numbers)):
		now.Stable, varied = before.Stable, aimless
	}
	return now.Stable, varied
}

// turn notes which way the numbers moved since the answer before, and reports whether any did.
func (a *answer) turn(before *answer) (moved bool) {
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

// oneWay reports whether a number moves, and only up or only down.
func (a *answer) oneWay() bool {
	for _, way := range a.Ways[:a.Count] {
		if way == up || way == down {
			return true
		}
	}
	return false
}

func (m *meter) answer(question Hash) *answer {
	for k := range m.Answers {
		if m.Answers[k].Question == question {
			return &m.Answers[k]
		}
	}
	return nil
}

func (m *meter) keepAnswer(a *answer) {
	if len(m.Answers) < recentAnswers {
		m.Answers = append(m.Answers, *a)
		return
	}
	m.Answers[m.Next] = *a
	m.Next = (m.Next + 1) % recentAnswers
}

// leastAdvances is how often in a row a duration must have become shorter to be the time that is left, and a number must have moved on to be
// progress for other calls, too.
const leastAdvances = 2

// falls notes how the numbers of the last line and the first duration moved since the answer before, and reports whether a number of
// that line is smaller and never grew.
func (a *answer) falls(before *answer) (down bool) {
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
			a.TailWays[k] |= 1
		case a.Tail.Numbers[k] < before.Tail.Numbers[k]:
			down = down || a.TailWays[k] == 0
		}
	}
	return down
}
