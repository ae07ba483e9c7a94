package fingerprint

import (
	"bytes"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// str appends the canonical form of the string at c.pos, and reports whether it is valid.
func (c *Canonicalizer) str() bool {
	end := indexEither(c.in, c.pos+1, '"', '\\')
	if end == len(c.in) {
		return false
	}
	if c.in[end] == '"' {
		c.out = append(c.out, c.in[c.pos:end+1]...)
		c.pos = end + 1
		return true
	}
	return c.escaped()
}

// indexEither returns the position of the first x or y from i on, or len(b). Both are ASCII. It reads eight bytes at a time. bytes.IndexByte
// would take a call for each of the two bytes, and the distance is often short.
func indexEither(b []byte, i int, x, y byte) int {
	const each, high = 0x0101010101010101, 0x8080808080808080
	xs, ys := uint64(x)*each, uint64(y)*each
	for last := len(b) - 8; i <= last; i += 8 {
		raw := load(b, i)
		noX, noY := raw^xs, raw^ys
		if found := ((noX - each) | (noY - each)) &^ raw & high; found != 0 { // the first of these is right
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(b) && b[i] != x && b[i] != y {
		i++
	}
	return i
}

// escaped is str for a string with escapes.
func (c *Canonicalizer) escaped() bool {
	c.out = append(c.out, '"')
	for i := c.pos + 1; ; {
		end := indexEither(c.in, i, '"', '\\')
		c.out = append(c.out, c.in[i:end]...)
		if end == len(c.in) {
			return false
		}
		if c.in[end] == '"' {
			c.out = append(c.out, '"')
			c.pos = end + 1
			return true
		}
		n := c.escape(c.in[end:])
		if n == 0 {
			return false
		}
		i = end + n
	}
}

// escape appends the character of the escape sequence that b begins with. It returns the length of the sequence, or 0 if it is invalid. The
// first byte must be a backslash.
func (c *Canonicalizer) escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	if i := bytes.IndexByte([]byte(`bfnrt/`), b[1]); i >= 0 {
		c.out = append(c.out, "\b\f\n\r\t/"[i])
		return 2
	}
	if b[1] == '"' || b[1] == '\\' {
		c.out = append(c.out, '\\', b[1])
		return 2
	}
	if b[1] != 'u' {
		return 0
	}
	r, n := unicodeEscape(b)
	if n == 0 {
		return 0
	}
	var text [utf8.UTFMax]byte
	c.out = appendEscaped(c.out, text[:utf8.EncodeRune(text[:], r)])
	return n
}

// unicodeEscape returns the character of the escape sequence of the kind \u00e9 that b begins with, or of the two sequences of a surrogate pair,
// and their length. Of half a pair it returns RuneError. The length is 0 if four hexadecimal digits are missing. b must begin with \u.
func unicodeEscape(b []byte) (r rune, n int) {
	r, ok := hex4(b[2:])
	switch {
	case !ok:
		return 0, 0
	case !utf16.IsSurrogate(r):
		return r, 6
	case len(b) >= 12 && b[6] == '\\' && b[7] == 'u':
		low, _ := hex4(b[8:])
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

// hex4 returns the number of the four hexadecimal digits that b begins with, and whether it begins with them.
func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for _, d := range b[:4] {
		v := hexValue(d)
		if v < 0 {
			return 0, false
		}
		r = r<<4 | rune(v)
	}
	return r, true
}

func hexValue(d byte) int {
	switch {
	case d >= '0' && d <= '9':
		return int(d - '0')
	case d >= 'a' && d <= 'f':
		return int(d-'a') + 10
	case d >= 'A' && d <= 'F':
		return int(d-'A') + 10
	}
	return -1
}

// appendEscaped appends text as the inside of a canonical string.
func appendEscaped(dst, text []byte) []byte {
	for _, b := range text {
		if b == '"' || b == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, b)
	}
	return dst
}

// escapesText reports whether b begins with an escape sequence such as \u00e9 that appendDecoded decodes. The first byte must be a backslash.
func escapesText(b []byte) bool {
	if len(b) < 6 || b[1] != 'u' {
		return false
	}
	r, ok := hex4(b[2:])
	return ok && isText(r)
}

// isText reports whether a character is part of a text, or one that separates words in it, if it is escaped: one beyond ASCII, and those that
// encoders of JSON escape for the sake of HTML.
func isText(r rune) bool { return r >= utf8.RuneSelf || r == '<' || r == '>' || r == '&' || r == '\'' }

// appendDecoded appends a text with its escape sequences of the kind \u00e9 decoded, and the others as they are. dst may be the beginning of
// the memory of text, because the result is no longer than text.
func appendDecoded(dst, text []byte) []byte {
	for len(text) > 0 {
		n := bytes.IndexByte(text, '\\')
		if n < 0 {
			n = len(text)
		}
		dst = append(dst, text[:n]...)
		text = text[n:]
		switch {
		case len(text) == 0:
		case escapesText(text):
			r, n := unicodeEscape(text)
			dst = utf8.AppendRune(dst, r)
			text = text[n:]
		default:
			n = min(2, len(text))
			dst = append(dst, text[:n]...)
			text = text[n:]
		}
	}
	return dst
}
