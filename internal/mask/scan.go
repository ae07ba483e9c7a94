package mask

import "math/bits"

// scanner searches one text after another, as a reader sees them, for secrets.
type scanner struct {
	s      string
	rules  *ruleSet
	spans  []span
	looked bool        // a keyword was there, so what follows is set
	runs   [16]stretch // the last one found, by the class of its bytes
	value  stretch     // the last value without quotes
}

// stretch is a part of a text.
type stretch struct {
	start, end int
	digit      int // the last digit of it, or -1
}

// shortest is the length of the shortest secret together with what marks it as one.
const shortest = 7

// find returns the secrets in a text. Some may overlap.
func (sc *scanner) find(set *ruleSet, s string) []span { return sc.findIn(set, s, 0, len(s)) }

// findIn returns the secrets in the part of s from start to end. They count from start. It is find for s[start:end], faster.
func (sc *scanner) findIn(set *ruleSet, s string, start, end int) []span {
	if end-start < shortest {
		return nil
	}
	sc.s, sc.rules = s[start:end], set
	set.index.scan(sc, s, start, end)
	if sc.s = ""; !sc.looked {
		return nil
	}
	found := sc.spans
	*sc = scanner{}
	return found
}

// mask notes a secret.
func (sc *scanner) mask(start, end int) {
	if start < end {
		sc.spans = append(sc.spans, span{start, end, bare})
	}
}

// has tells whether the text goes on with word at i.
func (sc *scanner) has(i int, word string) bool {
	return i >= 0 && i+len(word) <= len(sc.s) && sc.s[i:i+len(word)] == word
}

// hasFold is as has, and capitals do not count. The word is in lower case.
func (sc *scanner) hasFold(i int, word string) bool {
	if i < 0 || i+len(word) > len(sc.s) {
		return false
	}
	for k := range len(word) {
		if lower(sc.s[i+k]) != word[k] {
			return false
		}
	}
	return true
}

// byteAt returns the byte at i, or 0 outside of the text.
func (sc *scanner) byteAt(i int) byte {
	if i < 0 || i >= len(sc.s) {
		return 0
	}
	return sc.s[i]
}

// run returns the end of the bytes of this class that begin at i, and whether a digit is among them. It remembers the last run
// of a class, so that many that begin within one cost no more than one.
func (sc *scanner) run(i int, of uint16) (end int, digits bool) {
	m := &sc.runs[bits.TrailingZeros16(of)]
	if i < m.start || i >= m.end {
		*m = stretch{i, i, -1}
		for ; m.end < len(sc.s) && class[sc.s[m.end]]&of != 0; m.end++ {
			if class[sc.s[m.end]]&digit != 0 {
				m.digit = m.end
			}
		}
	}
	return m.end, m.digit >= i
}

// startsWord tells whether a word can begin at i: no letter or digit stands before it, unless it ends an escape.
func (sc *scanner) startsWord(i int) bool {
	if i == 0 || class[sc.s[i-1]]&word == 0 {
		return true
	}
	switch sc.s[i-1] {
	case 'n', 'r', 't', 'b', 'f':
		return sc.byteAt(i-2) == '\\'
	}
	return false
}

// endsWord tells whether a word can end before i.
func (sc *scanner) endsWord(i int) bool { return i >= len(sc.s) || class[sc.s[i]]&word == 0 }

func (sc *scanner) afterSpace(i int) int {
	for i < len(sc.s) && isSpace(sc.s[i]) {
		i++
	}
	return i
}

// afterBlanks is as afterSpace, but stays on the line.
func (sc *scanner) afterBlanks(i int) int {
	for i < len(sc.s) && (sc.s[i] == ' ' || sc.s[i] == '\t') {
		i++
	}
	return i
}

// Classes of bytes.
const (
	digit    uint16 = 1 << iota //
	word                        // letters, digits, underscore
	alnum                       // letters, digits
	key                         // of vendors' keys: letters, digits, _ and -
	dotted                      // of a JWT: those and the dot
	token68                     // of what follows Bearer
	base64                      //
	login                       // before the host of a URL
	named                       // of a name before a value: those of dotted
	bareword                    // of a value without quotes
	setting                     // of a value in a file of settings of an environment
	stop                        // what ends a sentence, not a value
	closes                      // what stands behind a value, so that no value begins with it
	code                        // what follows a name in code
	crumb                       // of the value of a cookie
)

var class = func() (t [256]uint16) {
	all := func(chars string, bits uint16) {
		for _, c := range []byte(chars) {
			t[c] |= bits
		}
	}
	for c := range 256 {
		switch c := byte(c); {
		case c >= '0' && c <= '9':
			t[c] = digit | word | alnum | key | dotted | token68 | base64 | named | bareword
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			t[c] = word | alnum | key | dotted | token68 | base64 | named | bareword
		case c >= 0x80:
			t[c] = bareword
		}
		if c > ' ' && c != 0x7f {
			t[c] |= login | setting | crumb
		}
	}
	for _, c := range []byte("/\"'`\\") {
		t[c] &^= login
	}
	for _, c := range []byte("\"'`\\;") {
		t[c] &^= setting
	}
	for _, c := range []byte("\"'`\\;,") {
		t[c] &^= crumb
	}
	all("_", word)
	all("-_", key|dotted|token68|named)
	all(".", dotted|token68|named)
	all("~+/=", token68)
	all("+/=", base64)
	all("-._~!*+/=%^#?@:$", bareword)
	all(".:!?", stop)
	all(",;:)]}", closes)
	all("([{<`", code)
	return t
}()

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c | 0x20
	}
	return c
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
