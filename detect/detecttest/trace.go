package detecttest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/unloop-ai/unloop"
)

// Trace is a parsed golden trace: the events of a run, and the wanted findings.
type Trace struct {
	Name    string // the name that was given to Parse
	About   string // the comment at the beginning
	Entries []Entry
}

// Entry is one event of a trace.
type Entry struct {
	Event *unloop.Event // Index is the position in the trace, from 0; ID is e1, e2 …
	Want  *Want         // the wanted finding; nil if nothing new is wanted
	Line  int           // the number of the line, from 1
	Round int           // the round of the repeat block, from 1; 0 outside of one
}

// Want is a wanted finding.
type Want struct {
	Rule string // the name of the rule
	What string // a part of Finding.What
}

// quiet reports whether the trace wants no findings.
func (t *Trace) quiet() bool {
	for _, entry := range t.Entries {
		if entry.Want != nil {
			return false
		}
	}
	return true
}

// place returns the file and line of an entry.
func (t *Trace) place(e *Entry) string {
	if e.Round > 0 {
		return fmt.Sprintf("%s:%d (round %d)", t.Name, e.Line, e.Round)
	}
	return fmt.Sprintf("%s:%d", t.Name, e.Line)
}

// Parse parses a trace in the format that the package comment describes. The name is usually that of the file. Errors begin
// with the name and the line.
func Parse(name string, data []byte) (*Trace, error) {
	p := parser{trace: &Trace{Name: name}}
	for k, text := range strings.Split(string(data), "\n") {
		p.at = k + 1
		if err := p.read(line{strings.TrimSpace(text), k + 1}); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, p.at, err)
		}
	}
	switch {
	case p.times > 0:
		return nil, fmt.Errorf("%s:%d: repeat without end", name, p.opened)
	case p.trace.About == "":
		return nil, fmt.Errorf("%s:1: a trace begins with a comment that says what it shows", name)
	case len(p.trace.Entries) == 0:
		return nil, fmt.Errorf("%s: no events", name)
	}
	return p.trace, nil
}

type line struct {
	text   string
	number int
}

type parser struct {
	trace  *Trace
	at     int    // number of the current line
	begun  bool   // the comment at the beginning has ended
	times  int    // rounds of the open repeat block; 0 when none is open
	opened int    // number of the line that opened it
	block  []line // lines of the open block
}

// maxRounds bounds a repeat block, so that a typing error does not exhaust the memory.
const maxRounds = 100_000

func (p *parser) read(l line) error {
	if comment, ok := strings.CutPrefix(l.text, "#"); ok {
		if !p.begun {
			p.trace.About = strings.TrimSpace(p.trace.About + " " + strings.TrimSpace(comment))
		}
		return nil
	}
	p.begun = p.begun || l.text != "" || p.trace.About != ""
	if l.text == "" {
		return nil
	}
	switch word, rest := cutWord(l.text); {
	case word == "repeat":
		return p.open(rest, l.number)
	case word == "end":
		return p.close(rest)
	case p.times > 0:
		p.block = append(p.block, l)
		return nil
	}
	return p.add(l, 0)
}

func (p *parser) open(rounds string, number int) error {
	if p.times > 0 {
		return fmt.Errorf("repeat within the repeat of line %d", p.opened)
	}
	n, err := strconv.Atoi(rounds)
	if err != nil || n < 1 || n > maxRounds {
		return fmt.Errorf("repeat %q: a number from 1 to %d is wanted", rounds, maxRounds)
	}
	p.times, p.opened = n, number
	return nil
}

func (p *parser) close(rest string) error {
	if p.times == 0 || rest != "" {
		return fmt.Errorf("end %s: no repeat is open", rest)
	}
	for round := 1; round <= p.times; round++ {
		for _, l := range p.block {
			l.text = strings.ReplaceAll(l.text, "{i}", strconv.Itoa(round))
			p.at = l.number
			if err := p.add(l, round); err != nil {
				return fmt.Errorf("in round %d: %w", round, err)
			}
		}
	}
	p.times, p.block = 0, nil
	return nil
}

// add appends the event of a line.
func (p *parser) add(l line, round int) error {
	text, want, err := cutWant(l.text)
	if err != nil {
		return err
	}
	e, err := eventOf(text)
	if err != nil {
		return err
	}
	e.Index = len(p.trace.Entries)
	e.ID = "e" + strconv.Itoa(e.Index+1)
	p.trace.Entries = append(p.trace.Entries, Entry{e, want, l.number, round})
	return nil
}

var wantMark = regexp.MustCompile(`(^|\s)//\s*want(\s|$)`)

// cutWant splits a line into its event and the wanted finding.
func cutWant(text string) (string, *Want, error) {
	at := wantMark.FindStringIndex(text)
	if at == nil {
		return text, nil, nil
	}
	rule, quoted := cutWord(text[at[1]:])
	what, err := strconv.Unquote(quoted)
	if err != nil || what == "" {
		return "", nil, fmt.Errorf(`%q: a finding is wanted as // want RULE "part of what it says"`, strings.TrimSpace(text[at[0]:]))
	}
	return strings.TrimSpace(text[:at[0]]), &Want{rule, what}, nil
}

// cutWord splits a text after its first word.
func cutWord(text string) (word, rest string) {
	text = strings.TrimSpace(text)
	if end := strings.IndexAny(text, " \t"); end >= 0 {
		return text[:end], strings.TrimSpace(text[end:])
	}
	return text, ""
}
