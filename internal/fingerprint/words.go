package fingerprint

// Bounds of what is read of a text.
const (
	readHead   = 3 << 10 // bytes of its beginning
	readTail   = 1 << 10 // bytes of its end, where it is longer than both
	maxTag     = 40      // bytes of a tag
	maxNumbers = 8
	maxDigits  = 18 // of a number that are read
)

// WordKind says what a word is made of.
type WordKind uint8

// The kinds of words.
const (
	Letters  WordKind = iota // letters only
	Number                   // digits, and a fraction
	Mixed                    // letters and digits, as ids are
	Volatile                 // a time, a duration, an address: see Masker
)

// Word is a word of a text, in small letters.
type Word struct {
	Hash uint32
	Kind WordKind
}

// Words reads texts into words. Marks and tags such as <output> separate words and are none; the parts of a name with
// underscores are words. It keeps its buffers from call to call. Not safe for concurrent use.
type Words struct {
	List    []Word
	Numbers [maxNumbers]float64 // the first numbers
	Count   int                 // how many Numbers there are
	Shape   Hash                // of the words, where one stands for every other word than Letters
	Tells   Setback             // how the attempt ended of which the text tells
	Says    int                 // how many words there are that say more than an exit status does
	Passing bool                // it tells of what may pass by itself, such as a timeout
	before  uint8               // what the word before says
	text    []byte
}

// Reset forgets what was read.
func (w *Words) Reset() {
	*w = Words{List: w.List[:0], text: w.text[:0]}
}

// Add reads a text, plain or raw JSON, behind what was read since the last Reset. Of a text over 4 KiB it reads the first 3 KiB
// and the last 1 KiB. It takes about 2 ns a byte and allocates nothing once its buffers have grown.
func (w *Words) Add(text []byte) {
	if len(text) > readHead+readTail {
		w.add(text[:readHead])
		text = text[len(text)-readTail:]
	}
	w.add(text)
}

// AddText does the same for a string.
func (w *Words) AddText(text string) {
	if len(text) > readHead+readTail {
		w.text = append(w.text[:0], text[:readHead]...)
		w.add(w.text)
		text = text[len(text)-readTail:]
	}
	w.text = append(w.text[:0], text...)
	w.add(w.text)
}

func (w *Words) add(b []byte) {
	for i := 0; i < len(b); {
		c := class[b[i]]
		if c&wordByte == 0 {
			switch b[i] {
			case '\\':
				i++ // an escaped character separates words
			case '<':
				i += tag(b[i:])
			}
			i++
			continue
		}
		if c&start != 0 || c&hex != 0 && i+8 < len(b) && b[i+8] == '-' {
			if n := volatile(b, i); n > 0 {
				w.put(0, Volatile)
				i += n
				continue
			}
		}
		i += w.word(b[i:])
	}
}

// word reads the word at the beginning of b and returns its length.
func (w *Words) word(b []byte) int {
	kinds, n := uint8(0), 0
	for n < len(b) {
		c := class[b[n]]
		if c&wordByte == 0 || b[n] == '_' {
			break
		}
		kinds |= c&digit | letterSeen&^(c<<6) // digit is bit 1: a byte that is none sets letterSeen
		n++
	}
	switch {
	case n == 0:
		return 1 // an underscore
	case kinds&letterSeen == 0:
		if n+1 < len(b) && b[n] == '.' && class[b[n+1]]&digit != 0 {
			n += 1 + count(b[n+1:], digit)
		}
		if w.Count < maxNumbers {
			w.Numbers[w.Count] = decimal(b[:n])
			w.Count++
		}
		w.put(hashWord(b, n), Number)
	case kinds&digit != 0:
		w.put(hashWord(b, n), Mixed)
	default:
		h := hashWord(b, n)
		w.put(h, Letters)
		w.tell(h)
		if n < 4 || n > 6 || string(b[:n]) != "exit" && string(b[:n]) != "status" && string(b[:n]) != "code" {
			w.Says++
		}
	}
	return n
}

const golden = 0x9E3779B97F4A7C15 // from the golden ratio: a factor that spreads bits

// hashWord returns the fingerprint of the first n bytes of b, in small letters, eight at a time.
func hashWord(b []byte, n int) uint32 {
	const small = 0x2020202020202020
	h := uint64(n)
	for n > 0 {
		var part uint64
		if len(b) >= 8 {
			part = load(b, 0)
			if n < 8 {
				part &= 1<<(8*n) - 1
			}
		} else {
			for k := range min(n, len(b)) {
				part |= uint64(b[k]) << (8 * k)
			}
		}
		if n >= 8 {
			part |= small
		} else {
			part |= small & (1<<(8*n) - 1)
		}
		h = (h ^ part) * golden
		h ^= h >> 32
		b, n = b[min(8, len(b)):], n-8
	}
	return uint32(h)
}

// letterSeen notes that a word has a letter. It is no bit of digit.
const letterSeen = 0x80

func (w *Words) put(h uint32, kind WordKind) {
	w.List = append(w.List, Word{h, kind})
	shown := Hash(h)
	if kind != Letters {
		shown, w.before = 1, 0
	}
	w.Shape = (w.Shape ^ shown) * golden
	w.Shape ^= w.Shape >> 29
}

// decimal reads digits and a fraction, as far as they fit.
func decimal(b []byte) float64 {
	value, scale := 0.0, 0.0
	for _, d := range b[:min(len(b), maxDigits)] {
		if d == '.' {
			scale = 1
			continue
		}
		value = value*10 + float64(d-'0')
		scale *= 10
	}
	if scale > 0 {
		value /= scale
	}
	return value
}

// tag returns by how much the tag at the beginning of b is longer than one byte; 0 if none stands there. What wraps a result
// is no part of it.
func tag(b []byte) int {
	for n := 1; n < min(len(b), maxTag); n++ {
		switch c := b[n]; {
		case c == '>':
			return n
		case class[c]&wordByte == 0 && c != '/' && c != '-':
			return 0
		}
	}
	return 0
}

// Run4 returns the fingerprint of four words in a row.
func Run4(a, b, c, d Word) uint32 { return mix(mix(a.Hash, b.Hash), mix(c.Hash, d.Hash)) }

// Run2 returns the fingerprint of two words in a row.
func Run2(a, b Word) uint32 { return mix(a.Hash, b.Hash) }

func mix(a, b uint32) uint32 {
	h := (a ^ b*0x9E3779B1) * 0x85EBCA6B
	return h ^ h>>15
}
