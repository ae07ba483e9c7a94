package fingerprint

import "bytes"

// Limits of what is read of a command and of where an output repeats it.
const (
	maxEcho    = 96      // bytes of the first line of a command
	leastEcho  = 2       // bytes of a command
	echoStart  = 8       // bytes of a command that are searched for
	echoWithin = 320     // bytes at the beginning of an output in which the command is searched for
	maxPrompt  = 100     // bytes of a prompt
	maxLines   = 1 << 15 // lines of a command
)

// Echo is the beginning of a command line. With it Unwrap recognizes that an output repeats the command: behind the prompt of a terminal, or
// in a line of an agent's program.
type Echo struct {
	Start  [echoStart]byte `json:",omitzero"`
	Length int             `json:",omitzero"` // bytes of the first line of the command, at most maxEcho; 0 if it is too short
	Sum    uint32          `json:",omitzero"` // their fingerprint
	Lines  int             `json:",omitzero"` // of the command
	Spaced bool            `json:",omitzero"` // its first line has several words
}

// EchoOf returns the Echo of a command line, as text. It reads its first line, and counts the others.
func EchoOf(command []byte) (e Echo) {
	command = bytes.TrimSpace(command)
	line, _, _ := bytes.Cut(command, []byte{'\n'})
	if line = line[:min(len(line), maxEcho)]; len(line) < leastEcho {
		return Echo{}
	}
	e.Lines = min(1+bytes.Count(command, []byte{'\n'}), maxLines)
	e.Length, e.Spaced = len(line), bytes.IndexByte(line, ' ') > 0
	copy(e.Start[:], line)
	for _, b := range line {
		e.Sum = fnv(e.Sum, uint32(b))
	}
	return e
}

// start returns the first bytes of the command, up to one that JSON escapes.
func (e *Echo) start() []byte {
	start := e.Start[:min(e.Length, echoStart)]
	for k, b := range start {
		if b == '"' || b == '\\' || b < ' ' {
			return start[:k]
		}
	}
	return start
}

// behind returns the inside of a JSON string without the command and what is before it. In the view of a terminal, which ends with the
// prompt that stands before the command, the last such command counts. In other texts the command has to be near the beginning, at the end of a
// line or in quotes.
func (e *Echo) behind(text []byte) []byte {
	start := e.start()
	if len(start) < leastEcho {
		return text
	}
	if rest, ok := e.behindPrompt(text); ok {
		return rest
	}
	head := text[:min(len(text), echoWithin)]
	for from := 0; ; from++ {
		at := bytes.Index(head[from:], start)
		if at < 0 {
			return text
		}
		from += at
		if before := beforeInLine(text[:from]); len(before) == 0 && !e.Spaced || len(before) > 0 && !separates(before[len(before)-1]) {
			continue
		}
		if rest, ok := e.after(text[from:]); ok {
			return rest
		}
	}
}

// behindPrompt is behind for a text that ends with a prompt.
func (e *Echo) behindPrompt(text []byte) (rest []byte, ok bool) {
	last, before := cutLastLine(text)
	prompt := bytes.TrimSpace(last)
	if len(prompt) == 0 || len(prompt) > maxPrompt || bytes.IndexByte([]byte("#$%>"), prompt[len(prompt)-1]) < 0 {
		return nil, false
	}
	for at := bytes.LastIndex(before, prompt); at >= 0; at = bytes.LastIndex(before[:at], prompt) {
		if len(beforeInLine(before[:at])) > 0 {
			continue
		}
		if rest, ok := e.after(bytes.TrimLeft(before[at+len(prompt):], " ")); ok {
			return rest, true
		}
	}
	return nil, false
}

// after returns what follows the lines of the command, if the inside of a JSON string begins with it.
func (e *Echo) after(text []byte) (rest []byte, ok bool) {
	sum, at := uint32(0), 0
	for range e.Length {
		if at >= len(text) {
			return nil, false
		}
		b := text[at]
		if at++; b == '\\' && at < len(text) {
			switch b = text[at]; b {
			case 't':
				b = '\t'
			case 'n', 'r':
				return nil, false
			case 'u':
				r, known := hex4(text[at+1:])
				if !known || r >= 0x80 {
					return nil, false
				}
				b = byte(r)
				at += len("0000")
			}
			at++
		}
		sum = fnv(sum, uint32(b))
	}
	line, rest := cutLine(text[at:])
	if line = bytes.TrimSpace(line); sum != e.Sum || e.Length < maxEcho && len(line) > 0 && !quotes(line[0]) {
		return nil, false
	}
	for k := 1; k < e.Lines && rest != nil; k++ {
		_, rest = cutLine(rest)
	}
	return rest, true
}

// beforeInLine returns what is before the end of a text in its last line.
func beforeInLine(text []byte) []byte {
	line, _ := cutLastLine(text[max(0, len(text)-2*maxPrompt):])
	return line
}

// separates reports whether a command can begin behind a byte.
func separates(b byte) bool { return b == ' ' || quotes(b) }

// quotes reports whether a byte can stand before and behind a command that is quoted.
func quotes(b byte) bool { return b == '\'' || b == '"' || b == '`' || b == '\\' }
