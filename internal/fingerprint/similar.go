package fingerprint

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"unicode/utf8"
)

// MaxCompared is the length of the longest text that is compared as a whole, in bytes. Of a longer text, the first and the last half
// of that number are compared.
const MaxCompared = 4 << 10

// Shape summarizes a text, so that most comparisons need not read it.
type Shape struct {
	Length int        // number of characters
	Bag    [32]uint16 // number of characters in each of 32 classes
}

// ShapeOf returns the shape of text, cut as Clip cuts it.
func ShapeOf(text []byte) Shape {
	var s Shape
	for i := 0; i < len(text); s.Length++ {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[i:])
		}
		s.Bag[r&31]++
		i += size
	}
	return s
}

// common returns an upper bound of the number of characters that the two texts have in common.
func (s *Shape) common(other *Shape) int {
	n := 0
	for k, own := range s.Bag {
		n += int(min(own, other.Bag[k]))
	}
	return n
}

// Clip returns the part of text that is compared: all of it up to MaxCompared bytes, else its beginning and its end,
// appended to dst.
func Clip(dst, text []byte) []byte {
	if len(text) <= MaxCompared {
		return append(dst, text...)
	}
	dst = append(dst, text[:MaxCompared/2]...)
	return append(dst, text[len(text)-MaxCompared/2:]...)
}

// Matcher compares one text with many. The similarity of two texts a and b is 2·LCS(a, b) / (len a + len b) over characters, where
// LCS is the length of the longest common subsequence. A Matcher uses the bit-parallel algorithm of Crochemore, Iliopoulos, Pinzon
// and Reid, "A fast and practical bit-vector algorithm for the longest common subsequence problem" (2001), which takes at most
// len a · len b / 64 steps. It reuses its buffers. It is not safe for concurrent use.
type Matcher struct {
	text  []byte
	shape Shape
	words int            // machine words for one bit per character of text
	peq   []uint64       // for each symbol, its positions in text: one bit each, in words machine words
	extra map[rune]int32 // the symbols of characters beyond ASCII
	rows  []uint64
	ready bool // peq is built
	left  int  // full comparisons that are left
}

// Reset sets the text that the following calls compare with others. The caller must not modify it until the next Reset. At most full
// of these comparisons are made in full.
func (m *Matcher) Reset(text []byte, full int) {
	m.text, m.shape, m.ready, m.left = text, ShapeOf(text), false, full
}

// Similar reports whether the similarity of the text and other is at least threshold, from 0 to 1. It checks cheap bounds first:
// lengths, the common beginning and end, and the number of characters of each class. If these do not decide and no full comparison is
// left, it returns false.
func (m *Matcher) Similar(other []byte, shape *Shape, threshold float64) bool {
	total := m.shape.Length + shape.Length
	if total == 0 {
		return true
	}
	need := threshold * float64(total) / 2
	if float64(min(m.shape.Length, shape.Length)) < need {
		return false
	}
	if bytes.Equal(m.text, other) {
		return true
	}
	plain := m.shape.Length == len(m.text) && shape.Length == len(other) // bytes are characters
	if plain && float64(commonEnds(m.text, other)) >= need {
		return true
	}
	if m.left == 0 || float64(m.shape.common(shape)) < need {
		return false
	}
	m.left--
	least := int(math.Ceil(need))
	return m.lcs(other, shape.Length, least) >= least
}

// commonEnds returns the length in bytes of the common beginning and the common end, which do not overlap.
func commonEnds(a, b []byte) int {
	n := min(len(a), len(b))
	head := 0
	for head+8 <= n && load(a, head) == load(b, head) {
		head += 8
	}
	for head < n && a[head] == b[head] {
		head++
	}
	rest, tail := n-head, 0
	for tail+8 <= rest && load(a, len(a)-tail-8) == load(b, len(b)-tail-8) {
		tail += 8
	}
	for tail < rest && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return head + tail
}

// load returns the eight bytes from b[i] on as a number.
func load(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }

// loadText is load for a string, too. It takes a few instructions more, and a function that calls it may no longer be inlined.
func loadText[T string | []byte](b T, i int) uint64 {
	b = b[i : i+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 | uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// giveUpEvery is the number of characters after which lcs checks whether it can still reach the required length.
const giveUpEvery = 32

// lcs returns the length of the longest common subsequence of the text and other if it is at least least, and some smaller number
// otherwise. other has length characters. A subsequence of that length skips at most length - least characters of other and
// m.shape.Length - least of the text, so lcs considers only matches within that band of the diagonal.
func (m *Matcher) lcs(other []byte, length, least int) int {
	if !m.ready {
		m.build()
	}
	if m.words == 0 {
		return 0
	}
	v := m.rows[:m.words]
	for k := range v {
		v[k] = ^uint64(0)
	}
	behind, ahead := length-least, m.shape.Length-least
	at := 0
	for i := 0; i < len(other); at++ {
		r, size := rune(other[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(other[i:])
		}
		i += size
		if at%giveUpEvery == giveUpEvery-1 && m.matched(v)+length-at < least {
			return 0
		}
		if symbol := m.symbol(r); symbol >= 0 {
			from, to := max(0, at-behind)/64, min(m.shape.Length-1, at+ahead)/64+1
			row := symbol * m.words
			step(v[from:to], m.peq[row+from:row+to])
		}
	}
	return m.matched(v)
}

// matched returns the number of zero bits in v, one for each character of the text that is in the subsequence.
func (m *Matcher) matched(v []uint64) int {
	common := 0
	for _, row := range v {
		common += bits.OnesCount64(^row)
	}
	if rest := m.shape.Length % 64; rest != 0 {
		common -= bits.OnesCount64(^v[len(v)-1] >> rest)
	}
	return common
}

// step advances v, the state of the algorithm, by a character that occurs in the text at the positions in match.
func step(v, match []uint64) {
	var carry uint64
	for k, row := range v {
		hit := row & match[k]
		var sum uint64
		sum, carry = bits.Add64(row, hit, carry)
		v[k] = sum | row&^match[k]
	}
}

// build computes the positions of each symbol in the text.
func (m *Matcher) build() {
	m.ready = true
	m.words = (m.shape.Length + 63) / 64
	m.rows = resize(m.rows, m.words)
	clear(m.extra)
	m.peq = resize(m.peq, utf8.RuneSelf*m.words)
	clear(m.peq)
	at := 0
	for i := 0; i < len(m.text); at++ {
		r, size := rune(m.text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(m.text[i:])
		}
		i += size
		m.peq[m.admit(r)*m.words+at/64] |= 1 << (at % 64)
	}
}

// symbol returns the number of a character, or -1 if the text does not have it.
func (m *Matcher) symbol(r rune) int {
	if r < utf8.RuneSelf {
		return int(r)
	}
	if s, ok := m.extra[r]; ok {
		return int(s)
	}
	return -1
}

// admit returns the number of a character, which may be new.
func (m *Matcher) admit(r rune) int {
	if s := m.symbol(r); s >= 0 {
		return s
	}
	if m.extra == nil {
		m.extra = make(map[rune]int32)
	}
	s := utf8.RuneSelf + len(m.extra)
	m.extra[r] = int32(s)
	n := len(m.peq)
	m.peq = resize(m.peq, n+m.words)
	clear(m.peq[n:])
	return s
}

// resize returns s with n elements. It reuses the memory of s if that suffices.
func resize(s []uint64, n int) []uint64 {
	if cap(s) < n {
		return append(s[:cap(s)], make([]uint64, n-cap(s))...)
	}
	return s[:n]
}
