package unloop

import (
	"math"
	"slices"

	"github.com/unloop-ai/unloop/internal/fingerprint"
)

// Bounds of what a run keeps of its agents' messages.
const (
	recentTexts  = 6 // of one agent
	maxSpeeches  = 8 // agents
	minTextWords = 8 // a shorter message is like any other short one, and says nothing
	alike        = 0.8
)

// What tells a new plan from the messages around it: it has so many times their words, and at least so many.
const (
	planLength = 6
	planWords  = 100
)

// restatedHalfLife is after how many messages what was restated counts half.
const restatedHalfLife = 3

// Text is what a message tells of repetition.
type Text struct {
	Words  int
	Alike  int      // how many of the agent's last messages are nearly the same, this one included
	First  EventRef // the first of those
	Others int      // messages since First, of any agent, that were not nearly said before
	Canned bool     // it is all that its agent says, between messages of others that are new: a turn of phrase, and no evidence
	Near   float64  // how much of its runs of three words, and of those of the most alike of its agent's last six, both have
	Share  float64  // how much of it its agent has said before in one message of its last six, from 0 to 1
	Like   EventRef // that message; the zero EventRef where Share is 0
	Period int      // length in bytes of the pattern that repeats at the message's end
	Times  int      // how often it stands there; 1 when nothing repeats
}

// speech is what an agent said last.
type speech struct {
	Said []said
	Next int
	Used int // number of events when it spoke last
}

type said struct {
	Gist  fingerprint.Gist
	Ref   EventRef
	Fresh int // messages up to this one, itself included, that were not nearly said before
}

// message folds a message. A user's message is news: whatever the agent does now, it does for a new reason.
func (r *Run) message(e *Event) {
	switch e.Role {
	case RoleUser:
		r.beginTurn()
	case RoleAssistant:
		r.s.Said++
	}
	if e.Role != RoleAssistant || r.reading.Facts&FactTexts == 0 {
		return
	}
	text := Text{}
	text.Period, text.Times = fingerprint.TailPeriod(e.Text)
	gist := fingerprint.GistOf(e.Text)
	r.s.Spoken += gist.Words
	if text.Words = gist.Words; text.Words >= minTextWords {
		r.compare(&text, &gist, e.Agent)
		if r.s.Restated++; text.Alike == 1 {
			r.s.Restated = 0
		}
	}
	r.now.Text = &text
}

// compare holds a message against the last ones of its agent.
func (r *Run) compare(text *Text, gist *fingerprint.Gist, agent string) {
	sp := r.speechOf(agent)
	text.Alike, text.First = 1, r.now.Ref
	fresh := 0
	for k := range sp.Said {
		before := &sp.Said[(sp.Next+len(sp.Said)-1-k)%len(sp.Said)]
		near := fingerprint.Resemblance(&gist.Triples, &before.Gist.Triples)
		text.Near = max(text.Near, near)
		if near >= alike {
			text.Alike++
			text.First, fresh = before.Ref, before.Fresh
		}
		share := max(fingerprint.Resemblance(&gist.Pairs, &before.Gist.Pairs), fingerprint.Resemblance(&gist.Opening, &before.Gist.Opening))
		if share > text.Share {
			text.Share, text.Like = share, before.Ref
		}
	}
	if text.Alike == 1 {
		r.s.Fresh++
	} else {
		r.s.Again++
		text.Others = r.s.Fresh - fresh
	}
	if sp.plan(gist.Words) && text.Alike == 1 {
		r.s.Restating = 0
		return
	}
	r.s.Restating *= math.Exp2(-1.0 / restatedHalfLife)
	if text.Canned = text.Alike > len(sp.Said) && text.Others > 0; !text.Canned {
		r.s.Restating += text.Share
	}
	if len(sp.Said) < recentTexts {
		sp.Said = append(sp.Said, said{*gist, r.now.Ref, r.s.Fresh})
		return
	}
	sp.Said[sp.Next] = said{*gist, r.now.Ref, r.s.Fresh}
	sp.Next = (sp.Next + 1) % recentTexts
}

// plan reports whether a message of so many words is far longer than what its agent says as a rule. Then it is no part of
// the back and forth, but begins it anew.
func (sp *speech) plan(words int) bool {
	if len(sp.Said) < 2 || words < planWords {
		return false
	}
	var lengths [recentTexts]int
	for k := range sp.Said {
		lengths[k] = sp.Said[k].Gist.Words
	}
	sorted := lengths[:len(sp.Said)]
	slices.Sort(sorted)
	return words > planLength*sorted[len(sorted)/2]
}

// speechOf returns what is kept of the agent, in place of the one that was silent longest if there are too many.
func (r *Run) speechOf(agent string) *speech {
	sp, ok := r.s.Texts[agent]
	if !ok {
		if r.s.Texts == nil {
			r.s.Texts = make(map[string]*speech)
		}
		if len(r.s.Texts) >= maxSpeeches {
			oldest := ""
			for name, s := range r.s.Texts {
				if o := r.s.Texts[oldest]; o == nil || s.Used < o.Used {
					oldest = name
				}
			}
			delete(r.s.Texts, oldest)
		}
		sp = new(speech)
		r.s.Texts[agent] = sp
	}
	sp.Used = r.s.Metrics.Events
	return sp
}
