package sink

import (
	"math/bits"
	"strconv"

	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
)

// The levels. A person wants to hear of a warning when it is raised, when it has become much worse, and when the policy would stop the agent. So
// these are the levels: raised; its count reaches 8, 16, 32 and so on, if that is twice the count that it was raised with;
// block and halt, for the first call that was to be blocked because of it and for when the run was to end. Levels depend on the warning
// alone, not on when it was looked at, so that whoever works them out once more finds the same ones.
const (
	Raised = "raised"
	Grown  = "grown" // in notices; what is claimed has the count
	Block  = "block"
	Halt   = "halt"
)

// leastCount is the first count that is a level.
const leastCount = 8

// pending is what is to be told of a warning.
type pending struct {
	run      store.Run
	warning  store.Warning
	raisedAt int             // the count that it was raised with; -1 where that is not told
	decision *store.Decision // the hardest because of it; nil for none of block or halt
}

// pendingOf returns the news of an update.
func pendingOf(u *store.Update) (news []*pending) {
	about := make(map[int]*pending)
	note := func(k int) *pending {
		if about[k] == nil {
			about[k] = &pending{run: u.Run, warning: u.Warnings[k], raisedAt: -1}
			news = append(news, about[k])
		}
		return about[k]
	}
	for _, k := range u.Raised {
		note(k).raisedAt = u.Warnings[k].Count
	}
	for _, k := range u.Grown {
		note(k)
	}
	for i := range u.Decisions {
		d := u.Decisions[i]
		if k := causeOf(&d, u.Warnings); d.Action >= policy.Block && k >= 0 {
			if n := note(k); n.decision == nil || n.decision.Action < d.Action {
				n.decision = &d
			}
		}
	}
	return news
}

// causeOf returns the warning that a decision rests on; where there was no room for it, the one that grew last. It is -1 without
// warnings.
func causeOf(d *store.Decision, warnings []store.Warning) int {
	best := -1
	for k := range warnings {
		w := &warnings[k]
		if w.ID == d.Warning {
			return k
		}
		if best < 0 || w.Updated.After(warnings[best].Updated) {
			best = k
		}
	}
	return best
}

// merge puts later news into n.
func (n *pending) merge(later *pending) {
	n.run, n.warning = later.run, later.warning
	if n.raisedAt < 0 {
		n.raisedAt = later.raisedAt
	}
	if d := later.decision; d != nil && (n.decision == nil || n.decision.Action < d.Action) {
		n.decision = d
	}
}

// stage is how far an endpoint was told of a warning. Its zero value is not at all.
type stage struct {
	raised bool
	count  int           // the highest of the levels by count
	action policy.Action // Block or Halt
}

// stage returns how far an endpoint is told once it got the pending.
func (n *pending) stage() stage {
	s := stage{raised: true}
	count := max(n.warning.Count, 2*n.raisedAt-1) // less than twice the count that it was raised with is no news
	if count >= leastCount {
		s.count = 1 << (bits.Len(uint(count)) - 1)
	}
	if n.decision != nil {
		s.action = n.decision.Action
	}
	return s
}

// covers tells whether an endpoint that was told as far as s learns nothing of what stage n stands for.
func (s stage) covers(n stage) bool {
	return (s.raised || !n.raised) && s.count >= n.count && s.action >= n.action
}

// claims returns what is to be claimed to get from one stage to another. All levels in between are claimed, so that they are
// not told later, should the run be folded anew and the warning grow once more.
func (s stage) claims(to stage) (levels []string) {
	if to.raised && !s.raised {
		levels = append(levels, Raised)
	}
	for c := max(2*s.count, leastCount); c <= to.count; c *= 2 {
		levels = append(levels, strconv.Itoa(c))
	}
	if to.action >= policy.Block && s.action < policy.Block {
		levels = append(levels, Block)
	}
	if to.action >= policy.Halt && s.action < policy.Halt {
		levels = append(levels, Halt)
	}
	return levels
}

// headline returns the level that a message is about, of those that are new. It is "" where there is nothing to tell: the
// highest by count counts only if the warning has reached it.
func (n *pending) headline(fresh []string) string {
	best := ""
	for _, level := range fresh { // in rising order
		count, err := strconv.Atoi(level)
		if err != nil {
			best = level
		} else if best == "" && count == n.stage().count && count <= n.warning.Count {
			best = Grown
		}
	}
	return best
}
