package cli

import (
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// screenWidth returns the width of w in columns, between 60 and 140, or 100 if w is not a terminal.
func screenWidth(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil {
			return min(max(columns, 60), 140)
		}
	}
	return 100
}

// printTable writes rows of a name and a description. On a terminal a long description has several lines in its column. Elsewhere a row is one
// line, for programs that read lines.
func printTable(w io.Writer, rows [][2]string) error {
	names, width := 0, 1<<20
	for _, row := range rows {
		names = max(names, utf8.RuneCountInString(row[0]))
	}
	if isTerminal(w) {
		width = screenWidth(w)
	}
	var out strings.Builder
	for _, row := range rows {
		name := row[0] + strings.Repeat(" ", names-utf8.RuneCountInString(row[0])+2)
		fill(&out, name, strings.Repeat(" ", names+2), row[1], width)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// fill writes words in lines of a width. The first line begins with first, the others with rest.
func fill(out *strings.Builder, first, rest, words string, width int) {
	if words == "" {
		return
	}
	out.WriteString(first)
	at := utf8.RuneCountInString(first)
	for k, word := range strings.Fields(words) {
		long := utf8.RuneCountInString(word)
		if k > 0 && at+1+long > width {
			out.WriteString("\n" + rest)
			at = utf8.RuneCountInString(rest)
		} else if k > 0 {
			out.WriteString(" ")
			at++
		}
		out.WriteString(word)
		at += long
	}
	out.WriteString("\n")
}
