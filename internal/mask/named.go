package mask

import (
	"slices"
	"strings"
)

// kind is what a name indicates about its value.
type kind uint8

const (
	noSecret   kind = iota
	secret          // always a secret
	credential      // a secret after the name of its scheme
	password        // a secret unless it is a path, because pwd and pass have other meanings
	token           // a secret if it looks random, because names of this kind also precede words and numbers
	cookie          // a secret if it contains a pair
)

// secretEnds are endings of names of secrets. Case, - and _ are ignored: X-Api-Key ends in apikey.
var secretEnds = []string{
	"password", "passwd", "passwort", "passphrase", "passcode", "secret",
	"apikey", "accesskey", "secretkey", "privatekey", "accountkey", "signingkey", "encryptionkey", "masterkey", "storagekey",
	"servicekey", "subscriptionkey", "functionskey", "clientkey", "deploykey", "sharedkey", "rootkey", "authkey", "secretid", "clientcredentials",
	"accesstoken", "refreshtoken", "authtoken", "bearertoken", "sessiontoken", "idtoken", "apitoken", "privatetoken", "jobtoken",
	"securitytoken", "usertoken", "bottoken", "apptoken", "clientkeydata", "storepass", "keypass", "mnemonic", "seedphrase", "recoveryphrase",
}

// noTokens are endings of names of tokens that are not secrets.
var noTokens = []string{
	"pagetoken", "nexttoken", "continuationtoken", "cursortoken", "synctoken", "cancellationtoken", "eostoken", "bostoken", "padtoken",
	"unktoken", "septoken", "clstoken", "masktoken", "stoptoken", "endtoken", "starttoken", "specialtoken", "newtoken", "maxtoken", "pertoken",
	"trialtoken",
}

// nameWords are parts of all names of secrets. At each, the name around it is examined.
var nameWords = []string{
	"pass", "pwd=", "pwd:", `pwd"`, "pwd'", "pwd ", "secret", "token", "authorization",
	"key=", "key:", `key"`, "key'", "key ", "key>", "key]", "key-data", "sig=", "auth=", "auth =", `auth"`, "auth'", `sig"`, `sid"`, `session"`, "psk=", "psk\"", "pat=", "pat\"", "mnemonic", "phrase", "cookie", "session=", "sessionid", "session_id", "session-id", "sessid", "sid=", "credentials",
}

// longestName is the maximum distance in bytes between a word and the ends of its name.
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

// endsIn reports whether a name ends in a word. It ignores upper case and separators of words.
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

// wholeWords are names of secrets, or last words of such names, that are also endings of other words.
var wholeWords = []string{"pass", "pwd", "dbpass", "dbpwd", "sig", "sid", "session", "sessid", "phpsessid", "jsessionid", "auth", "cookie", "cookies", "psk", "pat"}

// lastThree has a bit for the last three letters of each word in endings. A separator may be in place of the first.
var lastThree = func() (t [1 << 15 / 64]uint64) {
	for _, words := range endings {
		for _, w := range words {
			for _, first := range []byte{w[len(w)-3], '-', '_', ' '} {
				h := three(first, w[len(w)-2], w[len(w)-1])
				t[h>>6] |= 1 << (h & 63)
			}
		}
	}
	return t
}()

func three(a, b, c byte) int { return int(a&31)<<10 | ending(b, c) }

// kindOf returns the kind of a name. Most names end in other letters than the ones that it knows.
func kindOf(name string) kind {
	n := len(name)
	if n < 3 {
		return noSecret
	}
	h := three(name[n-3], name[n-2], name[n-1])
	if lastThree[h>>6]&(1<<(h&63)) == 0 && class[name[n-1]]&digit == 0 {
		return noSecret
	}
	return kindByEnding(name)
}

func kindByEnding(name string) kind {
	end := len(name)
	for end > 0 && class[name[end-1]]&digit != 0 {
		end--
	}
	if end < 3 || end > 2*longestName {
		return noSecret
	}
	known := false
	for _, word := range endings[ending(name[end-2], name[end-1])] {
		known = known || endsIn(name[:end], word)
	}
	if !known {
		return noSecret
	}
	name = name[strings.LastIndexByte(name[:end], '.')+1 : end]
	var buffer [2 * longestName]byte
	plain := buffer[:0]
	begins := 0 // position of the last word in plain
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

// kindOfPlain is kindOf for a name in small letters; last is its last word.
func kindOfPlain(name, last string) kind {
	switch last {
	case "pass", "pwd", "dbpass", "dbpwd", "psk":
		if name == "oldpwd" { // the previous working folder
			return noSecret
		}
		return password
	case "sig", "sid", "session", "sessid", "phpsessid", "jsessionid", "auth", "pat":
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

// name is the name before a value.
type name struct {
	start, end int
	kind       kind
	quote      byte // the quote around it; 0 for none
}

// named masks the value of a name that contains a word of nameWords at p.
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
		if start := sc.pairedValue(n, i); start > 0 && sc.setKind(&n) {
			sc.quoted(n, start)
			return
		}
	case ']':
		if sc.byteAt(n.start-1) == ':' { // config[:password]
			i++
		}
	case '(':
		if c := sc.byteAt(i + 1); (c == '"' || c == '\'') && sc.isSetter(n) && sc.setKind(&n) {
			sc.quoted(n, i+1)
		}
		return
	case '>':
		if sc.byteAt(n.start-1) == '<' && sc.setKind(&n) {
			sc.element(n, i+1)
		}
		return
	}
	gap := sc.afterBlanks(i)
	switch sc.byteAt(gap) {
	case ':', '=':
	default:
		if gap > i && n.quote == 0 {
			sc.afterName(n, gap)
		}
		return
	}
	if !sc.setKind(&n) {
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
	start = sc.afterBlanks(start) // a value without quotes is on the same line
	sc.valueAt(n, start, direct && start == gap+1)
}

// isSetter reports whether a name is that of a method that sets a value: setPassword, with_token.
func (sc *scanner) isSetter(n name) bool {
	method := n.start + strings.LastIndexByte(sc.s[n.start:n.end], '.') + 1
	return sc.hasFold(method, "set") || sc.hasFold(method, "with")
}

// pairedValue returns the opening quote of the value that is paired with a quoted name that ends before i: the next argument in
// define('DB_PASSWORD', '…'), or the attribute in name="password" value="…". It returns 0 if there is none.
func (sc *scanner) pairedValue(n name, i int) int {
	before := n.start - 1
	if sc.byteAt(before) != n.quote {
		return 0
	}
	for sc.byteAt(before-1) == ' ' && n.start-before < 4 {
		before--
	}
	at := 0
	switch sc.byteAt(before - 1) {
	case '(':
		if sc.byteAt(i) == ',' {
			at = sc.afterBlanks(i + 1)
		}
	case '=':
		if at = sc.afterBlanks(i); at == i || !sc.hasFold(at, "value=") {
			return 0
		}
		at += len("value=")
	}
	c := sc.byteAt(at)
	if at == 0 || c != '"' && c != '\'' {
		return 0
	}
	if end := sc.closing(at+1, c); !hasDigit(sc.s[at+1:min(end, at+longValue)]) || kindOf(sc.s[at+1:end]) != noSecret {
		return 0 // names of fields, defaults
	}
	return at
}

// afterName masks what follows a name without quotes and a space at gap: the value of a flag, of PASSWORD in SQL, or of prose.
func (sc *scanner) afterName(n name, gap int) {
	dashed := sc.byteAt(n.start) == '-' && (n.start == 0 || isSpace(sc.s[n.start-1]))
	text := sc.s[n.start:n.end]
	switch c := sc.byteAt(gap); {
	case dashed && sc.setKind(&n):
		sc.flagged(n, gap)
	case c == '\'' && strings.EqualFold(text, "password") && sc.setKind(&n):
		if end := sc.closing(gap+1, c); end-gap > 4 && !strings.ContainsAny(sc.s[gap+1:end], " \t") {
			sc.quoted(n, gap)
		}
	case sc.hasFold(gap, "is ") && sc.setKind(&n):
		sc.told(n, gap+len("is "))
	}
}

// told masks a value of which prose says that it is a secret, if it looks like one.
func (sc *scanner) told(n name, start int) {
	end, digits := sc.run(start, setting)
	for end > start && sc.s[end-1] != '!' && class[sc.s[end-1]]&(stop|closes) != 0 {
		end--
	}
	text := sc.s[start:min(end, start+longValue)]
	if n.kind != secret || !digits || end-start < 6 || isReference(text) || isPlainPath(text) {
		return
	}
	if strings.ContainsAny(text, "!@#$%^&*") && hasLetter(text) || isRandom(text) && !strings.ContainsAny(text, "-_./:") {
		sc.mask(start, end)
	}
}

func hasLetter(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' })
}

// nameAt returns the name around p, without its kind.
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
	return n, true
}

// setKind sets the kind of a name, and reports whether its value may be a secret.
func (sc *scanner) setKind(n *name) bool {
	text := sc.s[n.start:n.end]
	n.kind = kindOf(text)
	if n.kind == noSecret && len(text) == len("key") && sc.hasFold(n.start, "key") && sc.byteAt(n.start-1) == ' ' { // API key:
		first := n.start - 1
		for first > 0 && n.start-first <= 16 && class[sc.s[first-1]]&word != 0 {
			first--
		}
		n.kind = kindOf(sc.s[first:n.end])
	}
	return n.kind != noSecret
}
