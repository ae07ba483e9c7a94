package fingerprint

import "bytes"

// Limits of what is learned of the lines around outcomes.
const (
	frameLines   = 4       // lines on each side
	frameLine    = 120     // bytes of a line that are compared
	frameWithin  = 1 << 10 // bytes on each side
	frameChanges = 3       // outcomes that differ within the lines until the lines are no content
	frameMisses  = 8       // one of so many outcomes may lack known lines
)

// Frame is what a tool writes around its outcomes: the lines that all outcomes begin and end with, whatever is between them. Ids, times and
// long numbers in them may differ. Nearly all outcomes have known lines. A Frame needs no memory that grows.
type Frame struct {
	Before, After frameEdge
}

// frameEdge is one side of a Frame.
type frameEdge struct {
	Lines    [frameLines + 1]uint32 // the shapes of the lines of the latest outcome, from the edge on; 0 for none
	Same     int                    // number of lines that all outcomes have
	Changes  int                    // how often the line next to these changed
	Outcomes int
	Misses   int // outcomes without known lines
}

// Open reports whether Add can still learn something.
func (f *Frame) Open() bool { return f.Before.open() || f.After.open() }

// Known reports whether Without can remove something.
func (f *Frame) Known() bool { return f.Before.known() || f.After.known() }

// Add adds an outcome: the inside of a JSON string. unlike means that its call is unlike the calls before it: only then does it show that what it
// has in common with others comes from the tool. Add reads the first and last lines, and nothing once outcomes had none in common.
func (f *Frame) Add(text []byte, unlike bool) {
	if f.Before.open() {
		f.Before.add(shapes(text[:min(len(text), frameWithin)], cutLabel), unlike)
	}
	if f.After.open() {
		f.After.add(shapes(text[max(0, len(text)-frameWithin):], cutLastLine), unlike)
	}
}

// Without returns the inside of a JSON string without the lines of the frame.
func (f *Frame) Without(text []byte) []byte {
	if f.Before.known() {
		text = f.Before.cut(text, cutLabel)
	}
	if f.After.known() {
		text = f.After.cut(text, cutLastLine)
	}
	return text
}

func (e *frameEdge) open() bool { return e.Outcomes == 0 || e.Same > 0 }

func (e *frameEdge) known() bool { return e.Same > 0 && e.Changes >= frameChanges }

func (e *frameEdge) add(lines [frameLines + 1]uint32, unlike bool) {
	if e.Outcomes++; e.Outcomes == 1 {
		e.Lines = lines
		for e.Same < frameLines && lines[e.Same] > tells {
			e.Same++
		}
		return
	}
	same := 0
	for same < e.Same && lines[same] == e.Lines[same] {
		same++
	}
	if same < e.Same {
		if e.known() && (e.Misses+1)*frameMisses <= e.Outcomes {
			e.Misses++
			return
		}
		e.Same, e.Changes = same, 0
	}
	if unlike && lines[e.Same] != e.Lines[e.Same] {
		e.Changes++
	}
	e.Lines = lines
}

// cut removes the lines of the edge from a text, if it has them.
func (e *frameEdge) cut(text []byte, next func([]byte) (line, rest []byte)) []byte {
	rest := text
	for k := 0; k < e.Same; {
		if len(rest) == 0 {
			return text
		}
		var line []byte
		line, rest = next(rest)
		if line = trimEscaped(line); len(line) == 0 {
			continue
		}
		if shape(line) != e.Lines[k] {
			return text
		}
		k++
	}
	return rest
}

// shapes returns the shapes of the lines of a text, from the edge on.
func shapes(text []byte, next func([]byte) (line, rest []byte)) (lines [frameLines + 1]uint32) {
	for k := 0; k < len(lines) && len(text) > 0; {
		var line []byte
		line, text = next(text)
		if line = trimEscaped(line); len(line) > 0 {
			lines[k] = shape(line)
			k++
		}
	}
	return lines
}

// cutLabel cuts a text behind a label that it begins with, such as "Observation: ", or else at its first line end.
func cutLabel(text []byte) (line, rest []byte) {
	for n, b := range text[:min(len(text), maxLabel)] {
		if b == ':' && n+1 < len(text) && text[n+1] == ' ' && n > 0 {
			return text[:n+1], text[n+2:]
		}
		if class[b]&alpha == 0 && b != ' ' && b != '_' {
			break
		}
	}
	return cutLine(text)
}

// maxLabel is the maximum number of bytes of a label.
const maxLabel = 24

// shape returns the fingerprint of a line without ids, times, and numbers of four digits or more. It is tells for a line with a word that says how
// an attempt ended, and greater for any other.
func shape(line []byte) uint32 {
	line = line[:min(len(line), frameLine)]
	h := uint32(1)
	for i := 0; i < len(line); {
		n, kinds := 0, uint8(0)
		if class[line[i]]&(start|hex) != 0 {
			if n = volatile(line, i); n > 0 {
				h = fnv(h, anyPart)
				i += n
				continue
			}
		}
		for i+n < len(line) && class[line[i+n]]&wordByte != 0 {
			kinds |= class[line[i+n]] & (digit | alpha)
			n++
		}
		switch {
		case n == 0:
			h = fnv(h, uint32(line[i]))
			n = 1
		case kinds&digit != 0 && (kinds&alpha != 0 || n >= serialDigits):
			h = fnv(h, anyPart)
		default:
			word := hashWord(line[i:], n)
			if saysOf(word)&(fails|negates|absence) != 0 {
				return tells
			}
			h = fnv(h, word)
		}
		h ^= h >> 15
		i += n
	}
	return max(h, tells+1)
}

// tells is the shape of a line that says how an attempt ended. Such a line is content.
const tells = 1

// anyPart stands for an id, a time or a long number.
const anyPart = 2

// Inside returns the inside of a raw JSON string, and any other value unchanged.
func Inside(raw []byte) []byte {
	if raw = bytes.TrimSpace(raw); len(raw) > 1 && raw[0] == '"' && raw[len(raw)-1] == '"' {
		return raw[1 : len(raw)-1]
	}
	return raw
}
