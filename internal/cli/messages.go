package cli

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/unloop-ai/unloop/internal/report"
	"github.com/unloop-ai/unloop/internal/settings"
)

// plainWriter writes text for a terminal. Names of files, runs and events are untrusted, so control characters are escaped as in
// a Go string, except line feeds. Each Write must end at the end of a character.
type plainWriter struct{ w io.Writer }

func (p plainWriter) Write(text []byte) (int, error) {
	lines := bytes.Split(text, []byte("\n"))
	for k, line := range lines {
		lines[k] = []byte(report.Plain(string(line)))
	}
	if _, err := p.w.Write(bytes.Join(lines, []byte("\n"))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// complain prints a message in a line that starts with the program's name. Further lines of the message are indented, to
// distinguish them from other messages. A line is not repeated, as that of a driver that tried an address twice.
func complain(w io.Writer, message any) {
	lines := strings.Split(fmt.Sprint(message), "\n")
	for k := range lines[1:] {
		lines[k+1] = "  " + strings.ReplaceAll(lines[k+1], "\t", "  ")
	}
	fmt.Fprintf(plainWriter{w}, "unloop: %s\n", strings.Join(slices.Compact(lines), "\n"))
}

// suggest adds the most similar name to an error about an unknown word. It returns err unchanged if the word is one of the names,
// because the error then has another cause, or if no name is similar.
func suggest(err error, word string, names []string) error {
	if err == nil || slices.Contains(names, word) {
		return err
	}
	return fmt.Errorf("%w%s", err, settings.DidYouMean(word, names))
}

// plural returns a number with its noun.
func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}
