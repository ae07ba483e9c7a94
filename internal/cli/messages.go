package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/unloop-ai/unloop/internal/report"
)

// plainWriter writes text for a terminal. Names of files, runs and events are untrusted: control characters in them are escaped as
// in a Go string. Line feeds are kept. Each Write must end at the end of a character.
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

// complain prints a message in a line that starts with the program's name. Further lines of the message are indented, so that none
// of them looks like another message.
func complain(w io.Writer, message any) {
	text := strings.ReplaceAll(fmt.Sprint(message), "\n", "\n  ")
	fmt.Fprintf(plainWriter{w}, "unloop: %s\n", text)
}
