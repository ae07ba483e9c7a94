package unloop

import "github.com/unloop-ai/unloop/internal/fingerprint"

// MaxPeriod is the longest period that a run looks for, in elements.
const MaxPeriod = 8

// Periods describes the end of a growing sequence of fingerprints: how far it repeats with each period from 1 to MaxPeriod. It is
// valid until the next Add of its run.
type Periods struct{ of *periods }

// periods is the state of Periods. Adding an element takes MaxPeriod comparisons, whatever the length of the sequence.
type periods struct {
	Symbols [MaxPeriod]Hash // the last elements, a ring; the next one goes to Symbols[N%MaxPeriod]
	Matches [MaxPeriod]int  // Matches[p-1] is the number of elements at the end that equal the element p before them
	N       int             // elements so far
}

func (p *periods) add(h Hash) {
	for period := 1; period <= MaxPeriod && period <= p.N; period++ {
		if p.Symbols[(p.N-period)%MaxPeriod] == h {
			p.Matches[period-1]++
		} else {
			p.Matches[period-1] = 0
		}
	}
	p.Symbols[p.N%MaxPeriod] = h
	p.N++
}

// Repeated returns the number of elements at the end that equal the element a period before them. The period must be from 1 to
// MaxPeriod.
func (p Periods) Repeated(period int) int { return p.of.Matches[period-1] }

// Rounds returns how many times in a row the pattern of the last period elements occurs at the end: 1 if it does not
// repeat. Only complete repetitions count. The period must be from 1 to MaxPeriod.
func (p Periods) Rounds(period int) int { return p.Repeated(period)/period + 1 }

// Shortest returns the shortest period, up to longest, whose pattern occurs at least twice in a row at the end, and its
// number of rounds. Both are 0 if there is none. Equal elements have period 1.
func (p Periods) Shortest(longest int) (period, rounds int) {
	for period = 1; period <= min(longest, MaxPeriod); period++ {
		if rounds = p.Rounds(period); rounds >= 2 {
			return period, rounds
		}
	}
	return 0, 0
}

// Whole reports whether the last element completed a round of the period.
func (p Periods) Whole(period int) bool {
	return p.Repeated(period) > 0 && p.Repeated(period)%period == 0
}

// Pattern returns a fingerprint of the last period elements. It is the same for every rotation of the pattern. The sequence
// must have at least period elements.
func (p Periods) Pattern(period int) Hash {
	best := Hash(0)
	for shift := range period {
		h := Hash(period)
		for k := range period {
			h = fingerprint.Join(h, p.of.Symbols[(p.of.N-period+(shift+k)%period)%MaxPeriod])
		}
		if best == 0 || h < best {
			best = h
		}
	}
	return best
}
