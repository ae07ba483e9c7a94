package store

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

// MaxKey is the maximum length of an id or of an indexed name, in bytes. PostgreSQL's indexes allow a few times as much.
const MaxKey = 512

// Text returns s in a form that every database can store: invalid UTF-8 and NUL become U+FFFD. Code that takes names from input
// must apply it first, so that memory and store agree. Stores apply it again, so that a missed name does not fail its batch.
func Text(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// Key returns an id or an indexed name in a form that every database can store and index: Text, shortened to MaxKey bytes.
func Key(s string) string {
	return Shorten(Text(s), MaxKey)
}

// Shorten returns s with at most the given number of bytes, which must be at least 128. A longer text is cut between characters
// and ends in … and the hexadecimal SHA-256 hash of the whole text, so that different texts stay different.
func Shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	end := "…" + hex.EncodeToString(sum[:])
	cut := most - len(end)
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + end
}
