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
	said []said
	next int
	used int // number of events when it spoke last
}

type said struct {
	sketch fingerprint.Sketch
	ref    EventRef
}

// message folds a message. A user's message is news: whatever the agent does now, it does for a new reason.
func (r *Run) message(e *Event) {
	switch e.Role {
	case RoleUser:
		r.beginTurn()
	case RoleAssistant:
		r.said++
	}
	if e.Role != RoleAssistant || r.reading.Facts&FactTexts == 0 {
		return
	}
	text := Text{}
	text.Period, text.Times = fingerprint.TailPeriod(e.Text)
	sketch := fingerprint.SketchOf(e.Text)
	if text.Words = sketch.Words; text.Words >= minTextWords {
		r.compare(&text, said{sketch, r.now.Ref}, e.Agent)
		if r.restated++; text.Alike == 1 {
			r.restated = 0
		}
	}
	r.now.Text = &text
}

func (r *Run) compare(text *Text, now said, agent string) {
	sp := r.speechOf(agent)
	text.Alike, text.First = 1, now.ref
	for k := range sp.said {
		before := &sp.said[(sp.next+len(sp.said)-1-k)%len(sp.said)]
		if fingerprint.Resemblance(&now.sketch, &before.sketch) >= alike {
			text.Alike++
			text.First = before.ref
		}
	}
	if len(sp.said) < recentTexts {
		sp.said = append(sp.said, now)
		return
	}
	sp.said[sp.next] = now
	sp.next = (sp.next + 1) % recentTexts
}

// speechOf returns what is kept of the agent, in place of the one that was silent longest if there are too many.
func (r *Run) speechOf(agent string) *speech {
	sp, ok := r.texts[agent]
	if !ok {
		if r.texts == nil {
			r.texts = make(map[string]*speech)
		}
		if len(r.texts) >= maxSpeeches {
			oldest := ""
			for name, s := range r.texts {
				if o := r.texts[oldest]; o == nil || s.used < o.used {
					oldest = name
				}
			}
			delete(r.texts, oldest)
		}
		sp = new(speech)
		r.texts[agent] = sp
	}
	sp.used = r.metrics.Events
	return sp
}
