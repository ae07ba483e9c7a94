package mask

import (
	"slices"
	"strings"
)

// kind says what a name tells of its value.
type kind uint8

const (
	noSecret   kind = iota
	secret          // whatever it is
	credential      // after the word for its scheme
	password        // unless it is a path: pwd and pass mean other things, too
	token           // if it looks drawn by lot: names of this kind stand before words and numbers, too
	cookie          // if it holds a pair
)

// secretEnds end the names of secrets, without regard to capitals, - and _: X-Api-Key ends in apikey.
var secretEnds = []string{
	"password", "passwd", "passphrase", "passcode", "secret",
	"apikey", "accesskey", "secretkey", "privatekey", "accountkey", "signingkey", "encryptionkey", "masterkey", "storagekey",
	"servicekey", "subscriptionkey", "functionskey", "clientkey", "deploykey", "sharedkey", "rootkey", "secretid", "clientcredentials",
	"accesstoken", "refreshtoken", "authtoken", "bearertoken", "sessiontoken", "idtoken", "apitoken", "privatetoken", "jobtoken",
	"securitytoken", "usertoken", "bottoken", "apptoken",
}

// noTokens end the names of tokens that open nothing.
var noTokens = []string{
	"pagetoken", "nexttoken", "continuationtoken", "cursortoken", "synctoken", "cancellationtoken", "eostoken", "bostoken", "padtoken",
	"unktoken", "septoken", "clstoken", "masktoken", "stoptoken", "endtoken", "starttoken", "specialtoken", "newtoken", "maxtoken", "pertoken",
}

// nameWords are parts of every name of a secret; each asks for the name around it. A key is asked for where its name ends.
var nameWords = []string{
	"pass", "pwd=", "pwd:", `pwd"`, "pwd'", "pwd ", "secret", "token", "authorization",
	"key=", "key:", `key"`, "key'", "key ", "key>", "key]", "sig=", "auth=", "cookie", "session=", "sessionid", "session_id", "session-id", "sessid", "sid=", "credentials",
}

// longestName is how far around a word its name is looked for, in bytes.
const longestName = 64

// endings are what the names that kindOf knows end in, by their last two letters: most names end otherwise.
var endings = func() (t [1 << 10][]string) {
	for _, w := range slices.Concat(secretEnds, wholeWords, []string{"authorization", "token", "credentials", "sessionid"}) {
		at := ending(w[len(w)-2], w[len(w)-1])
		t[at] = append(t[at], w)
	}
	return t
}()

func ending(a, b byte) int { return int(a&31)<<5 | int(b&31) }

// endsIn tells whether a name ends in a word, without regard to capitals and to what parts words.
func endsIn(name, word string) bool {
	k := len(word)
	for i := len(name); i > 0 && k > 0; i-- {
		switch c := name[i-1]; {
		case lower(c) == word[k-1]:
			k--
		case c != '-' && c != '_' && c != ' ':
			return false
		}
	}
	return k == 0
}

// wholeWords are names of secrets, or last words of such names, that end other words, too.
var wholeWords = []string{"pass", "pwd", "dbpass", "dbpwd", "sig", "sid", "session", "sessid", "phpsessid", "jsessionid", "auth", "cookie", "cookies"}

// kindOf tells what a name says of its value.
func kindOf(name string) kind {
	end := len(name)
	for end > 0 && class[name[end-1]]&digit != 0 {
		end--
	}
	if end < 3 || end > 2*longestName {
		return noSecret
	}
	known := func(word string) bool { return endsIn(name[:end], word) }
	if !slices.ContainsFunc(endings[ending(name[end-2], name[end-1])], known) {
		return noSecret
	}
	name = name[strings.LastIndexByte(name[:end], '.')+1 : end]
	var buffer [2 * longestName]byte
	plain := buffer[:0]
	begins := 0 // of the last word, in plain
	for i := range len(name) {
		c := name[i]
		if c == '-' || c == '_' || c == ' ' {
			begins = len(plain)
			continue
		}
		if c >= 'A' && c <= 'Z' && i > 0 && name[i-1] >= 'a' && name[i-1] <= 'z' {
			begins = len(plain)
		}
		plain = append(plain, lower(c))
	}
	return kindOfPlain(string(plain), string(plain[begins:]))
}

// kindOfPlain is kindOf for a name in small letters only; last is its last word.
func kindOfPlain(name, last string) kind {
	switch last {
	case "pass", "pwd", "dbpass", "dbpwd":
		if name == "oldpwd" { // the folder before this one
			return noSecret
		}
		return password
	case "sig", "sid", "session", "sessid", "phpsessid", "jsessionid", "auth":
		return token
	case "cookie", "cookies":
		return cookie
	}
	switch {
	case strings.HasSuffix(name, "authorization"):
		return credential
	case hasAnySuffix(name, noTokens):
		return noSecret
	case hasAnySuffix(name, secretEnds):
		return secret
	case strings.HasSuffix(name, "token"), strings.HasSuffix(name, "credentials"), strings.HasSuffix(name, "sessionid"):
		return token
	}
	return noSecret
}

func hasAnySuffix(s string, ends []string) bool {
	for _, end := range ends {
		if strings.HasSuffix(s, end) {
			return true
		}
	}
	return false
}

// name is what stands before a value.
type name struct {
	start, end int
	kind       kind
	quote      byte // around it; 0 for none
}

// named masks the value of the name that has a word of nameWords at p.
func (sc *scanner) named(p int) {
	n, ok := sc.nameAt(p)
	if !ok {
		return
	}
	i := n.end
	switch c := sc.byteAt(i); c {
	case '"', '\'', '`':
		n.quote = c
		if i++; sc.byteAt(i) == ']' {
			i++
		}
	case '>':
		if sc.byteAt(n.start-1) == '<' {
			sc.element(n, i+1)
		}
		return
	}
	gap := sc.afterBlanks(i)
	switch sc.byteAt(gap) {
	case ':', '=':
	default:
		if gap > i && n.quote == 0 && sc.has(n.start, "--") {
			sc.flagged(n, gap)
		}
		return
	}
	assigned := sc.s[gap] == '=' && gap == i && n.quote == 0
	start := gap + 1
	if c := sc.byteAt(start); c == '=' || c == '>' { // := == =>
		start++
	}
	direct := assigned && start == gap+1
	if n.quote != 0 {
		start = sc.afterSpace(start)
	}
	start = sc.afterBlanks(start) // a line's end ends a value without quotes
	sc.valueAt(n, start, direct && start == gap+1)
}

// nameAt returns the name around p.
func (sc *scanner) nameAt(p int) (n name, ok bool) {
	n.start, n.end = p, p
	for n.end < len(sc.s) && class[sc.s[n.end]]&named != 0 {
		if n.end++; n.end-p > longestName {
			return n, false
		}
	}
	for n.start > 0 && class[sc.s[n.start-1]]&named != 0 {
		if n.start--; p-n.start > longestName {
			return n, false
		}
	}
	text := sc.s[n.start:n.end]
	n.kind = kindOf(text)
	if n.kind == noSecret && len(text) == len("key") && sc.hasFold(n.start, "key") && sc.byteAt(n.start-1) == ' ' { // API key:
		first := n.start - 1
		for first > 0 && n.start-first <= 16 && class[sc.s[first-1]]&word != 0 {
			first--
		}
		n.kind = kindOf(sc.s[first:n.end])
	}
	return n, n.kind != noSecret
}
