package fingerprint

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// parts are what texts with volatile parts are made of.
var parts = []string{
	" ", " ", "_", "-", ".", ":", ",", "/", `"`, `\`, `\\`, `\t`, `\n`, `\"`, "a", "x", "B", "é", "→", "word", "deadbeef", "0", "7", "12", "2024", "1700000000", "0x12345678", "12ms", "3.14 s",
	"tmp", "tmpab12cd34", "tool_call_id", "tool_call_id=", "too", "pid 12", "pid", "process 7", "process", "pro", "go-build12345678", "go-", "took", "Monday", "Jan", "May ",
	"Mon, 02 Jan 2006 15:04:05 GMT", "Jan  2 15:04", "02/Jan/2006:15:04:05 +0000", "2024-05-01T10:00:00Z", "10:20", "3:04 pm",
	"123e4567-e89b-12d3-a456-426614174000", "abcdefab-e89b-12d3-a456-426614174000",
}

func textOfParts(t *rapid.T) []byte {
	return []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 12).Draw(t, "parts"), ""))
}

func TestStableAgreesWithAPlainReading(t *testing.T) {
	var m Masker
	rapid.Check(t, func(t *rapid.T) {
		text := textOfParts(t)
		if got, want := m.Masked(text), Bytes(plainlyMasked(text)); got != want {
			t.Fatalf("%q: the fingerprint is not that of %q", text, plainlyMasked(text))
		}
	})
}

// plainlyMasked returns a text with its volatile parts masked. It reads the text byte by byte.
func plainlyMasked(b []byte) (out []byte) {
	within := false // a word
	for i := 0; i < len(b); {
		if b[i] == '\\' {
			end := min(i+2, len(b))
			out, i, within = append(out, b[i:end]...), end, false
			continue
		}
		if n := volatile(b, i); n > 0 && !within && class[b[i]]&wordByte != 0 {
			out, i = append(out, mask...), i+n
			continue
		}
		within = class[b[i]]&wordByte != 0
		out, i = append(out, b[i]), i+1
	}
	return out
}

// What readLetters takes for a word is not volatile.
func TestAWordReadAtOnceIsNotVolatile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := append(textOfParts(t), strings.Repeat(" ", lettersRead)...)
		for i := range len(text) - lettersRead {
			w := Words{List: make([]Word, 0, 1)}
			if end, _ := w.readLetters(text, i, i+1, true); len(w.List) > 0 && volatile(text, i) > 0 {
				t.Fatalf("%q is read as a word of letters, up to %q", text[i:], text[end:])
			}
		}
	})
}

// A text about which Words say that nothing varies is hashed as it is.
func TestATextWithoutVolatileWordsHasNothingToMask(t *testing.T) {
	plain := 0
	texts := []string{
		"the handler", "1", "12", "2.5", "2.17ms", "40 of 200", "3m", "tmp", "tmpab12cd34", "tmpabcdefgh", "tmp.Xa8fKq", "_", "-", ".", ":", ", ", `\n`, `\t`, `\\`,
		`\u003e`, "<", ">", "</", "<output>", "<h1>", "<tmpabcdefgh>", "<1700000000>", "2026-11-23T10:00:05Z", "10:05", "Mon Jan  2 15:04:05", "Jan 2 15:04",
		"deadbeef-1234-4abc-9def-0123456789ab", "deadbeef", "-1234-4abc-9def-0123456789ab", "abcdefab-abcd-abcd-abcd-abcdefabcdef", "0x7f00aa12", "1700000000", "pid 12", "PID: 7", "process 4",
		"tool_call_id", "='call_3'", "go-build", "123456789", "é", "→", "…", "\xe2", " ", `"`, `{"took_ms":`, "x", "A", "ms", "09", "/",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom(append(texts, parts...)), 0, 8).Draw(t, "parts"), ""))
		w, m := new(Words), new(Masker)
		w.Add(text)
		if w.Varies {
			return
		}
		plain++
		if m.Masked(text) != Bytes(text) {
			t.Errorf("a part of %q is masked", text)
		}
	})
	if plain == 0 {
		t.Error("every text may vary")
	}
}

func TestWordsReportWhatMayBeMasked(t *testing.T) {
	for text, varies := range map[string]bool{
		`{"path":"main.go","line":12.5,"found":"<output>no matches</output>\n"}`: false,
		"it took 12 ms":                       true,
		"at 2.17ms":                           true,
		"<1700000000>":                        true,
		"1.1700000000":                        true,
		"<tmpabcdefgh>":                       true,
		"pid 12 has ended":                    true,
		"\n10:00:05 started":                  true,
		strings.Repeat("much too long ", 400): true,
	} {
		if w := wordsOf(text); w.Varies != varies {
			t.Errorf("what varies in %.40q: %t, want %t", text, w.Varies, varies)
		}
	}
}
