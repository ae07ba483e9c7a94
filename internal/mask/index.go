package mask

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"strings"
	"unsafe"
)

// index finds keywords in one pass that examines every second byte. For each keyword it selects the four bytes that are rarest in
// texts, and stores the first three and the last three of them; one of these two begins at an examined byte. An automaton
// (Aho-Corasick) would examine every byte, each after the previous one.
type index struct {
	words []keyword
	bits  [1 << 18 / 64]uint64 // one bit for the hash of each stored gram
	heads [1 << 12]int32       // first entry in grams by hash; 0 for none
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

// gram is three bytes of a keyword.
type gram struct {
	three uint32 // folded
	at    int    // position in the keyword
	word  int
	next  int32
}

// fold maps capitals to small letters, in three bytes at once. It also maps some other bytes to the same value.
func fold(three uint32) uint32 { return three&0xffffff | 0x202020 }

// hash returns 18 bits; the upper 12 select the chain.
func hash(three uint32) uint32 { return three * 0x9E3779B1 >> 14 }

// build builds the tables of the keywords with their entries.
func (x *index) build(entries map[string][]entry) {
	x.words = make([]keyword, 0, len(entries))
	x.grams = make([]gram, 1, 8*len(entries))
	for k, text := range slices.Sorted(maps.Keys(entries)) {
		x.words = append(x.words, keyword{text, entries[text]})
		at := rarest(text)
		x.link(gram{three: fold(three(text, at)), at: at, word: k})
		if len(text) > 3 {
			x.link(gram{three: fold(three(text, at+1)), at: at + 1, word: k})
			continue
		}
		for _, t := range behind(text) {
			x.link(gram{three: t, at: 1, word: k})
		}
	}
}

// byFrequency has letters and signs in descending order of frequency in prose and code. Other bytes are rare.
const byFrequency = " etaoinsrlhdcu-mfpgwybv_./\"':,=k()"

// rarest returns the position of the four bytes of a keyword that are rarest in texts.
func rarest(text string) (at int) {
	least := math.MaxInt
	for i := 0; i+4 <= len(text); i++ {
		frequency := 0
		for _, c := range []byte(text[i : i+4]) {
			if rank := strings.IndexByte(byFrequency, c); rank >= 0 {
				frequency += len(byFrequency) - rank
			}
		}
		if frequency < least {
			at, least = i, frequency
		}
	}
	return at
}

// behind returns the codes of three bytes that end a keyword of three: its last two bytes, with each byte that can follow.
func behind(text string) (all []uint32) {
	last := class[text[2]] & word // behind letters and the like, more of a key or a name
	var known [256]bool
	for c := range 256 {
		if class[c]&token68 == 0 && last != 0 {
			continue
		}
		if t := fold(three(text, 1) | uint32(c)<<16); !known[t>>16] {
			known[t>>16] = true
			all = append(all, t)
		}
	}
	return all
}

func (x *index) link(g gram) {
	h := hash(g.three)
	x.bits[h>>6] |= 1 << (h & 63)
	g.next = x.heads[h>>6]
	x.heads[h>>6] = int32(len(x.grams))
	x.grams = append(x.grams, g)
}

// three returns the three bytes at i, or fewer at the end.
func three(s string, i int) (t uint32) {
	for k := range min(3, len(s)-i) {
		t |= uint32(s[i+k]) << (8 * k)
	}
	return t
}

// scan tries the entries of all keywords in the part of s from start to end. It takes time proportional to the length of the
// part. It reads up to three bytes after it; look excludes keywords there.
func (x *index) scan(sc *scanner, s string, start, end int) {
	text := unsafe.Slice(unsafe.StringData(s), len(s))
	i := start
	for last := min(end-1, len(text)-3); i < last; i += 2 {
		t := fold(binary.LittleEndian.Uint32(text[i:]))
		if h := hash(t); x.bits[h>>6]&(1<<(h&63)) != 0 {
			x.look(sc, i-start, t)
		}
	}
	for ; i < end; i += 2 {
		t := fold(three(s[:end], i))
		if h := hash(t); x.bits[h>>6]&(1<<(h&63)) != 0 {
			x.look(sc, i-start, t)
		}
	}
}

// look tries the entries of the keywords with these three bytes at i.
func (x *index) look(sc *scanner, i int, t uint32) {
	for k := x.heads[hash(t)>>6]; k != 0; {
		g := &x.grams[k]
		k = g.next
		if g.three != t {
			continue
		}
		w := &x.words[g.word]
		if p := i - g.at; p >= 0 && sc.hasFold(p, w.text) {
			sc.looked = true
			sc.tryAll(w, p)
		}
	}
}

func (sc *scanner) tryAll(w *keyword, p int) {
	for _, e := range w.entries {
		if e.finder != nil {
			e.finder(sc, p)
		} else {
			sc.try(e.rule, p-sc.rules.rules[e.rule].Offset)
		}
	}
}
