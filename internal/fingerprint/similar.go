package fingerprint

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"unicode/utf8"
)

// MaxCompared is the longest text that is compared whole, in bytes. Of a longer text, the first and the last half of
// that number are compared.
const MaxCompared = 4 << 10

// Shape is what is kept of a text so that most comparisons end before they begin.
type Shape struct {
	Length int        // characters
	Bag    [32]uint16 // how many characters fall in each of 32 classes
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

// common returns how many characters the two texts can have in common at most, in whatever order.
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

// Matcher compares one text with many: how alike two texts a and b are is 2·LCS(a, b) / (len a + len b), over
// characters, where LCS is the length of their longest common subsequence. It is the bit-parallel algorithm of Crochemore,
// Iliopoulos, Pinzon and Reid, "A fast and practical bit-vector algorithm for the longest common subsequence
// problem" (2001): len a · len b / 64 steps at worst. It keeps its buffers. Not safe for concurrent use.
type Matcher struct {
	text  []byte
	shape Shape
	words int            // of 64 characters of text
	peq   []uint64       // per symbol, words words: its places in text
	extra map[rune]int32 // symbols of characters beyond ASCII
	rows  []uint64
	ready bool // peq is built
	left  int  // full comparisons
}

// Reset makes text the one that is compared. It must stay unchanged while it is. Of the comparisons that follow, full
// may be full ones.
func (m *Matcher) Reset(text []byte, full int) {
	m.text, m.shape, m.ready, m.left = text, ShapeOf(text), false, full
}

// Similar reports whether the text and other are at least threshold alike (0 to 1). Cheap bounds come first: lengths,
// the common beginning and end, and how many characters of each class the two have. Where only a full comparison could
// decide and none is left, the answer is no.
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

// Ratio returns how alike the text and other are, from 0 to 1.
func (m *Matcher) Ratio(other []byte) float64 {
	shape := ShapeOf(other)
	total := m.shape.Length + shape.Length
	if total == 0 {
		return 1
	}
	return 2 * float64(m.lcs(other, shape.Length, 0)) / float64(total)
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

func load(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }

// giveUpEvery is after how many characters lcs looks whether it can still reach what is asked for.
const giveUpEvery = 32

// lcs returns the length of the longest common subsequence of the text and other, which has length characters, if it is at
// least least; else it returns some smaller number. A subsequence that long skips at most length - least characters of
// other and m.shape.Length - least of the text, so only matches within that band of the diagonal are looked at.
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

// matched counts the zeros of v, which are the characters of the text that the subsequence holds.
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

func step(v, match []uint64) {
	var carry uint64
	for k, row := range v {
		hit := row & match[k]
		var sum uint64
		sum, carry = bits.Add64(row, hit, carry)
		v[k] = sum | row&^match[k]
	}
}

// build records the places of each symbol in the text.
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

func (m *Matcher) symbol(r rune) int {
	if r < utf8.RuneSelf {
		return int(r)
	}
	if s, ok := m.extra[r]; ok {
		return int(s)
	}
	return -1
}

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

func resize(s []uint64, n int) []uint64 {
	if cap(s) < n {
		return append(s[:cap(s)], make([]uint64, n-cap(s))...)
	}
	return s[:n]
}
