package policy

import (
	"encoding/json"
	"slices"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/snapshot"
)

// Ladder is the policy of profiles that act on evidence of no progress. Its levels are: allow, nudge, strong nudge, block,
// halt.
//
// A finding with a score of at least 1 raises the level by one. Each further rise needs Patience more events at which such a
// finding holds. A finding that is Advisory raises the level to the strong nudge at most. Three novel events in a row,
// without such a finding in between, lower the level by one. A user message and an override reset it.
//
// From the block level on, calls that continue the loop do not run: those in Finding.Next, or all calls of the tool if Next
// is empty. After Patience blocked calls, the next one halts the run.
type Ladder struct {
	Patience int // events, or blocked calls, from one level to the next; at least 1
	state    ladderState
}

type ladderState struct {
	Level   int           // of the last decision: 0 for none, else an index of levels
	Held    int           // events since then at which a finding held
	Novelty int           // novel results since the last such event, or since novelty last lowered the level
	Next    []unloop.Hash // Question or ArgsHash of the calls to which the finding applies; empty for all calls of Tool
	Tool    string
	Finding unloop.Finding // the finding that raised the level last
}

// The codes of the decisions of a Ladder.
const (
	CodeNudge       = "nudge"
	CodeStrongNudge = "strong_nudge"
	CodeBlocked     = "blocked"
	CodeHalted      = "halted"
	CodePerson      = "person" // of every policy: a person decided
)

var levels = [...]struct {
	action Action
	code   string
}{{Allow, ""}, {Warn, CodeNudge}, {Warn, CodeStrongNudge}, {Block, CodeBlocked}, {Halt, CodeHalted}}

// blockLevel is the first level at which calls do not run.
const blockLevel = 3

// noveltyPerLevel is the number of consecutive novel events that lower the level by one.
const noveltyPerLevel = 3

// Snapshot returns the level and the finding that raised it as JSON.
func (l *Ladder) Snapshot() ([]byte, error) { return json.Marshal(&l.state) }

// Restore replaces the state by one that Snapshot returned. On an error, the state is unchanged.
func (l *Ladder) Restore(data []byte) error { return restore(&l.state, data) }

// Decide acts on the finding with the highest score. A finding with a score below 1 has no effect. A finding that is not
// Advisory takes precedence over one that is.
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
	if s.Held = min(s.Held+1, snapshot.MaxCount); s.Level > 0 && s.Held < l.Patience {
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

// lower lowers the level for a novel event.
func (s *ladderState) lower(event unloop.EventType) {
	if event == unloop.MessageSent || event == unloop.Override {
		s.Level, s.Held, s.Novelty = 0, 0, 0
		return
	}
	if s.Novelty++; s.Novelty >= noveltyPerLevel {
		s.Level, s.Held, s.Novelty = max(0, s.Level-1), 0, 0
	}
}

// pending decides about a call that has just started.
func (l *Ladder) pending(step *unloop.Step) Decision {
	s := &l.state
	if step == nil || s.Level < blockLevel || !s.matches(step) { // a call of an ignored tool has no step
		return Decision{}
	}
	if s.Held = min(s.Held+1, snapshot.MaxCount); s.Held > l.Patience {
		s.Level, s.Held = len(levels)-1, 0
	}
	finding := s.Finding
	finding.Next = s.Next // a restored finding has none, because JSON omits it
	return s.decision([]unloop.Finding{finding})
}

func (s *ladderState) matches(step *unloop.Step) bool {
	if len(s.Next) == 0 {
		return step.Tool == s.Tool
	}
	return slices.Contains(s.Next, step.Question) || slices.Contains(s.Next, step.ArgsHash)
}

func (s *ladderState) decision(found []unloop.Finding) Decision {
	level := &levels[s.Level]
	return decisionOn(&s.Finding, level.action, level.code, found)
}

// strongest returns the finding with the highest score, or nil if there is none. A finding that is not advisory and has a
// score of at least 1 takes precedence.
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
