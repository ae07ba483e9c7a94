package fingerprint

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

// keys yields the keys of a part of a text. It reports whether to continue.
func keys(b []byte, yield func(uint32) bool) bool {
	for i := 0; i < len(b); {
		if b[i] == '\\' { // an escaped character separates keys
			i += 2
			continue
		}
		from, digits := i, uint8(0)
		for i < len(b) && (class[b[i]]&wordByte != 0 && b[i] < 0x80 || b[i] == '-') {
			digits |= class[b[i]] & digit
			i++
		}
		if i == from {
			i++
			continue
		}
		if key := b[from:i]; len(key) >= keyLength && digits != 0 && (key[4] != '-' || key[7] != '-') && !yield(uint32(Bytes(key))) {
			return false
		}
	}
	return true
}
