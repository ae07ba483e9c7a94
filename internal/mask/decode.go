package mask

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape appends a text as it reads once the escapes of JSON in it are resolved. What is no escape stays as it is.
func unescape(to []byte, s string) []byte {
	for i := 0; ; {
		k := strings.IndexByte(s[i:], '\\')
		if k < 0 {
			return append(to, s[i:]...)
		}
		to = append(to, s[i:i+k]...)
		i += k
		r, n := escape(s[i:])
		if n == 1 {
			to = append(to, '\\')
		} else {
			to = utf8.AppendRune(to, r)
		}
		i += n
	}
}

// escape returns the character of the escape that s begins with, and its length in bytes; 1 if there is none.
func escape(s string) (r rune, n int) {
	if len(s) < 2 {
		return 0, 1
	}
	switch s[1] {
	case '"', '\\', '/', '\'':
		return rune(s[1]), 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'u':
		r, ok := unit(s)
		switch {
		case !ok:
			return 0, 1
		case !utf16.IsSurrogate(r):
			return r, 6
		}
		if low, ok := unit(s[6:]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, 12
			}
		}
		return utf8.RuneError, 6
	}
	return 0, 1
}

// unit returns the number of \uXXXX, if s begins with it.
func unit(s string) (r rune, ok bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	for _, c := range []byte(s[2:6]) {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case lower(c) >= 'a' && lower(c) <= 'f':
			r = r<<4 | rune(lower(c)-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// hidesMore tells whether a text has escapes that a secret, or the marks of one, may be written with.
func hidesMore(s string) bool {
	for i := 0; ; i++ {
		k := strings.IndexByte(s[i:], '\\')
		if k < 0 {
			return false
		}
		if i += k; i+1 < len(s) {
			switch s[i+1] {
			case '"', '/':
				return true
			case 'u':
				if _, ok := unit(s[i:]); ok {
					return true
				}
			}
		}
	}
}

// outward moves spans of an unescaped text to where they stand in the text with its escapes, at offset. An escape that a span cuts
// is taken in. The spans are in their order and do not overlap.
func outward(s string, spans []span, offset int) {
	i, at := 0, 0 // the same place in s and in the unescaped text
	advance := func(to int, past bool) int {
		for at < to && i < len(s) {
			n, length := 1, 1
			if s[i] == '\\' {
				var r rune
				if r, n = escape(s[i:]); n > 1 {
					length = utf8.RuneLen(r)
				}
			} else if k := strings.IndexByte(s[i:min(len(s), i+to-at)], '\\'); k != 0 {
				if k < 0 {
					k = min(len(s)-i, to-at)
				}
				n, length = k, k
			}
			if at+length > to && !past {
				break
			}
			i, at = i+n, at+length
		}
		return i
	}
	for k := range spans {
		sp := &spans[k]
		sp.start = offset + advance(sp.start, false)
		sp.end = offset + advance(sp.end, true)
		if sp.quotes != bare {
			sp.quotes = 2*sp.quotes + 1
		}
	}
}
