package mask

// secretWords end the names of secrets. Capitals, - and _ do not count in a name: X-Api-Key ends in apikey.
var secretWords = []string{
	"password", "passwd", "passphrase", "secret", authorization,
	"apikey", "accesskey", "secretkey", "privatekey",
	"accesstoken", "refreshtoken", "authtoken", "bearertoken", "sessiontoken", "idtoken",
}

const authorization = "authorization"

// secretWordsBy are these words by their last letter, small or capital.
var secretWordsBy = func() (t [256][]string) {
	for _, w := range secretWords {
		c := w[len(w)-1]
		t[c] = append(t[c], w)
		t[c&^0x20] = t[c]
	}
	return t
}()

// name is what stands before a colon or an equals sign.
type name struct {
	end     int    // of the word that makes it secret
	word    string // that word
	quote   byte   // " or ', or 0 for none
	escapes int    // backslashes before the quote
}

// nameBefore returns the name that ends before i, if it is that of a secret.
func (sc *scanner) nameBefore(i int) (n name, ok bool) {
	for floor := max(i-8, 0); i > floor && isSpace(sc.s[i-1]); {
		i--
	}
	if i > 0 && (sc.s[i-1] == '"' || sc.s[i-1] == '\'') {
		i--
		n.quote = sc.s[i]
		for i > 0 && sc.s[i-1] == '\\' && n.escapes < 16 {
			n.escapes++
			i--
		}
		if !isEscape(n.escapes) {
			return n, false
		}
	}
	if i < 2 {
		return n, false
	}
	n.end = i
	for _, n.word = range secretWordsBy[sc.s[i-1]] {
		if lower(sc.s[i-2]) != n.word[len(n.word)-2] { // most other names end here
			continue
		}
		if sc.endsIn(i, n.word) {
			return n, true
		}
	}
	return n, false
}

// endsIn tells whether what ends before i ends in the word.
func (sc *scanner) endsIn(i int, word string) bool {
	floor := max(i-32, 0)
	for k := len(word) - 1; k >= 0; i-- {
		if i <= floor {
			return false
		}
		switch c := sc.s[i-1]; {
		case lower(c) == word[k]:
			k--
		case c != '-' && c != '_' || k == len(word)-1:
			return false
		}
	}
	return true
}

// isEscape tells whether so many backslashes escape a quote, in a JSON document within so many others.
func isEscape(n int) bool { return n&(n+1) == 0 && n < 16 }

// named masks the value whose name ends before the colon or equals sign at i.
func (sc *scanner) named(i int) int {
	n, ok := sc.nameBefore(i)
	if !ok {
		return i + 1
	}
	start := i + 1
	if start < len(sc.s) && (sc.s[start] == '=' || sc.s[start] == '>') { // := == =>
		start++
	}
	if n.quote != 0 {
		start = sc.afterSpace(start)
	}
	for sc.has(start, " ") || sc.has(start, "\t") { // a line's end ends a value without quotes
		start++
	}
	if end, ok := sc.quotedValue(n, start); ok {
		return end
	}
	if n.quote == '"' {
		switch {
		case sc.has(start, "["):
			return sc.listed(n, start+1)
		case sc.number(n, start):
			return sc.spans[len(sc.spans)-1].end
		}
	}
	return sc.bareValue(n, i, start)
}

func (sc *scanner) afterSpace(i int) int {
	for i < len(sc.s) && isSpace(sc.s[i]) {
		i++
	}
	return i
}

// listed masks the strings of a list that begins at i.
func (sc *scanner) listed(n name, i int) int {
	for {
		i = sc.afterSpace(i)
		end, ok := sc.quotedValue(n, i)
		if !ok {
			return i
		}
		i = end
		for i < len(sc.s) && sc.s[i] == '\\' {
			i++
		}
		if !sc.has(i, `"`) {
			return end
		}
		if i = sc.afterSpace(i + 1); !sc.has(i, ",") {
			return i
		}
		i++
	}
}

// number masks a number of four characters or more. The mask gets quotes, so that JSON stays JSON.
func (sc *scanner) number(n name, start int) bool {
	end := start
	for end < len(sc.s) && (class[sc.s[end]]&digit != 0 || end > start && (lower(sc.s[end]) == 'e' || sc.s[end] == '+') || sc.s[end] == '-' || sc.s[end] == '.') {
		end++
	}
	if end-start < 4 || !sc.endsWord(end) {
		return false
	}
	sc.spans = append(sc.spans, span{start, end, n.escapes})
	return true
}
