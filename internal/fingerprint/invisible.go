package fingerprint

import (
	"math/bits"
	"strings"
	"unicode/utf8"
)

// Invisible reports whether a text, plain or as raw JSON, has a character that nobody sees: one of those that Unicode calls default-ignorable,
// such as a zero-width space or a soft hyphen, as it is or as an escape such as \u200b. It reads eight bytes at a time.
func Invisible(text []byte) bool {
	at, _ := nextInvisible(text, 0)
	return at < len(text)
}

// AppendVisible appends a text to dst without its invisible characters: see Invisible.
func AppendVisible(dst, text []byte) []byte {
	for i := 0; ; {
		at, n := nextInvisible(text, i)
		dst = append(dst, text[i:at]...)
		if at == len(text) {
			return dst
		}
		i = at + n
	}
}

// Visible returns a text that has no escapes without its invisible characters.
func Visible(text string) string {
	for _, r := range text {
		if r >= firstInvisible && invisible(r) {
			return strings.Map(func(r rune) rune {
				if invisible(r) {
					return -1
				}
				return r
			}, text)
		}
	}
	return text
}

// nextInvisible returns the position and the length of the next invisible character from b[i] on, or len(b) and 0. A backslash at b[i]
// is not escaped.
func nextInvisible(b []byte, i int) (at, n int) {
	const each, high = 0x0101010101010101, 0x8080808080808080
	for i < len(b) {
		if c := b[i]; c != '\\' && !beginsInvisible[c] {
			if i++; c < utf8.RuneSelf && i+8 <= len(b) {
				raw := load(b, i)
				other := raw ^ '\\'*each
				if found := (other-each)&^other&high | raw&high; found == 0 {
					i += 8
				} else {
					i += bits.TrailingZeros64(found) / 8
				}
			}
			continue
		}
		if b[i] == '\\' && (i+1 == len(b) || b[i+1] != 'u') {
			i += 2
			continue
		}
		r, n := runeOrEscape(b[i:])
		if invisible(r) {
			return i, n
		}
		i += n
	}
	return len(b), 0
}

// beginsInvisible has the bytes that the UTF-8 of an invisible character begins with.
var beginsInvisible = func() (t [256]bool) {
	for r := range rune(lastInvisible + 1) {
		if invisible(r) {
			t[string(r)[0]] = true
		}
	}
	return t
}()

// runeOrEscape returns the character at the beginning of a text, which begins with a byte beyond ASCII or with \u, and its length. Of an
// escape that is invalid, or half of a pair, it returns RuneError.
func runeOrEscape(b []byte) (r rune, n int) {
	if b[0] != '\\' {
		return utf8.DecodeRune(b)
	}
	if r, n = unicodeEscape(b); n == 0 {
		return utf8.RuneError, 2
	}
	return r, n
}

// The first and the last invisible character.
const (
	firstInvisible = 0xAD
	lastInvisible  = 0xE0FFF
)

// invisible reports whether a character is default-ignorable (Unicode 16, DerivedCoreProperties.txt).
func invisible(r rune) bool {
	switch {
	case r < firstInvisible, r > lastInvisible:
		return false
	case r < 0x2000:
		return r == 0xAD || r == 0x34F || r == 0x61C || r == 0x115F || r == 0x1160 || r == 0x17B4 || r == 0x17B5 || r >= 0x180B && r <= 0x180F
	case r < 0x3000:
		return r >= 0x200B && r <= 0x200F || r >= 0x202A && r <= 0x202E || r >= 0x2060 && r <= 0x206F
	case r < 0x10000:
		return r == 0x3164 || r >= 0xFE00 && r <= 0xFE0F || r == 0xFEFF || r == 0xFFA0 || r >= 0xFFF0 && r <= 0xFFF8
	}
	return r >= 0x1BCA0 && r <= 0x1BCA3 || r >= 0x1D173 && r <= 0x1D17A || r >= 0xE0000
}
