package policy

import (
	"slices"

	"github.com/unloop-ai/unloop"
)

// Ladder is the policy of profiles that act on evidence of no progress: it nudges, nudges harder, blocks, halts. It goes up
// a rung when a finding still holds after Patience more events at which it held. Three pieces of news in a row, without an
// event between them at which a finding held, take it down a rung, and a person's message or an override down to the ground.
// So what is nudged and then moves on is left alone, and what goes on is stopped, even with other work in between.
//
// From the rung that blocks on, calls that would go on with what was found do not run; when Patience of them were tried,
// the ladder halts.
type Ladder struct {
	Patience int
	state    ladderState
}

type ladderState struct {
	Level   int           // of the last decision: 0 none, then as rungs
	Held    int           // events since then at which a finding held
	Novelty int           // pieces of news since the last of those, or since the last rung that they took it down
	Next    []unloop.Hash // Question or Exact of the calls that would go on with what was found; none for all calls of Tool
	Tool    string
	Finding unloop.Finding // what was found
}

// The codes of a ladder's decisions.
const (
	CodeNudge       = "nudge"
	CodeStrongNudge = "strong_nudge"
	CodeBlocked     = "blocked"
	CodeHalted      = "halted"
)

var levels = [...]struct {
	action Action
	code   string
}{{Allow, ""}, {Warn, CodeNudge}, {Warn, CodeStrongNudge}, {Block, CodeBlocked}, {Halt, CodeHalted}}

// blockLevel is the first rung on which calls do not run.
const blockLevel = 3

// noveltyPerLevel is how many pieces of news in a row take the ladder down a rung.
const noveltyPerLevel = 3

// State returns what a snapshot must hold.
func (l *Ladder) State() any { return &l.state }

// Decide goes by the finding with the highest score; one under 1 is not enough to act on.
func (l *Ladder) Decide(r *unloop.Run, found, _ []unloop.Finding) Decision {
	s := &l.state
	now := r.Current()
	if r.LastNovelty() == now.Ref {
		s.lower(now.Type)
	}
	if now.Type == unloop.ToolCallStarted {
		return l.pending(now.Step)
	}
	worst := strongest(found)
	if worst == nil || worst.Score < 1 {
		return Decision{}
	}
	s.Novelty = 0
	if s.Held++; s.Level > 0 && s.Held < l.Patience {
		return Decision{}
	}
	top := len(levels) - 1
	if worst.Advisory {
		top = blockLevel - 1
	}
	s.Level, s.Held = min(s.Level+1, top), 0
	s.Next, s.Tool, s.Finding = worst.Next, worst.Subject, *worst
	return s.decision(found)
}

// lower takes the ladder down for an event that brought news.
func (s *ladderState) lower(event unloop.EventType) {
	if event == unloop.MessageSent || event == unloop.Override {
		s.Level, s.Held, s.Novelty = 0, 0, 0
		return
	}
	if s.Novelty++; s.Novelty >= noveltyPerLevel {
		s.Level, s.Held, s.Novelty = max(0, s.Level-1), 0, 0
	}
}

// pending decides about a call that is about to run.
func (l *Ladder) pending(step *unloop.Step) Decision {
	s := &l.state
	if step == nil || s.Level < blockLevel || !s.matches(step) { // a call of a tool that is ignored has no step
		return Decision{}
	}
	if s.Held++; s.Held > l.Patience {
		s.Level, s.Held = len(levels)-1, 0
	}
	told := s.Finding
	told.Next = s.Next // which JSON leaves out of a finding
	return s.decision([]unloop.Finding{told})
}

func (s *ladderState) matches(step *unloop.Step) bool {
	if len(s.Next) == 0 {
		return step.Tool == s.Tool
	}
	return slices.Contains(s.Next, step.Question) || slices.Contains(s.Next, step.ArgsHash)
}

func (s *ladderState) decision(found []unloop.Finding) Decision {
	rung, told := &levels[s.Level], &s.Finding
	return Decision{
		Action: rung.action, Code: rung.code, Message: told.What, Count: told.Count, Rule: told.Rule, Subject: told.Subject, Findings: found,
	}
}

// strongest returns the finding with the highest score, or nil if there is none. One that is not weak goes before one that
// is, if it is enough to act on.
func strongest(found []unloop.Finding) *unloop.Finding {
	var best *unloop.Finding
	for k := range found {
		f := &found[k]
		if best == nil || solid(f) && !solid(best) || solid(f) == solid(best) && f.Score > best.Score {
			best = f
		}
	}
	return best
}

func solid(f *unloop.Finding) bool { return !f.Advisory && f.Score >= 1 }
