package report

import (
	"bytes"
	"strings"

	"github.com/rivo/uniseg"
)

// style is how a piece of a line looks, as a terminal's parameters.
type style string

const (
	regular style = ""
	bold    style = "1"
	faint   style = "2"
	red     style = "31"
	green   style = "32"
	yellow  style = "33"
	blue    style = "34"
	changed style = "1;33" // what differs from the step before; in brackets without colour
)

// span is a piece of a line. Its text is plain.
type span struct {
	style style
	text  string
}

// page gathers lines for a screen.
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

// likeCommand reports whether a build server would take a line for a command to itself.
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

// maxLines is about how many lines of a text are shown: nobody reads more, and agents may send megabytes.
const maxLines = 20

// paragraph adds a text that begins after a head and goes on below its beginning. Without a text there is no head.
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

// columns returns how many columns a text takes on a screen.
func columns(s string) int { return uniseg.StringWidth(s) }

// pad fills a text up to so many columns.
func pad(s string, to int) string { return s + strings.Repeat(" ", max(0, to-columns(s))) }

// fit cuts a text to so many columns.
func fit(s string, to int) string {
	if columns(s) <= to {
		return s
	}
	head, _ := cut(s, max(1, to-1))
	return strings.TrimRight(head, " ") + "…"
}

// fitEnd cuts a text to so many columns, and keeps its end, from the beginning of a word if there is one.
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

// cut splits a text after so many columns, or a little before where a wide character does not fit, but takes one
// character at least.
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

// wrap breaks a text into lines of so many columns: between words, after a comma, or else where the line is full.
func wrap(s string, to int) []string {
	var lines []string
	line, used := "", 0 // columns, counted once: a character may be of any number of bytes
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
