package store

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

// MaxKey is how many bytes an id, or a name by which things are found, can have: PostgreSQL's indexes take a few times as much.
const MaxKey = 512

// Text returns s as every database can keep it: what is no UTF-8, and every NUL, becomes U+FFFD. Whoever makes names from input
// passes them through it first, so that what is in memory and what is stored are the same; the stores do it again, so that a
// name which slipped by does not spoil the batch it comes with.
func Text(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// Key returns an id, or a name by which things are found, as every database can keep and index it: as Text does, and of one that
// is longer than MaxKey the beginning and a hash of the whole. It is for ids what Text is for other names.
func Key(s string) string {
	return Shorten(Text(s), MaxKey)
}

// Shorten returns a text in at most so many bytes, at least 128: of one that has more, whole characters from its beginning, …, and
// the SHA-256 hash of the whole in hexadecimal digits, so that different texts stay different.
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
