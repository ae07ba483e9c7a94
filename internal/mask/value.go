package mask

import "slices"

// quotedValue masks the value between quotes whose opening one, or the first backslash before it, is at i. It returns
// where the search goes on; ok is false if there is no such value.
func (sc *scanner) quotedValue(n name, i int) (end int, ok bool) {
	start, escapes := i, 0
	for start < len(sc.s) && sc.s[start] == '\\' && escapes < 16 {
		start, escapes = start+1, escapes+1
	}
	if start == len(sc.s) || !isEscape(escapes) {
		return 0, false
	}
	quote := sc.s[start]
	start++
	switch {
	case quote != '"' && quote != '\'':
		return 0, false
	case quote == '"' && n.quote == '"' && escapes < n.escapes:
		return 0, false // the end of a text around this one
	case quote == '"' && n.quote != '"' && sc.json && escapes == 0:
		return 0, false
	case n.quote == 0 && start < len(sc.s) && (isSpace(sc.s[start]) || sc.closesAt(start)):
		return 0, false
	}
	if key := sc.privateKey(start + len(dashes)); key > start+len(dashes) {
		return key, true
	}
	end = sc.closing(start, quote, escapes)
	if n.word == authorization {
		start = sc.afterScheme(start, end)
	}
	if maskAt(sc.s, start) || sc.reference(start, end) {
		return start, true
	}
	return sc.mask(start, end), true
}

// closing returns the end of a text between quotes that begins at i: its closing quote with the backslashes before it,
// or that of a text around it, or the end of the line.
func (sc *scanner) closing(i int, quote byte, escapes int) int {
	newline := (escapes + 1) / 2 // backslashes before the n of a line's end, in a text within so many others
	if sc.json && quote == '\'' && escapes == 0 {
		newline = 1
	}
	backslashes := 0
	for ; i < len(sc.s); i++ {
		c := sc.s[i]
		if c == '\\' {
			backslashes++
			continue
		}
		switch {
		case c == '"' && quote == '"':
			if own := ownEscapes(backslashes, escapes); own >= 0 {
				return i - own
			}
		case c == '"' && sc.json && (backslashes%2 == 0 || sc.closesAt(i+1)): // a text around this one ends
			return i - backslashes
		case c == '\'' && quote == '\'' && backslashes == escapes:
			return i - escapes
		case c == 'n' && newline > 0 && backslashes == newline:
			return i - backslashes
		case c == '\n':
			return i
		}
		backslashes = 0
	}
	return i
}

// closesAt tells whether what stands at i comes after a value.
func (sc *scanner) closesAt(i int) bool { return i < len(sc.s) && class[sc.s[i]]&closes != 0 }

// ownEscapes returns how many of the backslashes before a quote belong to it, if it ends a text within so many escapes or
// one around it, and -1 if it is part of the text. The others are escaped backslashes of the text.
func ownEscapes(backslashes, escapes int) int {
	for own := 0; own <= escapes && own <= backslashes; own = 2*own + 1 {
		if (backslashes-own)%(2*(own+1)) == 0 {
			return own
		}
	}
	return -1
}

// afterScheme returns where the credentials begin in the value of an Authorization header.
func (sc *scanner) afterScheme(start, end int) int {
	i := start
	for i < end && (class[sc.s[i]]&alnum != 0 || sc.s[i] == '-') {
		i++
	}
	if i == start || i-start > 20 || i+1 >= end || sc.s[i] != ' ' {
		return start
	}
	return i + 1
}

// schemes are those of an Authorization header without quotes.
var schemes = []string{"bearer", "basic", "token", "digest", "apikey", "negotiate"}

// longValue is how far a value without quotes is read before it is decided that it is one. The search stays linear so.
const longValue = 256

// bareValue masks a value without quotes that begins at start, after the colon or equals sign at i. Most of those in
// code and prose are no secrets, so it wants a digit, or the form of a variable of an environment or a query.
func (sc *scanner) bareValue(n name, i, start int) int {
	if n.word == authorization {
		if scheme, _ := sc.run(start, alnum); sc.has(scheme, " ") &&
			slices.ContainsFunc(schemes, func(s string) bool { return len(s) == scheme-start && sc.hasFold(start, s) }) {
			start = scheme + 1
		}
	}
	if key := sc.privateKey(start + len(dashes)); key > start+len(dashes) {
		return key
	}
	end, digits := start, false
	for limit := min(start+longValue, len(sc.s)); end < limit && class[sc.s[end]]&value != 0; end++ {
		digits = digits || class[sc.s[end]]&digit != 0
	}
	if digits && end-start == longValue { // whatever follows, it is no code
		end, _ = sc.run(end, value)
		return sc.mask(start, end)
	}
	for end > start && class[sc.s[end-1]]&stop != 0 {
		end--
	}
	next := byte(' ')
	if end < len(sc.s) {
		next = sc.s[end]
	}
	switch {
	case end-start < 4, class[next]&code != 0, sc.reference(start, end):
		return i + 1
	case digits, n.word == authorization && end-start >= 20, sc.assigned(n, i, start, end, next):
		return sc.mask(start, end)
	}
	return i + 1
}

// assigned tells whether name=value without a space is a variable of an environment or a parameter of a query or of a
// command, and its value more than the name of another variable.
func (sc *scanner) assigned(n name, i, start, end int, next byte) bool {
	if sc.s[i] != '=' || n.end != i || start != i+1 || end-start < 6 || next == ',' || next == ')' {
		return false
	}
	for _, w := range secretWords {
		if sc.endsIn(end, w) {
			return false
		}
	}
	for k := start; k < end; k++ {
		if sc.s[k] == '.' {
			return false
		}
	}
	return !slices.ContainsFunc(constants, func(c string) bool { return len(c) == end-start && sc.hasFold(start, c) })
}

// constants are what code and its documentation say in place of a value.
var constants = []string{"undefined", "string", "required", "optional", "redacted"}

// reference tells whether a value only says where a secret stands, as $PASSWORD or <your key>, or was hidden already.
func (sc *scanner) reference(start, end int) bool {
	if end-start > 64 {
		return false
	}
	if start == end {
		return true
	}
	first, last := sc.s[start], sc.s[end-1]
	switch first {
	case '<':
		return last == '>'
	case '{':
		return sc.has(start, "{{") && last == '}'
	case '%':
		return last == '%' && end-start > 1
	case '$':
		return sc.has(start, "${") || sc.has(start, "$(") || sc.capitals(start+1, end)
	case '*', 'x', 'X', '.', '-':
		for i := start; i < end; i++ {
			if sc.s[i] != first {
				return false
			}
		}
		return end-start >= 3
	}
	return false
}

// capitals tells whether there are only capitals, digits and underscores, and a capital first.
func (sc *scanner) capitals(start, end int) bool {
	for i := start; i < end; i++ {
		c := sc.s[i]
		if class[c]&word == 0 || lower(c) == c && (i == start || class[c]&digit == 0 && c != '_') {
			return false
		}
	}
	return start < end
}
