package store

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/unloop-ai/unloop/internal/names"
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
	long := strings.Repeat("é", names.Max)
	t.Run("an id of the longest length stays", func(t *testing.T) {
		if id := long[:names.Max]; Key(id) != id {
			t.Errorf("it became %q", Key(id))
		}
	})
	t.Run("long ids with the same beginning stay different", func(t *testing.T) {
		if Key(long+"a") == Key(long+"b") {
			t.Error("they became the same")
		}
	})
	t.Run("any id becomes one that stays as it is", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			key := Key(string(rapid.SliceOfN(rapid.Byte(), 0, 3*names.Max).Draw(t, "id")))
			if len(key) > names.Max || !utf8.ValidString(key) || strings.Contains(key, "\x00") || Key(key) != key {
				t.Errorf("Key gives %q", key)
			}
		})
	})
}
