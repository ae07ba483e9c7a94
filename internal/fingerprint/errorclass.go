package fingerprint

import (
	"bytes"

	"github.com/zeebo/xxh3"
)

// maxClassed is the number of bytes of a line that are compared, after masking.
const maxClassed = 160

// ErrorClass returns the fingerprint of the kind of error that a line from ErrorLine describes. Numbers, ids, quoted parts, paths and
// volatile parts are masked, so the same error in another file or with another argument has the same class. The class of an empty
// line is 0.
func ErrorClass(line []byte) Hash {
	if len(line) == 0 {
		return 0
	}
	var masked [maxClassed]byte
	out := masked[:0]
	noPath := 0
	for i := 0; i < len(line) && len(out) < cap(out); {
		end, kind := classedToken(line, i, &noPath)
		switch kind {
		case 0:
			out = append(out, line[i]|0x20)
		default:
			out = append(out, kind)
		}
		i = end
	}
	return Hash(xxh3.Hash(out))
}

// classedToken returns the end of the token at line[i] and the byte that replaces it, or 0 for a byte that is kept. The line has no
// path up to noPath. This bound makes the search for paths linear.
func classedToken(line []byte, i int, noPath *int) (end int, kind byte) {
	b := line[i]
	if b == '\'' || b == '"' || b == '`' {
		if n := bytes.IndexByte(line[i+1:], b); n >= 0 {
			return i + n + 2, 'Q'
		}
		return i + 1, 0
	}
	if i > 0 && class[line[i-1]]&wordByte != 0 || class[b]&wordByte == 0 && b != '/' && b != '.' && b != '~' {
		return i + 1, 0
	}
	if class[b]&wordByte != 0 {
		if n := volatile(line, i); n > 0 {
			return i + n, 'V'
		}
	}
	if i >= *noPath {
		end, path := pathEnd(line, i)
		if path {
			return end, 'P'
		}
		if isID(line[i:end]) { // else no later part of these bytes is one
			return end, 'I'
		}
		*noPath = end
	}
	if class[b]&digit != 0 {
		return i + max(1, count(line[i:], digit)), 'N'
	}
	return i + 1, 0
}

// pathEnd returns the end of the bytes from line[i] that a path can have, and whether one of them is a slash.
func pathEnd(line []byte, i int) (end int, path bool) {
	for end = i; end < len(line); end++ {
		switch b := line[end]; {
		case b == '/':
			path = true
		case class[b]&wordByte == 0 && b != '.' && b != '-' && b != '~':
			return end, path
		}
	}
	return end, path
}

// leastID is the least length of an id. A shorter word of letters and digits may be the code of an error.
const leastID = 8

func isID(word []byte) bool {
	kinds := uint8(0)
	for _, b := range word {
		kinds |= class[b] & (digit | alpha)
	}
	return len(word) >= leastID && kinds == digit|alpha
}

// ErrorLine returns the most significant line of an error's text, as raw JSON: the last line that begins with the name of an error
// ("ValueError: …"), else the first line with a word such as error, failed or not found, else the first line. The result is a part
// of raw. Of a text over MaxClassified bytes, its two ends are read.
func ErrorLine(raw []byte) []byte {
	if string(raw) == "null" {
		return nil // an output that says nothing
	}
	text := raw
	if len(text) > 1 && text[0] == '"' {
		text = text[1 : len(text)-1]
	}
	var lines errorLines
	head, tail := ends(text)
	lines.read(head)
	_, tail = cutLine(tail) // its first line may have lost its beginning
	lines.read(tail)
	return lines.best()
}

// errorLines are the candidates for ErrorLine: the first line, the first one with a telling word, and the last one that begins with
// the name of an error.
type errorLines struct{ first, telling, named []byte }

func (e *errorLines) read(text []byte) {
	for len(text) > 0 {
		var line []byte
		line, text = cutLine(text)
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] == '<' || bytes.HasPrefix(line, []byte(`\u003c`)) {
			continue // a tag that wraps the output
		}
		e.add(line)
	}
}

func (e *errorLines) add(line []byte) {
	if e.first == nil {
		e.first = line
	}
	if e.telling == nil && TellsOfFailure(line) {
		e.telling = line
	}
	if namesError(line) {
		e.named = line
	}
}

// best returns the most significant of the lines, or nil without a line.
func (e *errorLines) best() []byte {
	switch {
	case e.named != nil:
		return e.named
	case e.telling != nil:
		return e.telling
	}
	return e.first
}

// cutLine cuts a text at its first line end, which is plain or escaped as in JSON.
func cutLine(text []byte) (line, rest []byte) {
	for i := indexEither(text, 0, '\n', '\\'); i < len(text); i = indexEither(text, i+2, '\n', '\\') {
		switch {
		case text[i] == '\n':
			return text[:i], text[i+1:]
		case i+1 < len(text) && text[i+1] == 'n':
			return text[:i], text[i+2:]
		}
	}
	return text, nil
}

// namesError reports whether a line begins with a name like ValueError, io.EOFException or error and a colon.
func namesError(line []byte) bool {
	n := 0
	for n < len(line) && (class[line[n]]&wordByte != 0 || line[n] == '.') {
		n++
	}
	if n == 0 || n == len(line) || line[n] != ':' {
		return false
	}
	name := line[:n]
	return bytes.HasSuffix(name, []byte("Error")) || bytes.HasSuffix(name, []byte("Exception")) || bytes.EqualFold(name, []byte("error"))
}

var tellingWords = [...]string{"rror", "xception", "ailed", "FAIL", "ot found", "enied", "o such", "annot", "nvalid", "imed out", "imeout", "efused", "nknown", "unexpected", "ould not"}

// TellsOfFailure reports whether a line has a word such as error, failed or not found.
func TellsOfFailure(line []byte) bool {
	for _, w := range tellingWords {
		if bytes.Contains(line, []byte(w)) {
			return true
		}
	}
	return false
}
