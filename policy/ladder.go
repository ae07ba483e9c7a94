package policy

import "github.com/unloop-ai/unloop"

// Ladder is the policy of profiles that act on evidence of no progress: it nudges, nudges harder, blocks, halts. It goes up
// a rung when a finding still holds after Patience more events at which it held, none of which brought news. Each event
// that brings news takes it down a rung. So what is nudged and then moves on is left alone, and only what goes on without
// news is stopped.
type Ladder struct {
	Patience int

	rung int // of the last decision: 0 none, then as rungs
	held int // events since then at which a finding held
}

// The codes of a ladder's decisions.
const (
	CodeNudge       = "nudge"
	CodeStrongNudge = "strong_nudge"
	CodeBlocked     = "blocked"
	CodeHalted      = "halted"
)

var rungs = [...]struct {
	action Action
	code   string
}{{Allow, ""}, {Warn, CodeNudge}, {Warn, CodeStrongNudge}, {Block, CodeBlocked}, {Halt, CodeHalted}}

// Decide goes by the finding with the highest score; one under 1 is not enough to act on.
func (l *Ladder) Decide(r *unloop.Run, found, _ []unloop.Finding) Decision {
	if r.LastNews() == r.Now().Ref {
		l.rung, l.held = max(0, l.rung-1), 0
	}
	worst := strongest(found)
	if worst == nil || worst.Score < 1 {
		return Decision{}
	}
	l.held++
	if l.rung > 0 && l.held < l.Patience {
		return Decision{}
	}
	l.rung, l.held = min(l.rung+1, len(rungs)-1), 0
	rung := rungs[l.rung]
	return Decision{Action: rung.action, Code: rung.code, Message: worst.What, Count: worst.Count, Findings: found}
}

// strongest returns the finding with the highest score, or nil if there is none.
func strongest(found []unloop.Finding) *unloop.Finding {
	var best *unloop.Finding
	for k := range found {
		if best == nil || found[k].Score > best.Score {
			best = &found[k]
		}
	}
	return best
}
