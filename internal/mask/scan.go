package mask

import "math/bits"

// scanner finds secrets in unescaped texts, one after another.
type scanner struct {
	s     string
	rules *ruleSet
	spans []span
	used  bool        // the following fields are set
	runs  [16]stretch // the last run by class of bytes
	value stretch     // the last value without quotes
}

// stretch is a part of a text.
type stretch struct {
	start, end int
	digit      int // position of its last digit, or -1
}

// shortest is the length of the shortest secret with its mark.
const shortest = 7

// find returns the secrets in a text. They may overlap.
func (sc *scanner) find(set *ruleSet, s string) []span {
	if len(s) < shortest {
		return nil
	}
	return sc.findFrom(set, s, set.index.next(s, 0, len(s)), 0, len(s))
}

// findFrom returns the secrets in the part of s from start to end, with positions relative to start. It is equal to find for
// s[start:end], but faster. The position first is where set.index.next has found something, or end.
func (sc *scanner) findFrom(set *ruleSet, s string, first, start, end int) []span {
	if first >= end {
		return nil
	}
	sc.s, sc.rules = s[start:end], set
	set.index.scan(sc, s, first, start, end)
	found := sc.spans
	if sc.s, sc.spans = "", nil; sc.used {
		*sc = scanner{}
	}
	return found
}

// mask records a secret.
func (sc *scanner) mask(start, end int) {
	if start < end {
		sc.spans = append(sc.spans, span{start, end, bare})
	}
}

// has reports whether the text continues with word at i.
func (sc *scanner) has(i int, word string) bool {
	return i >= 0 && i+len(word) <= len(sc.s) && sc.s[i:i+len(word)] == word
}

// hasFold is has without regard to case. The word is in lower case.
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

// run returns the end of the run of bytes of this class that begins at i, and whether it has a digit. It remembers the last run
// of each class, so that many calls within one run cost no more than one.
func (sc *scanner) run(i int, of uint16) (end int, digits bool) {
	m := &sc.runs[bits.TrailingZeros16(of)]
	if i < m.start || i >= m.end {
		*m, sc.used = stretch{i, i, -1}, true
		for ; m.end < len(sc.s) && class[sc.s[m.end]]&of != 0; m.end++ {
			if class[sc.s[m.end]]&digit != 0 {
				m.digit = m.end
			}
		}
	}
	return m.end, m.digit >= i
}

// startsWord reports whether a word can begin at i: no letter or digit precedes it, except as the end of an escape.
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

// endsWord reports whether a word can end before i.
func (sc *scanner) endsWord(i int) bool { return i >= len(sc.s) || class[sc.s[i]]&word == 0 }

func (sc *scanner) afterSpace(i int) int {
	for i < len(sc.s) && isSpace(sc.s[i]) {
		i++
	}
	return i
}

// afterLine is afterSpace where the end of a line may be written as an escape.
func (sc *scanner) afterLine(i int) int {
	for {
		i = sc.afterSpace(i)
		if sc.byteAt(i) != '\\' || sc.byteAt(i+1) != 'n' && sc.byteAt(i+1) != 'r' {
			return i
		}
		i += 2
	}
}

// afterBlanks is afterSpace within one line.
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
	dotted                      // of a JWT: those and dots
	token68                     // of the token after Bearer
	base64                      //
	login                       // of the credentials in a URL
	named                       // of a name before a value, the same as dotted
	bareword                    // of a value without quotes
	setting                     // of a value in a file of environment settings
	stop                        // the end of a sentence, not of a value
	closes                      // bytes after a value, which cannot begin one
	code                        // bytes after a name in code
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
