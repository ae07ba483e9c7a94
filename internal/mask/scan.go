package mask

// scanner searches a text for secrets. In JSON, a quote that is not escaped is where a string begins or ends.
type scanner struct {
	s     string
	json  bool
	spans []span
}

// spansOf returns the secrets in a text in their order, none overlapping. It takes time proportional to the length.
func spansOf(s string, json bool) []span {
	sc := scanner{s: s, json: json}
	for i := 0; i < len(s); {
		if class[s[i]]&trigger == 0 {
			i++
			continue
		}
		i = sc.look(i)
	}
	return sc.spans
}

// look examines the surroundings of a trigger, and returns where the search goes on.
func (sc *scanner) look(i int) int {
	switch sc.s[i] {
	case ':':
		if next := sc.url(i); next > i {
			return next
		}
		return sc.named(i)
	case '=':
		return sc.named(i)
	case 'B', 'b':
		if i+1 == len(sc.s) || lower(sc.s[i+1]) != 'e' {
			return i + 1
		}
		if next := sc.privateKey(i); next > i {
			return next
		}
		return sc.bearer(i)
	case 'A':
		return sc.capital(i)
	case 'J':
		return sc.jwt(i)
	default: // - and _
		return sc.prefixed(i)
	}
}

// mask notes a secret and returns its end.
func (sc *scanner) mask(start, end int) int {
	if start < end {
		sc.spans = append(sc.spans, span{start, end, bare})
	}
	return end
}

// has tells whether the text goes on with word at i.
func (sc *scanner) has(i int, word string) bool {
	return i >= 0 && i+len(word) <= len(sc.s) && sc.s[i:i+len(word)] == word
}

// hasFold is as has, and capitals do not count. The word is in lower case and has no characters between ` and {.
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

// run returns the end of the characters of these classes that begin at i, and whether a digit is among them.
func (sc *scanner) run(i int, of uint16) (end int, digits bool) {
	for ; i < len(sc.s) && class[sc.s[i]]&of != 0; i++ {
		digits = digits || class[sc.s[i]]&digit != 0
	}
	return i, digits
}

// startsWord tells whether a word can begin at i: no letter or digit stands before it, unless it ends an escape.
func (sc *scanner) startsWord(i int) bool {
	if i == 0 || class[sc.s[i-1]]&word == 0 {
		return true
	}
	if i >= 2 && sc.s[i-2] == '\\' {
		switch sc.s[i-1] {
		case 'n', 'r', 't', 'b', 'f':
			return true
		}
	}
	return i >= 6 && sc.s[i-6] == '\\' && sc.s[i-5] == 'u'
}

// endsWord tells whether a word can end before i.
func (sc *scanner) endsWord(i int) bool { return i >= len(sc.s) || class[sc.s[i]]&word == 0 }

// Classes of bytes.
const (
	trigger  uint16 = 1 << iota // a secret, or the name of one, may be here
	digit                       //
	word                        // letters, digits, underscore
	alnum                       // letters, digits
	key                         // of vendors' keys: letters, digits, _ and -
	dotted                      // of a JWT: those and the dot
	token68                     // of what follows Bearer
	base64                      //
	userinfo                    // before the host of a URL
	value                       // of a value without quotes
	stop                        // what ends a sentence, not a value
	closes                      // what stands behind a value, so that no value begins with it
	code                        // what follows a name in code
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
			t[c] = digit | word | alnum | key | dotted | token68 | base64 | userinfo | value
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			t[c] = word | alnum | key | dotted | token68 | base64 | userinfo | value
		case c >= 0x80:
			t[c] = userinfo | value
		}
	}
	all(":=-_ABJb", trigger)
	all("_", word)
	all("-_", key|dotted|token68)
	all(".", dotted|token68)
	all("~+/=", token68)
	all("+/=", base64)
	all("-._~!$&()*+,;=%^|#?{}[]", userinfo)
	all("-._~!*+/=%^#?@:$", value)
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
