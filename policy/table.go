package policy

import (
	"slices"

	"github.com/unloop-ai/unloop"
)

// Level is an action for counts from a threshold on.
type Level struct {
	From   int // the lowest count
	Action Action
	Code   string
}

// Row is the list of levels for a rule, in ascending order of From.
type Row struct {
	Rule   string
	Levels []Level
}

// Table is the policy of profiles that act on counts. Each rule has levels, and the count of its finding selects the last one
// that it reaches. A finding with a score above 0 and below 1 is not blocked or halted, because its results still change.
// A Table has no state.
type Table struct {
	// Rows are evaluated in order. The first that calls for an action decides.
	Rows []Row
	// Strongest makes the most severe action decide instead. Ties: the first row.
	Strongest bool
}

// Decide returns the decision of the rows for the findings in found.
func (t Table) Decide(_ *unloop.Run, found, _ []unloop.Finding) Decision {
	var best Decision
	for _, row := range t.Rows {
		k := slices.IndexFunc(found, func(f unloop.Finding) bool { return f.Rule == row.Rule })
		if k < 0 {
			continue
		}
		if d := row.decide(found, k); d.Action > best.Action {
			if best = d; !t.Strongest {
				break
			}
		}
	}
	return best
}

func (row Row) decide(found []unloop.Finding, k int) Decision {
	f := &found[k]
	var d Decision
	for _, level := range row.Levels {
		if f.Count >= level.From && (level.Action <= Warn || f.Score == 0 || f.Score >= 1) {
			d = decisionOn(f, level.Action, level.Code, found[k:k+1])
		}
	}
	return d
}
