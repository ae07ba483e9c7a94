package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/unloop-ai/unloop/internal/report"
)

// plainWriter writes text for a terminal. Names of files, runs and events come from others: what would do more than be read
// is shown as in a Go string. Lines stay lines. Each Write must end at the end of a character.
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

// complain tells a person what is wrong, in a line that begins with the program's name; lines of the message that follow are
// indented, so that none of them looks like another message.
func complain(w io.Writer, message any) {
	text := strings.ReplaceAll(fmt.Sprint(message), "\n", "\n  ")
	fmt.Fprintf(plainWriter{w}, "unloop: %s\n", text)
}
