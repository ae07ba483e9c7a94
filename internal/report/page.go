package report

import (
	"bytes"
	"strings"

	"github.com/rivo/uniseg"
)

// style is the appearance of a piece of a line, as parameters of a terminal.
type style string

const (
	regular style = ""
	bold    style = "1"
	faint   style = "2"
	red     style = "31"
	green   style = "32"
	yellow  style = "33"
	blue    style = "34"
	changed style = "1;33" // the difference to the previous step; in brackets without colour
)

// span is a piece of a line. Its text is plain.
type span struct {
	style style
	text  string
}

// page collects lines for a screen.
type page struct {
	bytes.Buffer
	color bool
	width int // columns
}

// line adds a line that begins at a column.
func (p *page) line(indent int, spans ...span) {
	if likeCommand(spans) {
		p.WriteByte('\\')
	}
	p.WriteString(strings.Repeat(" ", indent))
	for _, s := range spans {
		p.span(s)
	}
	p.WriteByte('\n')
}

// likeCommand reports whether a build server would interpret a line as a command.
func likeCommand(spans []span) bool {
	for _, s := range spans {
		if text := strings.TrimLeft(s.text, " "); text != "" {
			return strings.HasPrefix(text, "::")
		}
	}
	return false
}

func (p *page) span(s span) {
	switch {
	case s.text == "":
	case p.color && s.style != regular:
		p.WriteString("\x1b[" + string(s.style) + "m" + s.text + "\x1b[0m")
	default:
		p.WriteString(s.text)
	}
}

// maxLines is the approximate maximum number of displayed lines of a text. Agents may send megabytes.
const maxLines = 20

// paragraph adds a text after a head. Its further lines are aligned with its beginning. An empty text has no head.
func (p *page) paragraph(indent int, head span, body style, text string) {
	if text == "" {
		return
	}
	at := indent + columns(head.text)
	for k, part := range wrap(fit(text, maxLines*p.width), p.width-at) {
		if k == 0 {
			p.line(indent, head, span{body, part})
			continue
		}
		p.line(at, span{body, part})
	}
}

// columns returns the width of a text on a screen in columns.
func columns(s string) int { return uniseg.StringWidth(s) }

// pad pads a text to a number of columns.
func pad(s string, to int) string { return s + strings.Repeat(" ", max(0, to-columns(s))) }

// fit cuts a text to a number of columns.
func fit(s string, to int) string {
	if columns(s) <= to {
		return s
	}
	head, _ := cut(s, max(1, to-1))
	return strings.TrimRight(head, " ") + "…"
}

// fitEnd cuts the beginning of a text, so that its end fits into a number of columns. It cuts at the beginning of a word if there
// is one.
func fitEnd(s string, to int) string {
	if columns(s) <= to {
		return s
	}
	_, tail := cut(s, columns(s)-max(1, to-1))
	if _, word, ok := strings.Cut(tail, " "); ok {
		return "… " + word
	}
	return "…" + tail
}

// cut splits a text after a number of columns, or before a wide character that does not fit. The first part has at least one
// character.
func cut(s string, at int) (head, tail string) {
	end, used := 0, 0
	for state, rest := -1, s; rest != ""; {
		var cluster string
		var w int
		cluster, rest, w, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if used+w > at && end > 0 {
			break
		}
		used += w
		end += len(cluster)
	}
	return s[:end], s[end:]
}

// wrap breaks a text into lines of a number of columns: between words, after a comma, or otherwise at the full line.
func wrap(s string, to int) []string {
	var lines []string
	line, used := "", 0 // columns, counted once: a character may have any number of bytes
	for _, word := range strings.Fields(s) {
		space := " "
		for _, part := range strings.SplitAfter(word, ",") {
			if line == "" {
				space = ""
			}
			width := columns(part)
			if used+len(space)+width > to && line != "" {
				lines = append(lines, line)
				line, space, used = "", "", 0
			}
			for width > to {
				var head string
				head, part = cut(part, to)
				lines = append(lines, head)
				width = columns(part)
			}
			line += space + part
			used += len(space) + width
			space = ""
		}
	}
	return append(lines, line)
}
