package unloop

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Characters that nobody sees hide neither that calls nor that results are equal, as they are and as escapes.
func TestInvisibleCharactersHideNoLoop(t *testing.T) {
	for _, hidden := range []string{"", "\u200b", "\u00ad", "\ufeff", "\u2060", "\U000E0061", `\u200b`, `\udb40\udc61`} {
		t.Run(fmt.Sprintf("%+q", hidden), func(t *testing.T) {
			insert := func(text string, at int) string {
				at %= len(text)
				return text[:at] + strings.Repeat(hidden, 1+at%3) + text[at:]
			}
			r := NewRun("r", measured)
			for n := range 6 {
				play(r, call("get_entry", `{"key":"`+insert("electric kettle", n)+`"}`, `"`+insert("the shop has no such entry", 3*n)+`"`))
			}
			if step := r.Current().Step; step.Repeats.N != 6 {
				t.Errorf("the latest of six equal steps has %d repeats", step.Repeats.N)
			}
		})
	}
}

func play(r *Run, e Event) {
	r.Add(&Event{Type: ToolCallStarted, Tool: e.Tool, Input: e.Input})
	r.Add(&Event{Type: ToolCallCompleted, Tool: e.Tool, Output: e.Output})
}

func TestInvisibleCharactersHideNoRepeatedMessage(t *testing.T) {
	const message = "I will look at the parser now, and fix the test."
	texts := func(hidden string) (texts []Text) {
		r := NewRun("r", Options{Needs: NeedTexts | NeedOutcomes})
		for n := range 3 {
			r.Add(&Event{Type: MessageSent, Role: RoleAssistant, Text: strings.ReplaceAll(message, " ", " "+strings.Repeat(hidden, n))})
			texts = append(texts, *r.Current().Text)
		}
		return texts
	}
	if diff := cmp.Diff(texts(""), texts("\u200b")); diff != "" {
		t.Errorf("the texts with invisible characters differ (-without +with):\n%s", diff)
	}
}

// A backslash that is a character of the text begins no escape.
func TestTheTextOfAnEscapeIsVisible(t *testing.T) {
	r := NewRun("r", measured)
	for _, result := range []string{`"a\\u200bb"`, `"ab"`} {
		play(r, call("get_entry", `{}`, result))
	}
	if step := r.Current().Step; step.Repeats.N != 1 {
		t.Error("a text with the letters of an escape is equal to one without them")
	}
}

func TestInvisibleCharactersTakeNoMemoryWhereThereAreNone(t *testing.T) {
	r := NewRun("r", Options{Needs: NeedArgs | NeedOutcomes})
	start := Event{Type: ToolCallStarted, Tool: "search", CallID: "c", Input: json.RawMessage(`{"query":"naïve café \u00e9 日本語"}`)}
	end := Event{Type: ToolCallCompleted, Tool: "search", CallID: "c", Output: json.RawMessage(`"naïve café\n日本語"`)}
	r.Add(&start)
	r.Add(&end)
	if n := testing.AllocsPerRun(100, func() { r.Add(&start); r.Add(&end) }); n > 0 {
		t.Errorf("a call allocates %v times", n)
	}
}
