package policy

import "github.com/unloop-ai/unloop"

// Ladder is the policy of profiles that act on evidence of no progress: it nudges, nudges harder, blocks, halts. What
// drives it up is that a finding still holds and that nothing new came since the last rung; news brings it down one
// rung, and a finding that does not say that the run is stale never gets beyond a nudge.
type Ladder struct {
	// Patience is how many steps without news a rung lasts.
	Patience int

	rung  Action // of the last decision, as far as it still counts
	since int    // stale steps at that decision
	again int    // nudges given
}

// The rungs of a ladder: two kinds of warning, then block, then halt.
const (
	CodeNudge  = "nudge"
	CodeStrong = "strong_nudge"
	CodeBlock  = "blocked"
	CodeHalt   = "halted"
)

// Decide goes up a rung when a finding scores 1 or more and the rung's patience is used up.
func (l *Ladder) Decide(r *unloop.Run, found, grown []unloop.Finding) Decision {
	if r.Stale() < l.since {
		l.down()
	}
	l.since = min(l.since, r.Stale())
	worst, ok := strongest(found)
	if !ok {
		return Decision{}
	}
	stale := r.Stale()
	if l.again > 0 && (stale-l.since < l.Patience || len(grown) == 0) {
		return Decision{}
	}
	l.since = stale
	l.again = min(l.again+1, 4)
	if stale == 0 {
		l.again = 1
	}
	switch l.again {
	case 1:
		return Decision{Warn, CodeNudge, worst.What, found}
	case 2:
		return Decision{Warn, CodeStrong, worst.What, found}
	case 3:
		return Decision{Block, CodeBlock, worst.What, found}
	}
	return Decision{Halt, CodeHalt, worst.What, found}
}

func (l *Ladder) down() { l.again = max(0, l.again-1) }

func strongest(found []unloop.Finding) (unloop.Finding, bool) {
	best := -1
	for k := range found {
		if found[k].Score >= 1 && (best < 0 || found[k].Score > found[best].Score) {
			best = k
		}
	}
	if best < 0 {
		return unloop.Finding{}, false
	}
	return found[best], true
}
