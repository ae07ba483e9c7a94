package store

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestText(t *testing.T) {
	for _, c := range []struct{ says, in, want string }{
		{"plain text stays", "grep – ünïcode 🦊 '\"\\%", "grep – ünïcode 🦊 '\"\\%"},
		{"a NUL is replaced", "a\x00b\x00", "a\uFFFDb\uFFFD"},
		{"bad UTF-8 is replaced", "a\xff\xfeb\xe2\x82", "a\uFFFDb\uFFFD"},
		{"nothing stays nothing", "", ""},
	} {
		t.Run(c.says, func(t *testing.T) {
			if got := Text(c.in); got != c.want {
				t.Errorf("Text(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func TestKey(t *testing.T) {
	long := strings.Repeat("é", MaxKey)
	t.Run("an id of the longest length stays", func(t *testing.T) {
		if id := long[:MaxKey]; Key(id) != id {
			t.Errorf("it became %q", Key(id))
		}
	})
	t.Run("long ids with the same beginning stay different", func(t *testing.T) {
		if Key(long+"a") == Key(long+"b") {
			t.Error("they became the same")
		}
	})
	t.Run("any text is cut at a character's border, in as many bytes as there may be", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			s, most := rapid.String().Draw(t, "text"), rapid.IntRange(128, 600).Draw(t, "most")
			s = strings.Repeat(s, rapid.IntRange(1, 40).Draw(t, "times"))
			short := Shorten(s, most)
			if len(short) > most || !utf8.ValidString(short) || len(s) <= most && short != s || len(s) > most && len(short) < most-3 {
				t.Errorf("of %d bytes %d remain: %q", len(s), len(short), short)
			}
		})
	})
	t.Run("any id becomes one that stays as it is", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			key := Key(string(rapid.SliceOfN(rapid.Byte(), 0, 3*MaxKey).Draw(t, "id")))
			if len(key) > MaxKey || !utf8.ValidString(key) || strings.Contains(key, "\x00") || Key(key) != key {
				t.Errorf("Key gives %q", key)
			}
		})
	})
}
