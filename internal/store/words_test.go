package store

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/unloop-ai/unloop"
)

func TestWords(t *testing.T) {
	for _, c := range []struct {
		says  string
		event unloop.Event
		want  []string
	}{
		{"names are split at what is no letter", unloop.Event{Tool: "read_file", Agent: "coder-2"}, []string{"read", "file", "coder", "2"}},
		{"words count once, in lower case", unloop.Event{Text: "Retry, retry: RETRY ÉCOLE"}, []string{"retry", "école"}},
		{"an escaped line end separates words", unloop.Event{Output: json.RawMessage(`"one\\ntwo\ttab"`)}, []string{"one", "ntwo", "tab"}},
		{"escaped letters are letters", unloop.Event{Output: json.RawMessage(`"caf\u00e9 \ud835\udc00x \u041f\u0440"`)}, []string{"café", "𝐀x", "пр"}},
		{"a broken escape separates words", unloop.Event{Output: json.RawMessage(`"a\ud835b\u12"`)}, []string{"a", "b", "12"}},
		{"names of JSON members count", unloop.Event{Input: json.RawMessage(`{"path":"a.go"}`)}, []string{"path", "a", "go"}},
		{"ids and types do not count", unloop.Event{ID: "x", RunID: "y", Type: "message"}, nil},
		{"a long word is cut", unloop.Event{Text: strings.Repeat("ß", 40)}, []string{strings.Repeat("ß", 32)}},
	} {
		t.Run(c.says, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Words(&c.event), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("an event has at most 256 words", func(t *testing.T) {
		var text strings.Builder
		for k := range 1000 {
			text.WriteString(" " + strconv.Itoa(k))
		}
		if got := len(Words(&unloop.Event{Text: text.String()})); got != maxIndexedWords {
			t.Errorf("it has %d", got)
		}
	})
}

func FuzzWords(f *testing.F) {
	f.Add(`"a\ud835\udc00 \u00e9 \\ \n"`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, word := range Words(&unloop.Event{Text: text, Output: json.RawMessage(text)}) {
			if again := QueryWords(word); len(again) != 1 || again[0] != word {
				t.Errorf("the word %q is found by %q", word, again)
			}
		}
	})
}

func TestLabels(t *testing.T) {
	for _, c := range []struct {
		says, metadata string
		want           []string
	}{
		{"texts, numbers and booleans", `{"prompt":"v2","n":1.50,"ok":true,"list":[1],"o":{},"none":null}`, []string{"n=1.50", "ok=true", "prompt=v2"}},
		{"no object", `[1]`, nil},
		{"nothing", ``, nil},
		{"long values are left out", `{"a":"` + strings.Repeat("x", 200) + `","b":"c"}`, []string{"b=c"}},
		{"a member without a name is left out", `{"":"x"}`, nil},
	} {
		t.Run(c.says, func(t *testing.T) {
			if diff := cmp.Diff(c.want, LabelsOf(json.RawMessage(c.metadata)), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
