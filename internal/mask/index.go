package mask

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"strings"
	"unsafe"
)

// index finds keywords in one pass that examines four bytes at every second position. Each keyword has two grams, one for the
// positions at even distances from its start and one for those at odd distances: the four bytes there that are rarest in texts.
// An automaton (Aho-Corasick) would examine every byte, each after the previous one.
type index struct {
	words []keyword
	bits  [1 << 18 / 64]uint64 // one bit for the code of each stored gram
	heads [1 << 10]int32       // first entry in grams by the middle bytes; 0 for none
	grams []gram
}

// keyword is a word and the entries to try at its position.
type keyword struct {
	text    string // in lower case
	entries []entry
}

// entry is a rule, or a finder if it is set.
type entry struct {
	rule   int
	finder func(sc *scanner, p int)
}

// gram is four bytes that contain at least three of a keyword. The first or the last may be any other byte.
type gram struct {
	four, known uint32 // folded bytes, and the mask of those in the keyword
	at          int    // position relative to the keyword, from -1 on
	word        int
	next        int32
}

// fold maps capitals to small letters, in four bytes at once. It also maps some other bytes to the same value.
func fold(four uint32) uint32 { return four | 0x20202020 }

// codeOf returns 18 bits of four bytes, without regard to case: 4, 5, 5 and 4 of the lowest bits of each. The factor moves them
// to the upper end, nearly without overlaps.
func codeOf(four uint32) uint32 { return four & 0x0f1f1f0f * 0x10010008 >> 14 }

// middleOf returns ten bits of the second and the third byte, without regard to case.
func middleOf(four uint32) uint32 { return four>>8&0x1f | four>>11&0x3e0 }

// build builds the tables of the keywords with their entries.
func (x *index) build(entries map[string][]entry) {
	x.grams = make([]gram, 1, 2*len(entries)+1)
	for k, text := range slices.Sorted(maps.Keys(entries)) {
		x.words = append(x.words, keyword{text, entries[text]})
		x.link(k, text, rarest(text, 0))
		x.link(k, text, rarest(text, -1))
	}
}

// byFrequency has letters and signs in descending order of frequency in prose and code. Other bytes are rare.
const byFrequency = " -etaoinsrmclpdhufgybwv_./\"':,=k()"

// rarest returns the position of the four bytes of a keyword that are rarest in texts, of those at every second position.
func rarest(text string, first int) (at int) {
	least := math.MaxInt
	for i := first; i+3 <= len(text); i += 2 {
		frequency := 0
		for k := i; k < i+4; k++ {
			if k < 0 || k == len(text) {
				frequency += 2 * len(byFrequency) // any byte
			} else if rank := strings.IndexByte(byFrequency, text[k]); rank >= 0 {
				frequency += len(byFrequency) - rank
			}
		}
		if frequency < least {
			at, least = i, frequency
		}
	}
	return at
}

// link stores the gram of a keyword.
func (x *index) link(word int, text string, at int) {
	g := gram{at: at, word: word}
	for k := range 4 {
		if i := at + k; i >= 0 && i < len(text) {
			g.four |= uint32(text[i]) << (8 * k)
			g.known |= 0xff << (8 * k)
		}
	}
	g.four = fold(g.four) & g.known
	for c := range uint32(256) {
		h := codeOf(g.four | c*0x01010101&^g.known)
		x.bits[h>>6] |= 1 << (h & 63)
	}
	g.next = x.heads[middleOf(g.four)]
	x.heads[middleOf(g.four)] = int32(len(x.grams))
	x.grams = append(x.grams, g)
}

// scan tries the entries of all keywords in the part of s from start to end, and the first ones at i, which next has returned. It
// takes time proportional to the length of the part.
func (x *index) scan(sc *scanner, s string, i, start, end int) {
	for ; i < end; i = x.next(s, i+2, end) {
		if i+4 <= len(s) {
			x.look(sc, i-start, fourBytes(s, i))
		} else {
			x.look(sc, i-start, uint32(s[i])|uint32(s[i+1])<<8|uint32(s[i+2])<<16)
		}
	}
}

// next returns the position of the first four bytes, from i on in steps of two, that may be a gram of a keyword before end. It
// returns end if there are none. It reads up to nine bytes after end, and may find some there; look excludes keywords there.
func (x *index) next(s string, i, end int) int {
	for last := min(end-2, len(s)-9); i < last; i += 8 {
		switch {
		case x.has(fourBytes(s, i)):
			return i
		case x.has(fourBytes(s, i+2)):
			return i + 2
		case x.has(fourBytes(s, i+4)):
			return i + 4
		case x.has(fourBytes(s, i+6)):
			return i + 6
		}
	}
	for last := min(end-2, len(s)-3); i < last; i += 2 {
		if x.has(fourBytes(s, i)) {
			return i
		}
	}
	if i == len(s)-3 && i < end-2 {
		return i // the last byte of a gram may be any
	}
	return end
}

// fourBytes returns four bytes from i on, the first in the lowest bits. The text must have them: they are read without a check.
func fourBytes(s string, i int) uint32 {
	return binary.LittleEndian.Uint32((*[4]byte)(unsafe.Add(unsafe.Pointer(unsafe.StringData(s)), i))[:])
}

// has reports whether four bytes may be a gram.
func (x *index) has(four uint32) bool {
	h := codeOf(four)
	return x.bits[h>>6]&(1<<(h&63)) != 0
}

// look tries the entries of the keywords with these four bytes at i.
func (x *index) look(sc *scanner, i int, four uint32) {
	for k := x.heads[middleOf(four)]; k != 0; {
		g := &x.grams[k]
		k = g.next
		if fold(four)&g.known != g.four {
			continue
		}
		w := &x.words[g.word]
		if p := i - g.at; p >= 0 && sc.hasFold(p, w.text) {
			sc.tryAll(w, p)
		}
	}
}

func (sc *scanner) tryAll(w *keyword, p int) {
	for _, e := range w.entries {
		if e.finder != nil {
			e.finder(sc, p)
		} else if r := &sc.rules.rules[e.rule]; !r.Named || sc.leadsToValue(p+len(w.text)) {
			sc.try(e.rule, p-r.Offset)
		}
	}
}
