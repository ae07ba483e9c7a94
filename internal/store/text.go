package store

import (
	"strings"
	"unicode/utf8"
)

// Text returns s as every database can keep it: what is no UTF-8, and every NUL, becomes U+FFFD. Whoever makes ids and names
// from input passes them through it first, so that what is in memory and what is stored are the same; the stores do it again,
// so that a name which slipped by does not spoil the batch it comes with.
func Text(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}
