package cli

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// helpWidth is the number of columns of a help text that does not go to a terminal.
const helpWidth = 120

// wrapHelp makes the help of all commands fit the terminal, or helpWidth.
func wrapHelp(root *cobra.Command) {
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		out, width := cmd.OutOrStdout(), helpWidth
		if isTerminal(out) {
			width = screenWidth(out)
		}
		var text bytes.Buffer
		cmd.SetOut(&text)
		help(cmd, args)
		cmd.SetOut(out)
		_, _ = io.WriteString(out, wrapped(text.String(), width))
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
