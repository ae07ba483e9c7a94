package mask

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// unescape appends a text with its JSON escapes resolved. Invalid escapes stay unchanged.
func unescape(to []byte, s string) []byte {
	to, _ = unescapeUntil(to, s, 0, '\\')
	return to
}

// unescapeUntil is unescape for the part of s before the first byte stop outside of escapes. It returns the position of that
// byte, or len(s). A backslash as stop does not end the text. The first plain bytes are neither.
func unescapeUntil(to []byte, s string, plain int, stop byte) (text []byte, end int) {
	begin := len(to)
	to = slices.Grow(to, len(s)) // an escape is at least as long as its character
	out, stops := to[begin:begin+len(s)], ones*uint64(stop)
	n := copy(out, s[:plain])
	for i := n; i < len(s); {
		if i+8 <= len(s) {
			eight := eightBytes(s, i)
			binary.LittleEndian.PutUint64(out[n:n+8], eight)
			found := either(eight, backslashes, stops)
			if found == 0 {
				i, n = i+8, n+8
				continue
			}
			k := bits.TrailingZeros64(found) >> 3
			i, n = i+k, n+k
		}
		for i+1 < len(s) && s[i] == '\\' && short[s[i+1]] != 0 { // often several
			out[n] = short[s[i+1]]
			i, n = i+2, n+1
		}
		if i == len(s) {
			break
		}
		c, length := rune(s[i]), 1
		switch {
		case c == '\\':
			if c, length = escape(s[i:]); length == 1 {
				c = '\\'
			}
		case byte(c) == stop:
			return to[:begin+n], i
		case c >= utf8.RuneSelf: // part of a multi-byte character
			out[n] = byte(c)
			i, n = i+1, n+1
			continue
		}
		if i += length; c < utf8.RuneSelf {
			out[n] = byte(c)
			n++
		} else {
			n += utf8.EncodeRune(out[n:], c)
		}
	}
	return to[:begin+n], len(s)
}

const (
	ones        = 0x0101010101010101
	backslashes = ones * '\\'
	quotes      = ones * '"'
)

// eightBytes returns eight bytes from i on, the first in the lowest bits. The text must have them: it is read without a check.
func eightBytes(s string, i int) uint64 {
	return binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(unsafe.Pointer(unsafe.StringData(s)), i))[:])
}

// either sets the highest bit of the first byte that is one of two, given eight times each. Later bytes may be marked wrongly.
// Both are ASCII.
func either(eight, a, b uint64) uint64 {
	return (((eight ^ a) - ones) | ((eight ^ b) - ones)) &^ eight & (ones << 7)
}

// short has the characters of escapes of two bytes, by the second byte.
var short = [256]byte{'"': '"', '\\': '\\', '/': '/', '\'': '\'', 'n': '\n', 'r': '\r', 't': '\t', 'b': '\b', 'f': '\f'}

// escape returns the character and the length in bytes of the escape at the beginning of s. The length is 1 if there is none.
func escape(s string) (r rune, n int) {
	if len(s) < 2 {
		return 0, 1
	}
	if c := short[s[1]]; c != 0 {
		return rune(c), 2
	}
	if s[1] == 'u' {
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

// unit returns the number of a \uXXXX at the beginning of s.
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

// hidesMore reports whether a text has escapes that may be part of a secret or its mark.
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

// outward moves spans of an unescaped text to their positions in the escaped text, plus offset. An escape that a span cuts is
// included. The spans are sorted and do not overlap.
func outward(s string, spans []span, offset int) {
	i, at := 0, 0 // equal positions in s and in the unescaped text
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
