package fingerprint

import "math/bits"

// Limits of what is read of keys.
const (
	keyLength = 8       // the least number of bytes of a key
	keyHead   = 1 << 10 // bytes of the beginning of a text
	keyTail   = 1 << 9  // bytes of its end, if the text is longer than both
)

// Keys yields the fingerprints of the keys in a text, plain or as raw JSON. A key is a word of at least eight letters, digits, underscores and
// hyphens that has a digit and does not begin with a date: an id, or a cursor of a list. Of a text over 1.5 KiB, only the first 1 KiB and
// the last 512 bytes are read. It takes about 1 ns a byte and allocates nothing.
func Keys(text []byte) func(yield func(uint32) bool) {
	return func(yield func(uint32) bool) {
		if len(text) <= keyHead+keyTail {
			keys(text, yield)
			return
		}
		if keys(text[:keyHead], yield) {
			keys(text[len(text)-keyTail:], yield)
		}
	}
}

// keys yields the keys of a part of a text. It reports whether to continue. Most bytes belong to no key, so it looks for digits, and reads the
// bytes around each. An escaped character separates keys.
func keys(b []byte, yield func(uint32) bool) bool {
	for begin := 0; ; {
		at := indexDigit(b, begin)
		if at == len(b) {
			return true
		}
		from, end := at, at+1
		for from > begin && partOfKey[b[from-1]] {
			from--
		}
		if from > begin && escapes(b[begin:from]) {
			if from++; from > at {
				begin = from
				continue
			}
		}
		for end < len(b) && partOfKey[b[end]] {
			end++
		}
		begin = end
		if key := b[from:end]; len(key) >= keyLength && (key[4] != '-' || key[7] != '-') && !yield(uint32(Bytes(key))) {
			return false
		}
	}
}

// partOfKey has the bytes that a key consists of.
var partOfKey = func() (t [256]bool) {
	for b, c := range class {
		t[b] = c&wordByte != 0 && b < 0x80 || b == '-'
	}
	return t
}()

// escapes reports whether the last byte of b is a backslash that escapes the character after it.
func escapes(b []byte) bool {
	n := len(b)
	for n > 0 && b[n-1] == '\\' {
		n--
	}
	return (len(b)-n)%2 == 1
}

// indexDigit returns the position of the first ASCII digit from i on, or len(b). It reads eight bytes at a time.
func indexDigit[T string | []byte](b T, i int) int {
	const each = 0x0101010101010101 // a factor that puts a byte into all eight
	for ; i+8 <= len(b); i += 8 {
		raw := loadText(b, i)
		low := raw & (0x7F * each)
		if found := (low + (0x80-'0')*each) &^ (low + (0x7F-'9')*each) &^ raw & (0x80 * each); found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(b) && class[b[i]]&digit == 0 {
		i++
	}
	return i
}
