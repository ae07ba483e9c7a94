package sink

import (
	"math/bits"
	"slices"
	"strconv"

	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
)

// The levels of a warning, at which a notice is sent. A warning reaches a level when it is raised; when its count reaches 8, 16,
// 32 and so on, if that is at least twice the count that it was raised with; when it causes the first block; and when it causes a
// halt. Levels depend only on the warning, so computing them again gives the same levels.
const (
	Raised = "raised"
	Grown  = "grown" // in notices; the store has the count
	Block  = "block"
	Halt   = "halt"
)

// escalations are the levels that a run reaches, in ascending order.
var escalations = []string{Raised, Block, Halt}

// rank returns the place of a level in escalations. A warning that grows is as severe as one that is raised.
func rank(level string) int { return max(0, slices.Index(escalations, level)) }

// leastCount is the first count that is a level.
const leastCount = 8

// pending is a warning to send notices about.
type pending struct {
	run      store.Run
	warning  store.Warning
	raisedAt int             // the count with which it was raised; -1 if unknown
	decision *store.Decision // its most severe block or halt; nil for none
}

// pendingOf returns the new and grown warnings of an update, and those that caused a block or halt.
func pendingOf(u *store.Update) (all []*pending) {
	about := make(map[int]*pending)
	note := func(k int) *pending {
		if about[k] == nil {
			about[k] = &pending{run: u.Run, warning: u.Warnings[k], raisedAt: -1}
			all = append(all, about[k])
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
	return all
}

// causeOf returns the index of the warning that a decision is based on. If that warning was dropped, it returns the one that grew
// last. It returns -1 without warnings.
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

// stage is the level up to which notices about a warning were recorded. The zero value means none.
type stage struct {
	raised bool
	count  int           // the highest level by count
	action policy.Action // Block or Halt
}

// stage returns the stage after the notice about n is sent.
func (n *pending) stage() stage {
	s := stage{raised: true}
	count := max(n.warning.Count, 2*n.raisedAt-1) // counts below twice the initial count are not a level
	if count >= leastCount {
		s.count = 1 << (bits.Len(uint(count)) - 1)
	}
	if n.decision != nil {
		s.action = n.decision.Action
	}
	return s
}

// covers reports whether s includes all levels of n.
func (s stage) covers(n stage) bool {
	return (s.raised || !n.raised) && s.count >= n.count && s.action >= n.action
}

// and returns the stage that includes both.
func (s stage) and(n stage) stage {
	return stage{s.raised || n.raised, max(s.count, n.count), max(s.action, n.action)}
}

// levels returns the levels to record between two stages. It includes the levels in between, so that they are not sent after a
// refold in which the warning grows again.
func (s stage) levels(to stage) (levels []string) {
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

// headline returns the most severe of the due levels: its name in the store, and that in the notice.
func headline(due []store.Notice) (stored, told string) {
	most := 0
	for k := range due {
		level := due[k].Level
		count, err := strconv.Atoi(level)
		switch {
		case err == nil:
			most = max(most, count)
		case stored == "" || rank(level) > rank(stored):
			stored = level
		}
	}
	if stored != "" {
		return stored, stored
	}
	return strconv.Itoa(most), Grown
}
