package store

import (
	"strings"
	"unicode/utf8"

	"github.com/unloop-ai/unloop/internal/names"
)

// Text returns s in a form that every database can store: invalid UTF-8 and NUL become U+FFFD. Code that takes names from input
// must apply it first, so that memory and store agree. Stores apply it again, so that a missed name does not fail its batch.
func Text(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// Key returns an id or an indexed name in a form that every database can store and index: Text, shortened to
// names.Max bytes. PostgreSQL's indexes allow a few times as much.
func Key(s string) string {
	return names.Shorten(Text(s), names.Max)
}
