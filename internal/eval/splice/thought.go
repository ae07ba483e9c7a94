package splice

import (
	"cmp"
	"fmt"
	"strings"
)

// thought is what an agent says before an action. Each part may be empty.
type thought struct {
	seen string // what the last result showed, or what is done
	next string // what the agent does now
}

// wording has what an agent may say in the rounds of a loop.
type wording struct{ first, seen, next []string }

// of returns what the agent says in a round, counted from 0.
func (w wording) of(p *generator, round int) thought {
	if round == 0 {
		return thought{next: p.pick(w.first...)}
	}
	t := thought{seen: p.pick(w.seen...)}
	if len(w.next) > 0 {
		t.next = p.pick(w.next...)
	}
	return t
}

// then is of, for a round in which the agent says what it does.
func (w wording) then(p *generator, round int, does string) thought {
	t := w.of(p, round)
	if round > 0 {
		t.next = does
	}
	return t
}

// after returns the entry with what the agent says before it.
func (e entry) after(t thought) entry {
	e.thought = t
	return e
}

// runAgain is what an agent says after an edit, before it looks whether the edit helped.
func (p *generator) runAgain() thought {
	return thought{
		p.pick("", "", "Good, the edit went through.", "The change is in place.", "Updated."),
		p.pick("Now let me run it again.", "Let me see if this fixes it.", "Let's test this.", "Now verify the fix.", "Let me check whether that worked.", "Re-running.", "Let me try it now."),
	}
}

// nextItem is what an agent says between two items of a task. Before the first item, nothing is done.
func (p *generator) nextItem(done, next string) thought {
	if done == "" {
		return thought{next: p.pick("I'll start with ", "First comes ", "Let me begin with ", "Starting with ") + next + "."}
	}
	return thought{capitalized(done) + p.pick(" is done.", " looks good.", " is finished.", " went fine.", " is handled."), p.pick("Next is ", "Now I'll take ", "Moving on to ", "Let me go on with ", "On to ") + next + "."}
}

// voice is how a model writes its thoughts. A stretch has one voice.
type voice struct {
	*generator
	form  int
	often int // of four thoughts, how many the model writes
	count int
}

const (
	silent = iota
	terse
	plain
	verbose
	numbered
	labelled
	voices
)

func (p *generator) voice() *voice { return &voice{p, p.IntN(voices), p.between(2, 4), 0} }

// text returns the thought as the model writes it, or "".
func (v *voice) text(t thought) string {
	whole := strings.TrimSpace(t.seen + " " + t.next)
	if whole == "" || v.form == silent || v.IntN(4) >= v.often {
		return ""
	}
	v.count++
	switch v.form {
	case terse:
		return cmp.Or(t.next, t.seen)
	case verbose:
		lead := ""
		if v.count > 1 {
			lead = v.pick("", "Okay. ", "Let me think about where I am. ", "Right. ", "Let me take stock. ", "I have looked at the last output. ")
		}
		return lead + whole +
			v.pick("", "", " After that I will decide how to continue.", " That should tell us more.", " This is the most direct way forward.", " I'll report what I find.")
	case numbered:
		return fmt.Sprintf("Thought %d: %s", v.count, whole)
	case labelled:
		return "THOUGHT: " + whole
	}
	return whole
}
