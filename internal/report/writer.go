package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
)

// Writer writes verdicts in one format. A run is written completely or not at all. Text from agents is made harmless: the output
// has no control characters, no changes of the writing direction, and no commands of build servers. Close ends the document,
// which is valid even without a run; it does not close the underlying writer. A Writer is not safe for concurrent use.
type Writer interface {
	Write(r *Run) error
	Close() error
}

// Options are the options of the formats. Each format uses its own.
type Options struct {
	Color   bool          // pretty: use colours
	Width   int           // pretty: columns of the screen; 0 for 100
	Verbose bool          // pretty: also show healthy runs
	Version string        // sarif: of unloop
	FailOn  policy.Action // junit: the least severe action that makes a run a failure; Allow means Warn, a value above Halt means never
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
	return nil, fmt.Errorf("unknown report format %q; formats: %s", format, strings.Join(Formats(), ", "))
}

// gravest returns the warnings in order of importance: by severity, then by score, then in their order.
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

// label returns the label of an event for people.
func label(e unloop.EventRef) string {
	if e.ID == "" {
		return fmt.Sprintf("#%d", e.Index)
	}
	return plain(e.ID)
}

// sentence appends a full stop to a text without final punctuation.
func sentence(s string) string {
	if s == "" || strings.HasSuffix(s, ".") || strings.HasSuffix(s, "…") || strings.HasSuffix(s, "!") || strings.HasSuffix(s, "?") {
		return s
	}
	return s + "."
}
