package fingerprint

import (
	"encoding/binary"
	"math/bits"
)

// lettersRead is the number of bytes that readLetters reads from the beginning of a word on.
const lettersRead = 17

// readLetters reads the most frequent words, those of up to 15 letters that cannot be volatile, and what separates them. It begins at b[i]
// and ends at stop or before, at a tag, an escape such as \u00e9, or another word. It returns the index where it ends. first means that
// the next word begins a line, a sentence or a JSON member. b must have lettersRead more bytes than stop, and w.List room for the words. It reads
// eight bytes of a word at a time, and calls no function, so that its variables stay in registers.
func (w *Words) readLetters(b []byte, i, stop int, first bool) (end int, begins bool) {
	list, n, says := w.List[:cap(w.List)], len(w.List), w.Says
	for i < stop {
		c := class[b[i]]
		if c&alpha == 0 {
			if c&wordByte != 0 || c&apart != 0 && (b[i] == '<' || b[i] == '\\' && b[i+1] == 'u') {
				break
			}
			if i++; c&apart == 0 {
				continue
			}
			switch next := b[i]; b[i-1] {
			case '\n':
				first = true
			case '\\': // an escaped character separates words
				first = first || next == 'n'
				i++
			case ',':
				first = first || beginsMember(next, b[i+1], b[i+2])
			default: // . ? !
				first = first || next == ' '
			}
			continue
		}
		p := (*[lettersRead]byte)(b[i:])
		raw, second := binary.LittleEndian.Uint64(p[:8]), uint64(0)
		length, bytes := 0, ^uint64(0) // bytes has those of the word among the first eight
		if ends := notLetters(raw); ends != 0 {
			length, bytes = bits.TrailingZeros64(ends)/8, (ends^(ends-1))>>8
		} else {
			second = binary.LittleEndian.Uint64(p[8:16])
			if ends = notLetters(second); ends == 0 || p[8] == '-' {
				break
			}
			length, second = 8+bits.TrailingZeros64(ends)/8, (second|small)&((ends^(ends-1))>>8)
		}
		next := p[length&15]
		if partOfWord[next] != 0 {
			break
		}
		if firstLetters[p[0]]&secondLetters[p[1]] != 0 {
			if mayVary(raw, length, next) {
				break
			}
			if ofStatus(raw & bytes) {
				says--
			}
		}
		says++
		h := (uint64(length) ^ (raw|small)&bytes) * golden
		h ^= h >> 32
		if length > 8 {
			h = (h ^ second) * golden
			h ^= h >> 32
		}
		list[n] = Word{uint32(h), Letters, first}
		n++
		first = false
		if i += length; next == ' ' {
			i++
		}
	}
	w.List, w.Says = list[:n], says
	return i, first
}

// beginsMember reports whether the three bytes after a comma begin another JSON member, which may be within a string.
func beginsMember(a, b, c byte) bool {
	if a == ' ' {
		a, b = b, c
	}
	return a == '"' || a == '\\' && b == '"'
}

// firstLetters and secondLetters have a bit in common for the first two letters of each word about which mayVary or ofStatus reports true.
var firstLetters, secondLetters = func() (first, second [256]uint8) {
	for k, letters := range [...][2]string{{"tT", "mo"}, {"pP", "ir"}, {"g", "o"}, {"e", "x"}, {"c", "o"}, {"s", "t"}} {
		for _, b := range []byte(letters[0]) {
			first[b] |= 1 << k
		}
		for _, b := range []byte(letters[1]) {
			second[b] |= 1 << k
			second[b-'a'+'A'] |= 1 << k
		}
	}
	const day = 1 << 7
	for b, c := range class {
		second[b] |= day
		if c&start != 0 && b <= 'Z' {
			first[b] |= day
		}
	}
	return first, second
}()

// notLetters returns the high bit of each of the eight bytes in raw that is no ASCII letter.
func notLetters(raw uint64) uint64 {
	const each = 0x0101010101010101 // a factor that puts a byte into all eight
	low := raw&(0x7F*each) | small
	return (^(low + (0x80-'a')*each) | (low + (0x7F-'z')*each) | raw) & (0x80 * each)
}

// mayVary reports whether a volatile part may begin with n letters: see volatile. raw has the first eight bytes, and next is the byte
// after the letters.
func mayVary(raw uint64, n int, next byte) bool {
	switch uint32(raw)&0xFFFFFF | 0x202020 {
	case 't' | 'm'<<8 | 'p'<<16:
		return true
	case 't' | 'o'<<8 | 'o'<<16: // tool_call_id
		return next == '_'
	case 'p' | 'r'<<8 | 'o'<<16: // process 12
		return next == ' '
	case 'p' | 'i'<<8 | 'd'<<16:
		return n == 3
	case 'g' | 'o'<<8 | '-'<<16: // go-build
		return n == 2
	}
	return n == 3 && raw&0x20 == 0 // a day or a month
}

// ofStatus reports whether raw is the word exit, code or status, padded with zeros.
func ofStatus(raw uint64) bool {
	return raw == 'e'|'x'<<8|'i'<<16|'t'<<24 || raw == 'c'|'o'<<8|'d'<<16|'e'<<24 || raw == 's'|'t'<<8|'a'<<16|'t'<<24|'u'<<32|'s'<<40
}
