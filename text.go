package unloop

import (
	"math"
	"slices"

	"github.com/unloop-ai/unloop/internal/fingerprint"
)

// Bounds of the state of messages.
const (
	recentTexts  = 6   // messages of one agent
	maxSpeeches  = 8   // agents; the one that was silent longest is evicted
	minTextWords = 8   // shorter messages are too alike to compare
	similarTexts = 0.8 // resemblance from which on two messages are nearly equal
)

// A new plan has at least planWords words and over planRatio times the median length of the earlier messages.
const (
	planRatio = 6
	planWords = 100
)

// boilerplateWords is the most words of a standing phrase.
const boilerplateWords = 40

// restatedHalfLife is the half-life of RestatedWeight, in messages.
const restatedHalfLife = 3

// Text describes how an assistant's message repeats itself and earlier messages of its agent. A run compares a message with
// the last 6 of its agent. It does not compare messages of fewer than 8 words, for which only Words, Period and Times are
// set. Overlaps are estimates by minhash (Li, Owen and Zhang, "One permutation hashing", 2012).
type Text struct {
	Words          int
	Similar        int      // number of nearly equal messages of the agent, this one included
	First          EventRef // the earliest of them
	NovelSince     int      // messages of any agent since First that are not nearly equal to an earlier one
	Boilerplate    bool     // it has at most 40 words, and the agent sends only this, between new messages of other agents; it is no evidence of a loop
	TrigramOverlap float64  // estimated Jaccard similarity of word trigrams with the most similar message, 0 to 1
	Overlap        float64  // estimated Jaccard similarity of word bigrams, or of those of the opening if higher, with MostSimilar; 0 to 1
	MostSimilar    EventRef // the message with the highest Overlap; the zero EventRef if Overlap is 0
	Period         int      // length in bytes of the passage that repeats at the end of the message
	Times          int      // number of its repetitions there; 1 if nothing repeats
}

// speaker is a ring of the last messages of an agent.
type speaker struct {
	Messages  []message
	Next      int
	LastEvent int     // number of events of the run at its latest message
	Latest    account `json:",omitzero"` // of its latest message that is not short; with NeedEffort
}

type message struct {
	Sketch        fingerprint.MinHash
	Done          float64 `json:",omitzero"` // the progress that it states; 0 for none
	Ref           EventRef
	NovelMessages int // state.NovelMessages after this message
}

// message folds a message. A user message is novel: what the agent does next has a new reason.
func (r *Run) message(e *Event) {
	switch e.Role {
	case RoleUser:
		r.beginTurn()
	case RoleAssistant:
		r.s.MessagesSinceCall++
	}
	if r.options.Needs&NeedEffort != 0 {
		s := getScratch()
		r.converse(s, e)
		if r.options.Needs&NeedTexts != 0 {
			r.readDialogue(&s.words, e)
		}
		s.put()
	}
	if e.Role != RoleAssistant || r.options.Needs&NeedTexts == 0 {
		return
	}
	text := Text{}
	text.Period, text.Times = fingerprint.TailPeriod(e.Text)
	sketch := fingerprint.MinHashOf(e.Text)
	r.s.AssistantWords += sketch.Words
	if text.Words = sketch.Words; text.Words >= minTextWords {
		done, _ := fingerprint.Completion(e.Text)
		r.compare(&text, &sketch, done, e.Agent)
		if r.s.RestatedInARow++; text.Similar == 1 {
			r.s.RestatedInARow = 0
		}
	}
	r.current.Text = &text
}

// compare compares a message with the last ones of its agent, and keeps it as the latest of them, unless it is a new plan.
func (r *Run) compare(text *Text, sketch *fingerprint.MinHash, done float64, agent string) {
	sp := r.speakerOf(agent)
	text.Similar, text.First = 1, r.current.Ref
	if r.advanced {
		r.s.RestatedWeight, r.s.NewResult, r.s.Advanced = 0, r.current.Ref.Number, r.current.Ref.Number
	}
	fresh, restated := r.compareWithEach(text, sketch, done, sp)
	if text.Similar == 1 {
		r.s.NovelMessages++
	} else {
		r.s.RepeatedMessages++
		text.NovelSince = r.s.NovelMessages - fresh
	}
	if sp.isNewPlan(sketch.Words) && text.Similar == 1 {
		r.s.RestatedWeight = 0
		return
	}
	r.s.RestatedWeight *= math.Exp2(-1.0 / restatedHalfLife)
	if text.Boilerplate = text.Similar > len(sp.Messages) && text.NovelSince > 0 && text.Words <= boilerplateWords; !text.Boilerplate {
		r.s.RestatedWeight += restated
		r.s.RestatedSinceCall += restated
	}
	sp.keep(message{*sketch, done, r.current.Ref, r.s.NovelMessages})
}

// compareWithEach sets the members of text that say which kept messages of the speaker it resembles. fresh is the NovelMessages of the
// earliest that is nearly equal. restated is the greatest overlap with a message since the latest new result or new agent, 0 to 1.
func (r *Run) compareWithEach(text *Text, sketch *fingerprint.MinHash, done float64, sp *speaker) (fresh int, restated float64) {
	onward := sp.onward(done)
	for k := range sp.Messages {
		before := &sp.Messages[(sp.Next+len(sp.Messages)-1-k)%len(sp.Messages)] // the latest first
		near := fingerprint.Resemblance(&sketch.Triples, &before.Sketch.Triples)
		if near >= similarTexts && onward && before.Done > 0 {
			continue // the same words with other progress
		}
		text.TrigramOverlap = max(text.TrigramOverlap, near)
		if near >= similarTexts {
			text.Similar++
			text.First, fresh = before.Ref, before.NovelMessages
		}
		share := max(fingerprint.Resemblance(&sketch.Pairs, &before.Sketch.Pairs), fingerprint.Resemblance(&sketch.Opening, &before.Sketch.Opening))
		if share > text.Overlap {
			text.Overlap, text.MostSimilar = share, before.Ref
		}
		if before.Ref.Number >= max(r.s.NewResult, r.s.Introduced) && !r.newID {
			restated = max(restated, share)
		}
	}
	return fresh, restated
}

// keep adds a message of the speaker. It replaces the oldest if there are recentTexts.
func (sp *speaker) keep(m message) {
	if len(sp.Messages) < recentTexts {
		sp.Messages = append(sp.Messages, m)
		return
	}
	sp.Messages[sp.Next] = m
	sp.Next = (sp.Next + 1) % recentTexts
}

// isNewPlan reports whether a message of the given number of words is far longer than the agent's messages usually are. Such
// a message starts a new exchange.
func (sp *speaker) isNewPlan(words int) bool {
	if len(sp.Messages) < 2 || words < planWords {
		return false
	}
	var lengths [recentTexts]int
	for k := range sp.Messages {
		lengths[k] = sp.Messages[k].Sketch.Words
	}
	sorted := lengths[:len(sp.Messages)]
	slices.Sort(sorted)
	return words > planRatio*sorted[len(sorted)/2]
}

// onward reports whether the progress that a message states is above that of all kept messages of its agent that state one, or below
// all of them, as for the work that is left.
func (sp *speaker) onward(done float64) bool {
	more, less := 0, 0
	for k := range sp.Messages {
		switch before := sp.Messages[k].Done; {
		case before == 0:
		case done > before:
			more++
		case done < before:
			less++
		default:
			return false
		}
	}
	return done > 0 && (more == 0) != (less == 0)
}

// speakerOf returns the messages of the agent. A new agent replaces the one that was silent longest if there are too many.
func (r *Run) speakerOf(agent string) *speaker {
	sp, ok := r.s.Speakers[agent]
	if !ok {
		if r.s.Speakers == nil {
			r.s.Speakers = make(map[string]*speaker)
		}
		if len(r.s.Speakers) >= maxSpeeches {
			oldest := ""
			for name, s := range r.s.Speakers {
				if o := r.s.Speakers[oldest]; o == nil || s.LastEvent < o.LastEvent {
					oldest = name
				}
			}
			delete(r.s.Speakers, oldest)
		}
		sp = new(speaker)
		r.s.Speakers[agent] = sp
	}
	sp.LastEvent = r.s.Metrics.Events
	return sp
}
