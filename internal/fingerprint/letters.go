package fingerprint

import (
	"encoding/binary"
	"math/bits"
)

// lettersRead is the number of bytes that letters reads.
const lettersRead = 17

// letters is word for the most frequent words: those of up to 15 letters that cannot be volatile. It reads eight bytes at a time. It
// returns the length of the word with the space behind it, if there is one, and the fingerprint. The length is 0 for any other word. p must
// begin with an ASCII letter.
func (w *Words) letters(p *[lettersRead]byte) (length int, h uint32) {
	raw, second := binary.LittleEndian.Uint64(p[:8]), uint64(0)
	n, first := 0, ^uint64(0) // first has the bytes of the word among the first eight
	if ends := notLetters(raw); ends != 0 {
		n, first = bits.TrailingZeros64(ends)/8, (ends^(ends-1))>>8
	} else {
		second = binary.LittleEndian.Uint64(p[8:16])
		if ends = notLetters(second); ends == 0 || p[8] == '-' {
			return 0, 0
		}
		n, second = 8+bits.TrailingZeros64(ends)/8, (second|small)&((ends^(ends-1))>>8)
	}
	next := p[n&15]
	if partOfWord[next] != 0 || firstLetters[p[0]]&secondLetters[p[1]] != 0 && mayVary(raw, n, next) {
		return 0, 0
	}
	if !ofStatus(raw & first) {
		w.Says++
	}
	full := (uint64(n) ^ (raw|small)&first) * golden
	full ^= full >> 32
	if n > 8 {
		full = (full ^ second) * golden
		full ^= full >> 32
	}
	if next == ' ' {
		n++
	}
	return n, uint32(full)
}

// firstLetters and secondLetters have a bit in common for the first two letters of each word about which mayVary reports true.
var firstLetters, secondLetters = func() (first, second [256]uint8) {
	for k, letters := range [...][2]string{{"tT", "mo"}, {"pP", "ir"}, {"g", "o"}} {
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
