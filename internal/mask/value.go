package mask

import (
	"math/bits"
	"slices"
	"strings"
)

// valueAt masks the value that begins at start. direct is whether it directly follows an equals sign that directly follows a name
// without quotes.
func (sc *scanner) valueAt(n name, start int, direct bool) {
	switch c := sc.byteAt(start); {
	case c == '"' || c == '\'' || c == '`':
		sc.quoted(n, start)
		return
	case (c|0x20 == 'b' || c|0x20 == 'f' || c|0x20 == 'r') && (sc.byteAt(start+1) == '"' || sc.byteAt(start+1) == '\''):
		sc.quoted(n, start+1) // Python
		return
	case c == '[' && n.quote != 0:
		sc.listed(n, start+1)
		return
	case c == '{' && direct: // the value of a connection string, not a template
		if k := strings.IndexAny(sc.s[start:min(len(sc.s), start+longValue)], "}\n"); k > 4 && sc.s[start+k] == '}' {
			if text := sc.s[start+1 : start+k]; hasDigit(text) && strings.ContainsAny(text, "!@#$%^&*;") && !strings.ContainsAny(text, "\"'([{ ") {
				sc.mask(start+1, start+k)
				return
			}
		}
	case n.quote == '"' && n.kind == secret:
		if end := sc.number(start); end > start {
			sc.spans = append(sc.spans, span{start, end, 0})
			return
		}
	}
	sc.bare(n, start, direct)
}

// quoted masks the value whose opening quote is at i, and returns its end.
func (sc *scanner) quoted(n name, i int) (end int) {
	start := i + 1
	end = sc.closing(start, sc.s[i])
	if n.quote == 0 && start < len(sc.s) && (isSpace(sc.s[start]) || class[sc.s[start]]&closes != 0) {
		return end
	}
	if from, ok := n.kind.in(sc.s[start:end]); ok {
		sc.mask(start+from, end)
	}
	return end
}

// closing returns the end of a quoted text that begins at i: its closing quote, or the end of the line.
func (sc *scanner) closing(i int, quote byte) int {
	for ; i < len(sc.s) && sc.s[i] != quote && sc.s[i] != '\n'; i++ {
		if sc.s[i] == '\\' && i+1 < len(sc.s) && sc.s[i+1] != '\n' {
			i++
		}
	}
	return min(i, len(sc.s))
}

// listed masks the texts of a list that begins at i.
func (sc *scanner) listed(n name, i int) {
	for {
		i = sc.afterSpace(i)
		if c := sc.byteAt(i); c != '"' && c != '\'' {
			return
		}
		i = sc.quoted(n, i)
		if i = sc.afterSpace(i + 1); sc.byteAt(i) != ',' {
			return
		}
		i++
	}
}

// number returns the end of a number of at least four characters that begins at start, or start.
func (sc *scanner) number(start int) int {
	end := start
	for c := sc.byteAt(end); class[c]&digit != 0 || end > start && (lower(c) == 'e' || c == '+') || c == '-' || c == '.'; c = sc.byteAt(end) {
		end++
	}
	if end-start < 4 || !sc.endsWord(end) {
		return start
	}
	return end
}

// element masks the content of an XML element.
func (sc *scanner) element(n name, start int) {
	end := start
	for limit := min(start+256, len(sc.s)); end < limit && sc.s[end] != '<' && sc.s[end] != '\n'; {
		end++
	}
	if from, ok := n.kind.in(sc.s[start:end]); ok && sc.byteAt(end) == '<' && end-start >= 3 && sc.byteAt(end+1) == '/' {
		sc.mask(start+from, end)
	}
}

// flagged masks the value after a flag and a space, as in --password hunter2. Prose contains flags, too, so the value needs a
// character that words do not have.
func (sc *scanner) flagged(n name, start int) {
	if c := sc.byteAt(start); c == '"' || c == '\'' {
		sc.quoted(n, start)
		return
	}
	end, digits := sc.run(start, setting)
	text := sc.s[start:end]
	special := strings.IndexFunc(text, func(r rune) bool { return strings.ContainsRune("!@#$%^*+=/~&", r) }) >= 0
	if end-start < 4 || text[0] == '-' || class[text[0]]&code != 0 || text[0] == '@' || !digits && !special {
		return
	}
	if from, ok := n.kind.in(text); ok {
		sc.mask(start+from, end)
	}
}

// in reports whether a whole value is a secret, and where the secret begins.
func (k kind) in(value string) (from int, ok bool) {
	if isReference(value) || strings.HasPrefix(strings.TrimLeft(value, " \n"), "-----BEGIN ") { // the body of a key has its own finder
		return 0, false
	}
	switch k {
	case secret:
		return 0, !isPlainPath(value)
	case credential:
		return afterScheme(value), !strings.HasSuffix(value, " ")
	case password:
		return 0, len(value) >= 4 && !strings.ContainsAny(value, " \t\n") && !isPath(value)
	case token:
		return 0, isRandom(value) || isBasic(value)
	case cookie:
		return 0, strings.Contains(value, "=") && hasDigit(value)
	default:
		return 0, false
	}
}

func isPath(s string) bool {
	return s[0] == '/' || s[0] == '~' || s[0] == '.' || len(s) > 2 && s[1] == ':' && (s[2] == '\\' || s[2] == '/')
}

// isPlainPath reports whether a value is a path in small letters, such as that of a key file. Base64 has capitals, too.
func isPlainPath(s string) bool {
	s = strings.TrimLeft(s[:min(len(s), longValue)], "~.")
	if len(s) < 2 || s[0] != '/' || strings.Count(s, "/") < 2 {
		return false
	}
	for i := range len(s) {
		if c := s[i]; class[c]&dotted == 0 && c != '/' || c >= 'A' && c <= 'Z' {
			return false
		}
	}
	return true
}

// longValue is the number of bytes of a value that are examined, so that many names in one long value cost no more than its
// length.
const longValue = 256

// isRandom reports whether a value looks random rather than written by a person.
func isRandom(s string) bool {
	s = s[:min(len(s), longValue)]
	if len(s) < 10 || strings.ContainsAny(s, " \t\n()[]{}<>,") {
		return false
	}
	letters, digits := 0, 0
	for i := range len(s) {
		switch {
		case class[s[i]]&digit != 0:
			digits++
		case class[s[i]]&word != 0:
			letters++
		}
	}
	return letters > 1 && digits > 1 && entropy(s) >= 2.8
}

// afterScheme returns the beginning of the credentials in the value of an Authorization header.
func afterScheme(value string) int {
	i := 0
	for i < len(value) && (class[value[i]]&alnum != 0 || value[i] == '-') {
		i++
	}
	if i == 0 || i > 20 || i+1 >= len(value) || value[i] != ' ' {
		return 0
	}
	return i + 1
}

// schemes are the schemes of an Authorization header without quotes.
var schemes = []string{"bearer", "basic", "token", "digest", "apikey", "negotiate"}

// bare masks a value without quotes. Most such values in code and prose are not secrets, so it requires a digit, or the form of
// an environment variable or a query.
func (sc *scanner) bare(n name, start int, direct bool) {
	if n.kind == credential {
		if scheme, _ := sc.run(start, alnum); sc.byteAt(scheme) == ' ' &&
			slices.ContainsFunc(schemes, func(s string) bool { return len(s) == scheme-start && sc.hasFold(start, s) }) {
			start = scheme + 1
		}
	}
	environment := direct && sc.isSetting(n)
	end, digits := sc.bareEnd(start, environment)
	for end > start && class[sc.s[end-1]]&stop != 0 {
		end--
	}
	text, next := sc.s[start:end], sc.byteAt(end)
	text = text[:min(len(text), longValue)]
	if end-start < 4 || isReference(text) || isPlainPath(text) || strings.HasPrefix(text, dashes) || class[next]&code != 0 && (next == '(' || next == '[' || !environment) && end-start < 64 {
		return
	}
	switch n.kind {
	case secret:
		if digits || environment && end-start >= 6 || direct && isAssigned(text, next) || isPadded(text) {
			sc.mask(start, end)
		}
	case credential:
		if digits || end-start >= 20 || direct && isAssigned(text, next) {
			sc.mask(start, end)
		}
	case password:
		if direct && (digits || isAssigned(text, next)) && !isPath(text) && !isNumber(text) {
			sc.mask(start, end)
		}
	case token:
		if digits && isRandom(text) && !strings.ContainsAny(text, "$*") || isBasic(text) {
			sc.mask(start, end)
		}
	}
}

// bareEnd returns the end of a value without quotes, and whether it has a digit. An ampersand is a part of it, unless a query
// parameter follows. In a file of settings it ends with the word.
func (sc *scanner) bareEnd(start int, environment bool) (end int, digits bool) {
	if environment {
		return sc.run(start, setting)
	}
	if class[sc.byteAt(start)]&bareword == 0 {
		return start, false
	}
	v := &sc.value
	if v.start <= start && start < v.end {
		return v.end, v.digit >= start
	}
	*v, sc.used = stretch{start, start, -1}, true
	for {
		from := v.end
		if v.end, digits = sc.run(from, bareword); digits {
			v.digit = sc.runs[bits.TrailingZeros16(bareword)].digit
		}
		if sc.byteAt(v.end) != '&' || sc.endsAt(v.end+1) {
			return v.end, v.digit >= start
		}
		v.end++
	}
}

// endsAt reports whether a value ends before the ampersand before i, because another parameter or command follows.
func (sc *scanner) endsAt(i int) bool {
	if class[sc.byteAt(i)]&bareword == 0 {
		return true
	}
	end, _ := sc.run(i, named)
	return end > i && sc.byteAt(end) == '='
}

// isSetting reports whether a name is an environment variable that is being set.
func (sc *scanner) isSetting(n name) bool {
	for _, c := range []byte(sc.s[n.start:n.end]) {
		if c >= 'a' && c <= 'z' || c == '.' || c == '-' {
			return false
		}
	}
	before := n.start
	if n.start == 0 || sc.s[n.start-1] == '\n' {
		return true
	}
	return sc.has(before-len("export "), "export ") || sc.has(before-len("ENV "), "ENV ") || sc.has(before-len("-e "), "-e ")
}

// isAssigned reports whether the text after name= is a value of an environment, a query or a command, and not the name of another
// variable.
func isAssigned(value string, next byte) bool {
	if len(value) < 6 || next == ',' || next == ')' || strings.Contains(value, ".") || kindOf(value) != noSecret {
		return false
	}
	return !slices.ContainsFunc(constants, func(c string) bool { return strings.EqualFold(c, value) })
}

// isPadded reports whether a value is base64 with its padding, as in a secret of Kubernetes.
func isPadded(s string) bool {
	plain := strings.TrimRight(s, "=")
	return len(s)%4 == 0 && len(plain) < len(s) && len(plain) >= 6 && hasBothCases(plain) && strings.IndexFunc(plain, func(r rune) bool {
		return r > 0x7f || class[r]&base64 == 0
	}) < 0
}

func isNumber(s string) bool { return strings.Trim(s, "0123456789") == "" }

// constants are words in the place of values in code and documentation.
var constants = []string{"undefined", "string", "required", "optional", "redacted"}

// placeholders are words in the place of secrets in documentation and tests.
var placeholders = []string{"password", "passwd", "pass", "pwd", "secret", "token", "changeme", "username", "none", "null", "true", "false", "yes", "no"}

// patternParts are parts of values that describe the form of a secret: expressions of a search, and placeholders.
var patternParts = []string{"[A-Z", "[a-z", "[0-9", "XXXXX", "xxxxx", "_____", "..."}

// isReference reports whether a value only refers to a secret, such as $PASSWORD or <your key>, or is already masked.
func isReference(s string) bool {
	if s == "" || maskAt(s, 0) {
		return true
	}
	if len(s) > 64 {
		return false
	}
	if slices.ContainsFunc(patternParts, func(part string) bool { return strings.Contains(s, part) }) {
		return true
	}
	if len(s) > 5 && strings.EqualFold(s[:4], "your") && class[s[4]]&named != 0 && class[s[4]]&alnum == 0 ||
		slices.ContainsFunc(placeholders, func(p string) bool { return len(p) == len(s) && strings.EqualFold(p, s) }) {
		return true
	}
	switch first, last := s[0], s[len(s)-1]; first {
	case '<':
		return last == '>'
	case '{':
		return last == '}'
	case '%':
		return last == '%' && len(s) > 1
	case '$':
		return len(s) > 1 && (s[1] == '{' || s[1] == '(' || isConstantName(s[1:]))
	case '*', 'x', 'X', '.', '-':
		return len(s) >= 3 && strings.Count(s, s[:1]) == len(s)
	}
	return false
}

// isConstantName reports whether a value has only capitals, digits and underscores, and begins with a capital.
func isConstantName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if class[c]&word == 0 || lower(c) == c && (i == 0 || class[c]&digit == 0 && c != '_') {
			return false
		}
	}
	return true
}
