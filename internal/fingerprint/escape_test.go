package fingerprint

import (
	"slices"
	"testing"
)

func TestEscapedTextHasTheWordsOfTheText(t *testing.T) {
	for _, c := range []struct{ says, escaped, text string }{
		{"a letter within a word", `"the caf\u00e9 closes"`, `"the café closes"`},
		{"a letter at the beginning of a word", `"an \u00e9clair"`, `"an éclair"`},
		{"words without a letter of ASCII", `"\u0444\u0430\u0439\u043b \u043d\u0435 found"`, `"файл не found"`},
		{"a character beyond 16 bits", `"done \ud83d\ude00 now"`, `"done 😀 now"`},
		{"the escapes of HTML", `"\u003coutput\u003e\nx \u0026\u0026 y\n\u003c/output\u003e"`, `"<output>\nx && y\n</output>"`},
		{"a word at the beginning of a line", `"one two\n\u00e9tat three"`, `"one two\nétat three"`},
		{"an escaped backslash", `"C:\\u00e9"`, `"C:\\u00e9"`},
	} {
		t.Run(c.says, func(t *testing.T) {
			var got, want Words
			got.Add([]byte(c.escaped))
			want.Add([]byte(c.text))
			if !slices.Equal(got.List, want.List) || got.Shape != want.Shape || got.Says != want.Says {
				t.Errorf("%s has the words %v (%d), want %v (%d)", c.escaped, got.List, got.Says, want.List, want.Says)
			}
		})
	}
}

func TestInvalidEscapesSeparateWords(t *testing.T) {
	for _, text := range []string{`"a\u00"`, `"a\u00zz b"`, `"\ud800"`, `"\ud800\u0041"`, `\u00e9\`} {
		var w Words
		w.Add([]byte(text))
		if len(w.List) == 0 {
			t.Errorf("%s has no words", text)
		}
	}
}
