package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/unloop-ai/unloop/policy"
)

// Markdown returns a writer that writes a page at Close, for the summary of a job or the text of an issue: a sentence about all
// runs, and a table of at most maxMarkdownRows warnings. The rows are kept until Close.
func Markdown(w io.Writer) Writer { return &markdownWriter{w: w} }

// maxMarkdownRows bounds the table, because GitHub displays at most 1 MiB of a job's summary.
const maxMarkdownRows = 200

type markdownWriter struct {
	w       io.Writer
	runs    int
	looping int
	rows    []string
	dropped int
}

func (m *markdownWriter) Write(r *Run) error {
	m.runs++
	if len(r.Warnings)+len(r.Decisions) > 0 {
		m.looping++
	}
	decision := "none"
	if worst := r.Worst(); worst > policy.Allow {
		decision = "would have " + verbs[worst]
	}
	for _, w := range gravest(r.Warnings) {
		if len(m.rows) >= maxMarkdownRows {
			m.dropped++
			continue
		}
		place := r.Source
		if w.Line > 0 {
			place += fmt.Sprint(":", w.Line)
		}
		m.rows = append(m.rows, fmt.Sprintf("| %s | %s | %s | %s | %s | %s |\n",
			cell(r.ID), decision, cell(w.Rule), cell(sentence(w.What)), cell(w.Try), cell(place)))
	}
	return nil
}

// Close writes the page.
func (m *markdownWriter) Close() error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "### unloop: %s, %d with warnings\n", number(m.runs, "run"), m.looping)
	if len(m.rows) > 0 {
		b.WriteString("\n| run | policy | rule | what happened | what to try | where |\n|---|---|---|---|---|---|\n")
	}
	for _, row := range m.rows {
		b.WriteString(row)
	}
	if m.dropped > 0 {
		fmt.Fprintf(&b, "\n%s more.\n", number(m.dropped, "warning"))
	}
	_, err := m.w.Write(b.Bytes())
	return err
}

// markdownCharacters escapes the characters that Markdown or HTML interpret, as character references.
var markdownCharacters = func() *strings.Replacer {
	var pairs []string
	for _, c := range "\\`*_{}[]()<>#+!|&~@:" {
		pairs = append(pairs, string(c), fmt.Sprintf("&#%d;", c))
	}
	return strings.NewReplacer(pairs...)
}()

// cell escapes and shortens a text for a cell of a table.
func cell(s string) string { return markdownCharacters.Replace(fit(plain(s), 300)) }
