package ingest

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

func TestAnInputKnowsTheLineOfTheValueThatIsDecoded(t *testing.T) {
	t.Run("lines, blank ones counted", func(t *testing.T) {
		in := NewInput("a.jsonl", "a", strings.NewReader("{}\n\n{}\n"))
		var lines []int
		if err := in.EachLine(func(Line) error { lines = append(lines, in.Line()); return nil }); err != nil {
			t.Fatal(err)
		}
		if want := []int{1, 3}; !slices.Equal(lines, want) {
			t.Errorf("lines %v, want %v", lines, want)
		}
		if in.Line() != 0 {
			t.Errorf("line %d after the last value, want 0: what is emitted then is from no line in particular", in.Line())
		}
	})
	t.Run("the elements of an array, however it is laid out", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			var text strings.Builder
			var want []int
			line := 1
			space := func() {
				n := rapid.IntRange(0, 3).Draw(t, "blank lines")
				text.WriteString(strings.Repeat("\n", n) + strings.Repeat(" ", rapid.IntRange(0, 9000).Draw(t, "spaces")))
				line += n
			}
			space()
			text.WriteByte('[')
			for k := range rapid.IntRange(0, 20).Draw(t, "elements") {
				if k > 0 {
					text.WriteByte(',')
				}
				space()
				want = append(want, line)
				text.WriteString("{\n\"a\":1}")
				line++
				space()
			}
			text.WriteByte(']')
			var lines []int
			in := NewInput("a.json", "a", strings.NewReader(text.String()))
			if err := in.Elements(func(int, jsontext.Value) error { lines = append(lines, in.Line()); return nil }); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(lines, want) {
				t.Errorf("lines %v, want %v", lines, want)
			}
		})
	})
}
