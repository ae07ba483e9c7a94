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

// What letters takes for a word at once is not volatile.
func TestAWordReadAtOnceIsNotVolatile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := append(textOfParts(t), strings.Repeat(" ", lettersRead)...)
		for i := range len(text) - lettersRead {
			if n, _ := new(Words).letters((*[lettersRead]byte)(text[i:])); n > 0 && volatile(text, i) > 0 {
				t.Fatalf("%q is read as a word of %d bytes", text[i:], n)
			}
		}
	})
}
