package unloop

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestPeriodsAgreeWithCounting compares Periods with a count over the whole sequence.
func TestPeriodsAgreeWithCounting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		symbols := rapid.SliceOfN(rapid.Uint64Range(1, 3), 0, 80).Draw(t, "symbols")
		if rapid.Bool().Draw(t, "ends in rounds") {
			round := rapid.SliceOfN(rapid.Uint64Range(1, 3), 1, 10).Draw(t, "round")
			symbols = append(symbols, slices.Repeat(round, rapid.IntRange(1, 5).Draw(t, "rounds"))...)
		}
		p := periodsOf(symbols)
		shortest := 0
		for period := MaxPeriod; period >= 1; period-- {
			rounds, whole := countRounds(symbols, period)
			if got := p.Rounds(period); got != rounds {
				t.Fatalf("Rounds(%d) of %v is %d, want %d", period, symbols, got, rounds)
			}
			if got := p.Whole(period); got != whole {
				t.Fatalf("Whole(%d) of %v is %t", period, symbols, got)
			}
			if rounds >= 2 {
				shortest = period
			}
		}
		if period, rounds := p.Shortest(MaxPeriod); period != shortest || period > 0 && rounds != p.Rounds(period) {
			t.Fatalf("Shortest of %v is %d, %d times; want period %d", symbols, period, rounds, shortest)
		}
		if period, _ := p.Shortest(shortest - 1); period != 0 {
			t.Fatalf("Shortest of %v up to %d is %d", symbols, shortest-1, period)
		}
	})
}

// countRounds counts how often the last period symbols stand at the end, and whether what repeats there, as far back as
// it goes, is a whole number of rounds.
func countRounds(symbols []uint64, period int) (rounds int, whole bool) {
	rounds = 1
	n := len(symbols)
	for n >= (rounds+1)*period && slices.Equal(symbols[n-period:], symbols[n-(rounds+1)*period:n-rounds*period]) {
		rounds++
	}
	repeats := 0
	for k := n - 1; k >= period && symbols[k] == symbols[k-period]; k-- {
		repeats++
	}
	return rounds, repeats > 0 && repeats%period == 0
}

func TestThePatternDoesNotDependOnWhereARoundBegins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		round := rapid.SliceOfN(rapid.Uint64Range(1, 3), 1, MaxPeriod).Draw(t, "round")
		before := rapid.SliceOfN(rapid.Uint64Range(1, 3), 0, 12).Draw(t, "before")
		at := rapid.IntRange(0, len(round)-1).Draw(t, "turned by")
		turned := slices.Concat(round[at:], round[:at])
		if a, b := patternOf(round, len(round)), patternOf(slices.Concat(before, turned), len(round)); a != b {
			t.Fatalf("%v has the pattern %x, but %v behind %v has %x", round, a, turned, before, b)
		}
		other := rapid.SliceOfN(rapid.Uint64Range(1, 3), len(round), len(round)).Draw(t, "other")
		if !isTurned(round, other) && patternOf(round, len(round)) == patternOf(other, len(round)) {
			t.Fatalf("%v and %v have one pattern", round, other)
		}
	})
	if symbols := []uint64{1, 1}; patternOf(symbols, 1) == patternOf(symbols, 2) {
		t.Errorf("one and two symbols of %v have one pattern", symbols)
	}
}

func isTurned(a, b []uint64) bool {
	for at := range a {
		if slices.Equal(slices.Concat(a[at:], a[:at]), b) {
			return true
		}
	}
	return false
}

func patternOf(symbols []uint64, period int) Hash {
	return periodsOf(symbols).Pattern(period)
}

func periodsOf(symbols []uint64) Periods {
	var p periods
	for _, s := range symbols {
		p.add(Hash(s))
	}
	return Periods{&p}
}
