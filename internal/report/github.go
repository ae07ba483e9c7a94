package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/unloop-ai/unloop"
)

// GitHub returns a writer that writes each warning as a workflow command. GitHub displays it as an annotation of the run's file,
// at the line of the culprit if it is known. It writes nothing else.
func GitHub(w io.Writer) Writer { return &githubWriter{w} }

type githubWriter struct{ w io.Writer }

func (g *githubWriter) Write(r *Run) error {
	var b bytes.Buffer
	for _, w := range gravest(r.Warnings) {
		fmt.Fprintf(&b, "::%s file=%s%s,title=%s::%s\n", command(w.Severity),
			property(r.Source), lineProperty(w.Line), property(w.Rule+" in run "+r.ID), message(sentence(w.What), "Why: "+w.Why, "Try: "+w.Try))
	}
	if b.Len() == 0 {
		return nil
	}
	_, err := g.w.Write(b.Bytes())
	return err
}

// Close does nothing: an empty list of commands is valid.
func (g *githubWriter) Close() error { return nil }

func lineProperty(line int) string {
	if line == 0 {
		return ""
	}
	return fmt.Sprint(",line=", line)
}

func command(s unloop.Severity) string {
	switch s {
	case unloop.SeverityCritical:
		return "error"
	case unloop.SeverityInfo:
		return "notice"
	}
	return "warning"
}

var (
	commandData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	commandProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// property escapes the value of a property of a workflow command.
func property(s string) string { return commandProperty.Replace(plain(s)) }

// message joins lines to the text of a workflow command.
func message(lines ...string) string {
	for k := range lines {
		lines[k] = plain(lines[k])
	}
	return commandData.Replace(strings.Join(lines, "\n"))
}
