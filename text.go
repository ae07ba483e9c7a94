package unloop

import "github.com/unloop-ai/unloop/internal/fingerprint"

// Bounds of what a run keeps of its agents' messages.
const (
	recentTexts  = 6 // of one agent
	maxSpeeches  = 8 // agents
	minTextWords = 8 // a shorter message is like any other short one, and says nothing
	alike        = 0.8
)

// Text is what a message tells of repetition.
type Text struct {
	Words  int
	Alike  int      // how many of the agent's last messages are nearly the same, this one included
	First  EventRef // the first of those
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
	Sketch fingerprint.Sketch
	Ref    EventRef
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
	sketch := fingerprint.SketchOf(e.Text)
	if text.Words = sketch.Words; text.Words >= minTextWords {
		r.compare(&text, said{sketch, r.now.Ref}, e.Agent)
		if r.s.Restated++; text.Alike == 1 {
			r.s.Restated = 0
		}
	}
	r.now.Text = &text
}

func (r *Run) compare(text *Text, now said, agent string) {
	sp := r.speechOf(agent)
	text.Alike, text.First = 1, now.Ref
	for k := range sp.Said {
		before := &sp.Said[(sp.Next+len(sp.Said)-1-k)%len(sp.Said)]
		if fingerprint.Resemblance(&now.Sketch, &before.Sketch) >= alike {
			text.Alike++
			text.First = before.Ref
		}
	}
	if len(sp.Said) < recentTexts {
		sp.Said = append(sp.Said, now)
		return
	}
	sp.Said[sp.Next] = now
	sp.Next = (sp.Next + 1) % recentTexts
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
