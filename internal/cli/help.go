package cli

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// wrapHelp makes the help of all commands fit the terminal. Without a terminal it stays at 120 columns.
func wrapHelp(root *cobra.Command) {
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		out := cmd.OutOrStdout()
		if !isTerminal(out) {
			help(cmd, args)
			return
		}
		var text bytes.Buffer
		cmd.SetOut(&text)
		help(cmd, args)
		cmd.SetOut(out)
		_, _ = io.WriteString(out, wrapped(text.String(), screenWidth(out)))
	})
}

// column is the name at the beginning of a line, with the spaces up to its description.
var column = regexp.MustCompile(`^\s+\S.*?\s{2,}`)

// wrapped breaks the lines of a help text to a width. Lines of a paragraph are joined first, a description stays in its column, and
// examples are not broken.
func wrapped(text string, width int) string {
	var out strings.Builder
	var paragraph []string
	flush := func() {
		fill(&out, "", "", strings.Join(paragraph, " "), width)
		paragraph = nil
	}
	examples := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \n")
		indented := strings.HasPrefix(line, " ")
		if line != "" && !indented && (len(paragraph) > 0 || !strings.HasSuffix(line, ":")) {
			paragraph = append(paragraph, line)
			continue
		}
		flush()
		if !indented && line != "" {
			examples = line == "Examples:"
		}
		name := column.FindString(line)
		if examples || name == "" || utf8.RuneCountInString(line) <= width {
			out.WriteString(line + "\n")
			continue
		}
		fill(&out, name, strings.Repeat(" ", min(utf8.RuneCountInString(name), width/2)), line[len(name):], width)
	}
	flush()
	return out.String()
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
