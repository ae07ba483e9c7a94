package unloop

import "github.com/unloop-ai/unloop/internal/fingerprint"

// MaxPeriod is the longest cycle that a run looks for, in steps.
const MaxPeriod = 8

// Periods keeps, for a growing sequence, how far its end repeats with each period from 1 to MaxPeriod. Adding takes
// MaxPeriod comparisons.
type Periods struct {
	Symbols [MaxPeriod]Hash // the last symbols; Last[N%MaxPeriod] comes next
	Matches [MaxPeriod]int  // Run[p-1]: so many symbols at the end equal the one p before them
	N       int
}

func (p *Periods) add(h Hash) {
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

// Rounds returns how often the pattern of the last period symbols stands at the end, whole and without a gap: 1 when
// it stands there once.
func (p *Periods) Rounds(period int) int { return p.Matches[period-1]/period + 1 }

// Shortest returns the shortest period up to longest whose pattern stands at the end at least twice, and how often it
// does. The period is 0 if there is none. A sequence of one symbol has period 1.
func (p *Periods) Shortest(longest int) (period, rounds int) {
	for period = 1; period <= min(longest, MaxPeriod); period++ {
		if rounds = p.Rounds(period); rounds >= 2 {
			return period, rounds
		}
	}
	return 0, 0
}

// Whole reports whether a round of the period has just been completed.
func (p *Periods) Whole(period int) bool {
	return p.Matches[period-1] > 0 && p.Matches[period-1]%period == 0
}

// Pattern returns a fingerprint of the last period symbols that does not depend on where in the round they begin.
func (p *Periods) Pattern(period int) Hash {
	best := Hash(0)
	for shift := range period {
		h := Hash(period)
		for k := range period {
			h = fingerprint.Join(h, p.Symbols[(p.N-period+(shift+k)%period)%MaxPeriod])
		}
		if best == 0 || h < best {
			best = h
		}
	}
	return best
}
