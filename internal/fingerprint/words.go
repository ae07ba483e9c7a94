package fingerprint

import "slices"

// Limits of what is read of a text.
const (
	readHead   = 3 << 10 // bytes of its beginning
	readTail   = 1 << 10 // bytes of its end, if the text is longer than both
	maxTag     = 40      // bytes of a tag
	maxNumbers = 8       // numbers
	maxDigits  = 18      // digits of a number
)

// WordKind is the kind of characters in a word.
type WordKind uint8

// The kinds of words.
const (
	Letters  WordKind = iota // letters only
	Number                   // digits, and a fraction
	Mixed                    // letters and digits, as ids are, a number after the word id or pid, or serialDigits after a prefix
	Volatile                 // a time, a duration, an address: see Masker; or a number after a word such as duration
)

// Word is a word of a text.
type Word struct {
	Hash  uint32   // of the word in lower case; 0 if it is Volatile
	Kind  WordKind // the kind of its characters
	First bool     // it begins a line, a sentence or a JSON member
}

// tailNumbers is the number of numbers that a Tail keeps.
const tailNumbers = 4

// Tail is the last line, sentence or JSON member with numbers, which is usually a summary.
type Tail struct {
	Shape   Hash                 // of its words; all words that are not Letters are equal; 0 if there is no Tail
	Numbers [tailNumbers]float64 // its last numbers
	Count   int                  // number of Numbers
}

// Words splits texts into words and classifies them. Punctuation and tags such as <output> separate words. The parts of a name with
// underscores are separate words. Words reuses its buffers. It is not safe for concurrent use.
type Words struct {
	List      []Word
	Numbers   [maxNumbers]float64 // the first numbers
	Count     int                 // number of Numbers
	Left      float64             // the first duration, in the unit in which it is written; 0 for none
	Tail      Tail
	Shape     Hash                     // of the words; all words that are not Letters are equal
	Ending    Ending                   // the end of the attempt, according to the text
	Says      int                      // number of words, without numbers, ids and the words exit, code and status
	Zero      bool                     // the Ending is Nothing, expressed as a count of 0
	Void      bool                     // the text is an empty value, such as [] or None
	Opaque    bool                     // the text is the name of an object, such as <Figure size 640x480>, and not its content
	Place     float64                  // the first number after a word such as line, which tells how far a text was read; 0 for none
	Passing   bool                     // the text describes a transient failure, such as a timeout
	Varies    bool                     // a Masker may mask a part of the text, or the text was not read completely
	Requested [2]uint32                // fingerprints of words that tell of no failure, because the call asks for what they say
	before    uint16                   // what the previous word says: bits such as fails
	latest    [2 * tailNumbers]float64 // a ring of the latest numbers; the next one goes to latest[seen%len(latest)]
	after     int                      // numbers after the Tail
	seen      int                      // numbers read
	worked    bool                     // an envelope says that the call worked
	appended  bool                     // what is read is an argument
	decoded   bool                     // what is read has no escapes of the kind \u00e9
	text      []byte
}

// Reset removes everything that was read.
func (w *Words) Reset() {
	*w = Words{List: w.List[:0], text: w.text[:0]}
}

// distinctive is the least number that two texts hardly have in common by chance.
const distinctive = 10_000

// Distinctive reports whether the first number of the text is so large that two texts hardly have it in common by chance.
func (w *Words) Distinctive() bool { return w.Count > 0 && w.Numbers[0] >= distinctive }

// Add reads a text, plain or as raw JSON, and appends its words to those since the last Reset. Of a text over 4 KiB, it reads the first
// 3 KiB and the last 1 KiB. It takes about 1 ns a byte and allocates nothing once its buffers have grown.
func (w *Words) Add(text []byte) {
	if len(text) == 0 {
		return
	}
	head, tail := headAndTail(text)
	w.add(head)
	if len(tail) > 0 {
		w.Varies = true
		w.add(tail)
	}
}

// add reads and classifies a text.
func (w *Words) add(b []byte) {
	from := len(w.List)
	w.read(b)
	w.classify(from)
	if from == 0 && (w.void(b) || len(b) <= maxHollow && hollow(b)) {
		w.Void, w.Ending = true, Nothing
	}
	w.Opaque = w.Opaque || from == 0 && opaque(b)
}

// Append is Add without the classification: it does not set Tail, Shape, Ending, Zero, Void and Passing. The text is an argument, so the name in
// a tag is a word: an edit may be about it, as in #include <vector>, or List<String>.
func (w *Words) Append(text []byte) {
	w.appended = true
	head, tail := headAndTail(text)
	w.read(head)
	if len(tail) > 0 {
		w.read(tail)
	}
	w.appended = false
}

// AddText is Add for a string.
func (w *Words) AddText(text string) {
	head, tail := headAndTail(text)
	w.text = append(w.text[:0], head...)
	w.add(w.text)
	if len(tail) > 0 {
		w.text = append(w.text[:0], tail...)
		w.add(w.text)
	}
}

// headAndTail returns the parts of a text that are read. The tail is empty if the head is all of it.
func headAndTail[T string | []byte](text T) (head, tail T) {
	if len(text) <= readHead+readTail {
		return text, text[len(text):]
	}
	return text[:readHead], text[len(text)-readTail:]
}

// read reads the words of a text.
func (w *Words) read(b []byte) {
	w.List = slices.Grow(w.List, len(b)/2+1) // a byte separates two words
	var end [2 * lettersRead]byte            // the end of the text, padded with zeros
	rest := max(0, len(b)-lettersRead)
	copy(end[:], b[rest:])
	first := true
	for i := 0; i < len(b); {
		if i < rest {
			i, first = w.readLetters(b, i, rest, first)
		}
		if i >= rest {
			i, first = w.readLetters(end[:], i-rest, len(b)-rest, first)
			if i += rest; i >= len(b) {
				break
			}
		}
		c := class[b[i]]
		if c&apart != 0 { // a tag, or an escape of the kind \u00e9
			if b[i] == '\\' && !w.decoded && escapesText(b[i:]) {
				w.readDecoded(b, i, first)
				return
			}
			if b[i] == '\\' {
				i += max(control(b[i:]), 2)
				continue
			}
			first = true
			n := 1
			if !w.appended {
				n += tag(b[i:])
			}
			w.Varies = w.Varies || n > 2 && tagMayVary(b[i:i+n])
			i += n
			continue
		}
		if c&start != 0 || c&hex != 0 && i+8 < len(b) && b[i+8] == '-' {
			if n := volatile(b, i); n > 0 {
				if w.Left == 0 && c&digit != 0 && class[b[i+n-1]]&digit == 0 && duration(b[i:]) == n {
					w.Left = decimal(b[i : i+n])
				}
				w.List = append(w.List, Word{0, Volatile, first})
				first, w.Varies = false, true
				i += n
				continue
			}
		}
		n, h, kind := w.word(b, i, w.List, first)
		if n == 0 {
			if b[i] == symbolByte {
				i += 2
			}
			i++ // an underscore, or a symbol
			continue
		}
		w.List = append(w.List, Word{h, kind, first})
		first = false
		i += n
	}
}

// readDecoded continues read at the escape at index i of b, with the rest of b decoded, so that an escaped text has the words of the text. A
// word that the escape belongs to is read again. first means that a word at i begins a line, a sentence or a JSON member.
func (w *Words) readDecoded(b []byte, i int, first bool) {
	last := len(w.List) - 1
	if start := wordBefore(b, i); start < i && last >= 0 && w.List[last].Kind == Letters {
		first = w.List[last].First
		w.List = w.List[:last]
		w.Says--
		i = start
	}
	w.text = appendDecoded(w.text[:0], b[i:]) // b may be w.text, which is longer
	from := len(w.List)
	w.decoded = true
	w.read(w.text)
	w.decoded = false
	if from < len(w.List) && !first {
		w.List[from].First = false
	}
}

// wordBefore returns the index of the word that ends directly before the index i of b, or i if there is none.
func wordBefore(b []byte, i int) int {
	start := i
	for start > 0 && partOfWord[b[start-1]] != 0 {
		start--
	}
	backslashes := 0
	for start > backslashes && b[start-1-backslashes] == '\\' {
		backslashes++
	}
	if start < i && backslashes%2 == 1 {
		start++ // the first letter is that of an escape such as \n
	}
	return start
}

// serialDigits is the least number of digits of a serial number, which follows its prefix directly, such as in tnd_8120967 or LD-387672.
const serialDigits = 4

// word returns the length, the fingerprint and the kind of the word in text at the index at. The length is 0 if there is none. before
// are the words before it, and first means that it begins a line, a sentence or a JSON member.
func (w *Words) word(text []byte, at int, before []Word, first bool) (n int, h uint32, kind WordKind) {
	b, kinds := text[at:], uint8(0)
	for n < len(b) {
		kind := partOfWord[b[n]]
		if kind == 0 || b[n] == symbolByte && symbol(b[n:]) {
			break
		}
		kinds |= kind
		n++
	}
	switch {
	case n == 0:
		return 0, 0, Letters
	case kinds&letterSeen == 0:
		if n+1 < len(b) && b[n] == '_' && class[b[n+1]]&digit != 0 {
			n += 1 + count(b[n+1:], digit)
			return n, hashWord(b, n), Mixed
		}
		if n+1 < len(b) && b[n] == '.' && class[b[n+1]]&digit != 0 {
			w.Varies = w.Varies || volatile(text, at+n+1) > 0
			n += 1 + count(b[n+1:], digit)
		}
		value := decimal(b[:n])
		if len(before) == 0 && numbered(text, at, n) {
			return n, hashWord(b, n), Mixed
		}
		if !first {
			if n >= serialDigits && at > 1 && (text[at-1] == '_' || text[at-1] == '-') && class[text[at-2]]&alpha != 0 {
				return n, hashWord(b, n), Mixed
			}
			switch numberAfter(before) {
			case anID:
				return n, hashWord(b, n), Mixed
			case aSerial:
				if (before[len(before)-1].First || text[at-1] == '=') && !totalFollows(b[n:]) {
					return n, hashWord(b, n), Mixed
				}
			case aDuration, ofAQuota:
				return n, 0, Volatile
			case aDelay:
				if w.Left == 0 {
					w.Left = value
				}
				return n, 0, Volatile
			case aPlace:
				if w.Place == 0 {
					w.Place = value
				}
			}
		}
		if w.Count < maxNumbers {
			w.Numbers[w.Count] = value
			w.Count++
		}
		w.latest[w.seen%len(w.latest)] = value
		w.seen++
		kind = Number
	case kinds&digit != 0:
		kind = Mixed
	default:
		if n < 4 || n > 6 || string(b[:n]) != "exit" && string(b[:n]) != "status" && string(b[:n]) != "code" {
			w.Says++
		}
	}
	return n, hashWord(b, n), kind
}

// numbered reports whether the number with n digits at the index at of a text numbers it, as in "[7] no such file" and "#7: no such file".
func numbered(text []byte, at, n int) bool {
	if at == 0 || at+n+1 >= len(text) {
		return false
	}
	switch next := text[at+n]; text[at-1] {
	case '[':
		return next == ']' && text[at+n+1] == ' '
	case '#':
		return next == ':' || next == ' '
	}
	return false
}

// totalFollows reports whether the text after a number says of how many it is one: "7/200", "7 / 200" or "7 of 200".
func totalFollows(b []byte) bool {
	if len(b) > 0 && b[0] == ' ' {
		b = b[1:]
	}
	return len(b) > 0 && b[0] == '/' || len(b) > 2 && b[0] == 'o' && b[1] == 'f' && b[2] == ' '
}

const golden = 0x9E3779B97F4A7C15 // 2^64 divided by the golden ratio: a factor that spreads bits

const small = 0x2020202020202020 // the bit that lower-case letters have, in eight bytes

// hashWord returns the fingerprint of the first n bytes of b in lower case. It reads eight bytes at a time.
func hashWord(b []byte, n int) uint32 {
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

// letterSeen means that a word has a letter. It has no bit in common with digit.
const letterSeen = 0x80

// partOfWord is digit for a digit, letterSeen for another byte of a word, and 0 for a byte that separates words, such as an underscore.
var partOfWord = func() (t [256]uint8) {
	for b, c := range class {
		switch {
		case c&digit != 0:
			t[b] = digit
		case c&wordByte != 0 && b != '_':
			t[b] = letterSeen
		}
	}
	return t
}()

// decimal returns the value of the number at the beginning of b, from its first 18 bytes.
func decimal(b []byte) float64 {
	value, scale := 0.0, 0.0
	for _, d := range b[:min(len(b), maxDigits)] {
		if d == '.' {
			scale = 1
			continue
		}
		if class[d]&digit == 0 {
			break // a unit
		}
		value = value*10 + float64(d-'0')
		scale *= 10
	}
	if scale > 0 {
		value /= scale
	}
	return value
}

// symbolByte begins the UTF-8 of U+2000 to U+2FFF.
const symbolByte = 0xE2

// symbol reports whether b begins with a character from U+2000 to U+2BFF: dashes, arrows, bars and the frames of spinners.
func symbol(b []byte) bool { return len(b) > 2 && b[1] >= 0x80 && b[1] <= 0xAF && b[2] >= 0x80 }

// tag returns the length of the tag at the beginning of b, less 1, or 0 if there is none.
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

// tagMayVary reports whether a volatile part may begin in a tag. It is wrong only for tags without one.
func tagMayVary(tag []byte) bool {
	const longest = len("<tmp>") + 7 // a random name has eight characters or a digit, and a UUID is longer
	return len(tag) > longest || slices.ContainsFunc(tag, func(c byte) bool { return class[c]&digit != 0 })
}

// Run4 returns the fingerprint of four consecutive words, from those of the first two and of the last two.
func Run4(first, last uint32) uint32 { return mix(first, last) }

// RunOf returns the fingerprint of four consecutive words from their fingerprints.
func RunOf(words [4]uint32) uint32 {
	return mix(mix(words[0], words[1]), mix(words[2], words[3]))
}

// Run2 returns the fingerprint of two consecutive words.
func Run2(a, b Word) uint32 { return mix(a.Hash, b.Hash) }

func mix(a, b uint32) uint32 {
	h := (a ^ b*0x9E3779B1) * 0x85EBCA6B
	return h ^ h>>15
}
