package trace

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A server may store spans without their content. After a restart it has these, and receives others with content.
func TestSpansWithoutContentAreRelatedToOthers(t *testing.T) {
	cut := func(text string) string { return strings.Repeat("x", len(text)) }
	rapid.Check(t, func(t *rapid.T) {
		spans := genDialogue(t)
		first, others := divide(spans, rapid.IntRange(0, len(spans)).Draw(t, "stored"))
		stored := slices.Clone(first)
		for i := range stored {
			stored[i].Messages = CutMessages(stored[i].Messages, cut)
			if again := CutMessages(stored[i].Messages, cut); again != stored[i].Messages {
				t.Fatalf("%s is cut again: %s", stored[i].Messages, again)
			}
		}
		ids := func(known []Span) map[string]int {
			trace, s := New(), make(stage)
			s.play(t, trace.Add(known))
			s.play(t, trace.Add(others))
			return s.ids()
		}
		if diff := cmp.Diff(ids(first), ids(stored)); diff != "" {
			t.Fatalf("-with +without content:\n%s", diff)
		}
	})
}

// divide returns the first n spans, without copies of each other as in a store, and those of the others that are copies of none of
// them: of copies, the one with more content counts.
func divide(spans []Span, n int) (first, others []Span) {
	known := map[string]bool{}
	for _, s := range spans[:n] {
		if !known[s.ID] {
			known[s.ID] = true
			first = append(first, s)
		}
	}
	for _, s := range spans[n:] {
		if !known[s.ID] {
			others = append(others, s)
		}
	}
	return first, others
}

func TestShorten(t *testing.T) {
	for _, c := range []struct {
		says, text, want string
		most             int
	}{
		{"a short text stays", "ab cd", "ab cd", 5},
		{"a word is not divided", "ab cd", "ab ", 4},
		{"a long word is dropped, since it may be a secret", "abcde", "", 4},
		{"a character is not divided", "a é", "a ", 3},
	} {
		t.Run(c.says, func(t *testing.T) {
			if got := Shorten(c.text, c.most); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	long := strings.Repeat("word ", 1000)
	if a, b := RootText(long+"a"), RootText(long+"bc"); a == b || len(a) > rootSize+8 {
		t.Errorf("%d bytes, %q", len(a), b)
	}
}

func TestMessagesOfSubAgentsAreNotRead(t *testing.T) {
	said := func(id string, start int64, m Messages) Span {
		return Span{TraceID: "t", ID: id, ParentID: "r", Start: start, End: start + 1, Facts: Facts{Kind: Model, Messages: m.Encode()}}
	}
	asks := func(text string) Messages {
		return Messages{Opens: true, Root: text, Input: []Message{{Role: "user", Text: text}}, Answer: "yes"}
	}
	goesOn := func(root, text string) Messages {
		return Messages{Root: root, Input: []Message{{Role: "user", Text: text}}}
	}
	messages := func(changes []Change) (told []string) {
		for _, c := range changes {
			switch sign := "+ "; {
			case c.Removed && !strings.HasSuffix(c.Event.ID, StartSuffix) && !strings.HasSuffix(c.Event.ID, EndSuffix):
				told = append(told, "- "+c.Event.ID)
			case c.Event.Role != "":
				told = append(told, sign+c.Event.ID+" "+c.Event.Text)
			}
		}
		return told
	}
	trace := New()
	for _, step := range []struct {
		span Span
		want []string
	}{
		{said("5", 50, goesOn("b", "more")), []string{"+ 5.input0 more"}},
		{said("4", 40, asks("b")), []string{"+ 4.input0 b", "+ 4.answer yes"}},
		{said("1", 10, asks("a")), []string{"- 4.answer", "- 4.input0", "- 5.input0", "+ 1.input0 a", "+ 1.answer yes"}},
		{said("2", 20, asks("a")), []string{"+ 2.answer yes"}},
		{said("0", 5, asks("a")), []string{"- 1.input0", "+ 0.input0 a", "+ 0.answer yes"}},
		{said("6", 60, goesOn("summary", "more")), []string{"+ 6.input0 more"}},
	} {
		if diff := cmp.Diff(step.want, messages(trace.Add([]Span{step.span}))); diff != "" {
			t.Errorf("after %s (-want +got):\n%s", step.span.ID, diff)
		}
	}
}
