package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
)

// Writer writes verdicts in one format. A run is written whole or not at all, and what comes from an agent is made
// harmless: no control character, no change of the writing direction, and no command of a build server reaches the
// output. Close ends the document, which is valid even if there was no run; it does not close what is written to. A
// Writer is not safe for concurrent use.
type Writer interface {
	Write(r *Run) error
	Close() error
}

// Options are what the formats need to know; each takes what is its own.
type Options struct {
	Color   bool          // pretty: use colours
	Width   int           // pretty: columns of the screen; 0 for 100
	Verbose bool          // pretty: also show healthy runs
	Version string        // sarif: of unloop
	FailOn  policy.Action // junit: the least action that makes a run a failure; Allow stands for Warn, over Halt for never
}

// Formats returns the names of the formats.
func Formats() []string { return []string{"pretty", "json", "sarif", "junit", "github", "markdown"} }

// New returns a writer of the format with the name, or an error that lists the names.
func New(format string, w io.Writer, o Options) (Writer, error) {
	switch format {
	case "pretty":
		return Pretty(w, PrettyOptions{Color: o.Color, Width: o.Width, Verbose: o.Verbose}), nil
	case "json":
		return JSON(w), nil
	case "sarif":
		return SARIF(w, o.Version), nil
	case "junit":
		return JUnit(w, o.FailOn), nil
	case "github":
		return GitHub(w), nil
	case "markdown":
		return Markdown(w), nil
	}
	return nil, fmt.Errorf("there is no report format %q; there are %s", format, strings.Join(Formats(), ", "))
}

// gravest returns the warnings with those first that matter most: by severity, then by score, else as they come.
func gravest(warnings []Warning) []*Warning {
	sorted := make([]*Warning, len(warnings))
	for k := range warnings {
		sorted[k] = &warnings[k]
	}
	slices.SortStableFunc(sorted, func(a, b *Warning) int {
		if a.Severity != b.Severity {
			return rank(b.Severity) - rank(a.Severity)
		}
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return 0
	})
	return sorted
}

func rank(s unloop.Severity) int {
	switch s {
	case unloop.SeverityCritical:
		return 2
	case unloop.SeverityWarning:
		return 1
	}
	return 0
}

// label names an event for people.
func label(e unloop.EventRef) string {
	if e.ID == "" {
		return fmt.Sprintf("#%d", e.Index)
	}
	return plain(e.ID)
}

// sentence ends a text with a full stop, unless it ends like a sentence already.
func sentence(s string) string {
	if s == "" || strings.HasSuffix(s, ".") || strings.HasSuffix(s, "…") || strings.HasSuffix(s, "!") || strings.HasSuffix(s, "?") {
		return s
	}
	return s + "."
}
