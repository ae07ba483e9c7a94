package policy

import (
	"slices"

	"github.com/unloop-ai/unloop"
)

// Level is a count and what to do from it on.
type Level struct {
	From   int
	Action Action
	Code   string
}

// Row are the levels of a rule, in rising order.
type Row struct {
	Rule   string
	Levels []Level
}

// Table is the policy of profiles that act on counts: each rule has levels, and the count of its finding chooses one. A
// finding whose score says that the results still change is never more than warned of.
type Table struct {
	// Rows are asked in their order; the first that calls for an action decides.
	Rows []Row
	// Strongest has the most severe action decide instead.
	Strongest bool
}

// Decide goes through the rows.
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
			d = Decision{
				Action: level.Action, Code: level.Code, Message: f.What, Count: f.Count, Rule: f.Rule, Subject: f.Subject, Findings: found[k : k+1],
			}
		}
	}
	return d
}
