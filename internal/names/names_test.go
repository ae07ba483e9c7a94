package names

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestShorten(t *testing.T) {
	t.Run("a name of the longest length stays", func(t *testing.T) {
		if name := strings.Repeat("a", Max); Shorten(name, Max) != name {
			t.Errorf("it became %q", Shorten(name, Max))
		}
	})
	t.Run("long names with the same beginning stay different", func(t *testing.T) {
		long := strings.Repeat("é", Max)
		if Shorten(long+"a", Max) == Shorten(long+"b", Max) {
			t.Error("they became the same")
		}
	})
	t.Run("any name is cut between characters, and has as many bytes as allowed", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			s, most := rapid.String().Draw(t, "name"), rapid.IntRange(128, 600).Draw(t, "most")
			s = strings.Repeat(s, rapid.IntRange(1, 40).Draw(t, "times"))
			short := Shorten(s, most)
			if len(short) > most || !utf8.ValidString(short) || len(s) <= most && short != s || len(s) > most && len(short) < most-3 {
				t.Errorf("of %d bytes %d remain: %q", len(s), len(short), short)
			}
		})
	})
}
