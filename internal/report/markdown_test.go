package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/unloop-ai/unloop"
)

func TestMarkdown(t *testing.T) {
	t.Run("no loops", func(t *testing.T) {
		want := "### unloop: 2 runs, 0 with warnings\n"
		if diff := cmp.Diff(want, string(write(t, "markdown", Options{}, healthyRun(), healthyRun()))); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("the table is bounded, and what is left out is counted", func(t *testing.T) {
		r := &Run{ID: "a"}
		for k := range maxMarkdownRows + 5 {
			r.Warnings = append(r.Warnings, Warning{Finding: unloop.Finding{Rule: fmt.Sprint("rule", k)}})
		}
		got := string(write(t, "markdown", Options{}, r))
		if n := strings.Count(got, "| a |"); n != maxMarkdownRows {
			t.Errorf("%d rows, want %d", n, maxMarkdownRows)
		}
		if !strings.HasSuffix(got, "\n5 warnings more.\n") {
			t.Errorf("it ends with %q", got[len(got)-40:])
		}
	})
	t.Run("no text of an agent is markup, or leaves its cell", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			text := rapid.StringOf(rapid.RuneFrom([]rune("a|\n\r<>[](){}*_`!#&~@:\\/ "))).Draw(t, "text")
			r := &Run{ID: text, Source: text, Warnings: []Warning{{Finding: unloop.Finding{Rule: text, What: text, Try: text}}}}
			rows := strings.Split(string(markdownOf(t, r)), "\n")
			row := rows[len(rows)-2]
			if n := strings.Count(row, "|"); n != 7 {
				t.Errorf("%d bars in %s", n, row)
			}
			if strings.ContainsAny(strings.ReplaceAll(row, "|", ""), "<>[]()*_`!~@") {
				t.Errorf("markup in %s", row)
			}
		})
	})
}

// markdownOf writes a run inside a property, which has no *testing.T.
func markdownOf(t *rapid.T, r *Run) []byte {
	var out strings.Builder
	w := Markdown(&out)
	if err := w.Write(r); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return []byte(out.String())
}
