package fingerprint

import "bytes"

// ErrorText returns the line of an error's text that people and models read, as a part of raw JSON. It selects like ErrorLine, but it reads
// past what surrounds the words of a tool: tags, the margin of pytest, lines of signs around a heading, and a bare exit status. It returns
// nil if nothing is left. ErrorLine, which the class of an error depends on, keeps these parts.
func ErrorText(raw []byte) []byte {
	text := raw
	if len(text) > 1 && text[0] == '"' {
		text = text[1 : len(text)-1]
	}
	var lines errorLines
	head, tail := ends(text)
	lines.readText(head)
	_, tail = cutLine(tail) // its first line may have lost its beginning
	lines.readText(tail)
	return lines.best()
}

func (e *errorLines) readText(text []byte) {
	for len(text) > 0 {
		var line []byte
		line, text = cutFailure(text)
		if line = bareLine(line); len(line) > 0 {
			e.add(line)
		}
	}
}

// cutFailure cuts a text at its first line end, like cutLine. To the lines of Go that name a failed test and its subtests belongs the line
// behind them, which says why.
func cutFailure(text []byte) (line, rest []byte) {
	line, rest = cutLine(text)
	for last := line; bytes.HasPrefix(trimEscaped(last), []byte("--- FAIL: ")) && len(rest) > 0; {
		last, rest = cutLine(rest)
		line = text[:len(text)-len(rest)]
	}
	return line, rest
}

// bareLine returns a line without the tags around it and without the margin that pytest writes before an error. It returns nil for a line
// that is a heading between signs, or an exit status.
func bareLine(line []byte) []byte {
	line = trimEscaped(withoutTags(trimEscaped(line)))
	if rest, ok := bytes.CutPrefix(line, []byte("E  ")); ok { // pytest
		line = bytes.TrimSpace(rest)
	}
	if isHeading(line) || bytes.HasPrefix(line, []byte("Exit code ")) && len(line) < maxStatus/2 {
		return nil
	}
	return line
}

// tagEnds are the ends of a tag, plain and escaped for HTML in JSON. tagStarts are the beginnings of one.
var (
	tagStarts = [][]byte{[]byte("<"), []byte(`\u003c`)}
	tagEnds   = [][]byte{[]byte(">"), []byte(`\u003e`)}
)

// withoutTags cuts a tag without attributes at the beginning of a line, and a closing tag at its end.
func withoutTags(line []byte) []byte {
	for k, start := range tagStarts {
		if rest, ok := bytes.CutPrefix(line, start); ok {
			name, behind, closed := bytes.Cut(rest, tagEnds[k])
			if name = bytes.TrimPrefix(name, []byte("/")); closed && isTagName(name) {
				line = behind
			}
		}
		if rest, ok := bytes.CutSuffix(line, tagEnds[k]); ok {
			at := bytes.LastIndex(rest, start)
			if at >= 0 && isTagName(bytes.TrimPrefix(rest[at+len(start):], []byte("/"))) && rest[at+len(start)] == '/' {
				line = rest[:at]
			}
		}
	}
	return line
}

// maxTagName is the maximum length of the name of a tag that wraps an output.
const maxTagName = 40

func isTagName(name []byte) bool {
	return len(name) > 0 && len(name) <= maxTagName && count(name, wordByte) == len(name)
}

// isHeading reports whether a line begins and ends with at least three of the same sign, as "==== FAILURES ====" does. The first line of a
// private key is none: a line behind it, without it, would be quoted as if it were no secret.
func isHeading(line []byte) bool {
	const least = 3
	if len(line) < least || bytes.IndexByte([]byte("=-_*#~!"), line[0]) < 0 || bytes.HasPrefix(line, []byte("-----BEGIN ")) {
		return false
	}
	for k := range least {
		if line[k] != line[0] || line[len(line)-1-k] != line[0] {
			return false
		}
	}
	return true
}
