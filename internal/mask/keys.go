package mask

import (
	stdbase64 "encoding/base64"
	"maps"
	"strings"
)

// finders find secrets that a regular expression of limited reach cannot, by keywords in lower case.
var finders = func() map[string]func(*scanner, int) {
	all := map[string]func(*scanner, int){
		"akia": (*scanner).awsID, "asia": (*scanner).awsID, "abia": (*scanner).awsID, "acca": (*scanner).awsID,
		"eyj":            (*scanner).jwt,
		"bearer ":        (*scanner).bearer,
		"basic ":         (*scanner).basic,
		"-----begin":     (*scanner).privateKey,
		"://":            (*scanner).url,
		" -u":            (*scanner).curlUser,
		" --user":        (*scanner).curlUser,
		" --proxy-user":  (*scanner).curlUser,
		"private-lines:": (*scanner).puttyKey,
		":aa":            (*scanner).telegram,
		"login ":         (*scanner).netrc,
		"cookie:":        (*scanner).cookies,
		"…":              (*scanner).cutOff,
	}
	for _, k := range keyKinds {
		all[strings.ToLower(k.prefix)] = k.find
	}
	for _, w := range nameWords {
		all[w] = (*scanner).named
	}
	maps.Copy(all, commandFinders())
	return all
}()

func (k keyKind) find(sc *scanner, p int) {
	start := p + len(k.prefix)
	byItself := len(k.prefix) > 3 && k.least >= 20 && class[k.prefix[len(k.prefix)-1]]&alnum == 0
	if !sc.has(p, k.prefix) || !byItself && !sc.startsWord(p) {
		return
	}
	end, digits := sc.run(start, k.of)
	if end-start < k.least || !digits {
		return
	}
	for sc.s[end-1] == '.' { // end of a sentence
		end--
	}
	sc.mask(p, end)
}

// awsID masks the id of an AWS key, and the secret key within the next 40 bytes: 40 characters of base64 that are not a hash.
func (sc *scanner) awsID(p int) {
	end, digits := sc.run(p, alnum)
	if end-p != 20 || !sc.startsWord(p) || !sc.endsWord(end) || !digits {
		return
	}
	for _, c := range []byte(sc.s[p:end]) {
		if c >= 'a' {
			return
		}
	}
	sc.mask(p, end)
	for start := end; start < len(sc.s) && start < end+40; {
		if class[sc.s[start]]&base64 == 0 || sc.s[start] == '=' || !sc.startsWord(start) {
			start++
			continue
		}
		stop, digits := sc.run(start, base64)
		if stop-start == 40 && digits && hasBothCases(sc.s[start:stop]) {
			sc.mask(start, stop)
			return
		}
		start = stop
	}
}

func hasBothCases(s string) bool {
	var capitals, smalls bool
	for i := range len(s) {
		capitals = capitals || s[i] >= 'A' && s[i] <= 'Z'
		smalls = smalls || s[i] >= 'a' && s[i] <= 'z'
	}
	return capitals && smalls
}

// jwt masks a JSON Web Token, signed or encrypted: at least three parts separated by dots.
func (sc *scanner) jwt(p int) {
	if !sc.has(p, "eyJ") || !sc.startsWord(p) {
		return
	}
	first, _ := sc.run(p, key)
	if first-p < 10 || sc.byteAt(first) != '.' {
		return
	}
	second, _ := sc.run(first+1, key)
	if second == first+1 || sc.byteAt(second) != '.' {
		return
	}
	end, _ := sc.run(p, dotted)
	for sc.s[end-1] == '.' {
		end--
	}
	if end > second {
		sc.mask(p, end)
	}
}

// bearer masks the token after the word Bearer. A token needs a digit, which excludes prose.
func (sc *scanner) bearer(p int) {
	start := p + len("bearer ")
	end, digits := sc.run(start, token68)
	if end-start >= 16 && digits && sc.startsWord(p) {
		sc.mask(start, end)
	}
}

// longestBasic is the maximum length of Basic credentials that are decoded, in base64.
const longestBasic = 1024

// basic masks user and password after the word Basic.
func (sc *scanner) basic(p int) {
	start := p + len("basic ")
	end, _ := sc.run(start, base64)
	if sc.startsWord(p) && isBasic(sc.s[start:end]) {
		sc.mask(start, end)
	}
}

// isBasic reports whether a text is user:password in base64.
func isBasic(s string) bool {
	if len(s) < 8 || len(s) > longestBasic {
		return false
	}
	plain, err := stdbase64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	user, _, found := strings.Cut(string(plain), ":")
	return err == nil && found && isPrintable(user)
}

func isPrintable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] == 0x7f {
			return false
		}
	}
	return true
}

const dashes = "-----"

// privateKey masks the body of a private key in PEM.
func (sc *scanner) privateKey(p int) {
	start := p + len("-----BEGIN ")
	for limit := min(start+60, len(sc.s)); start < limit && (sc.s[start] == ' ' || class[sc.s[start]]&alnum != 0); {
		start++
	}
	if !sc.has(start, dashes) || !sc.has(start-len("PRIVATE KEY"), "PRIVATE KEY") && !sc.has(start-len("PRIVATE KEY BLOCK"), "PRIVATE KEY BLOCK") {
		return
	}
	start += len(dashes)
	if end, longest := sc.pemBody(start); longest >= 20 { // shorter text is prose
		sc.mask(start, end)
	}
}

// pemBody returns the end of the lines of base64 and headers, and the length of the longest run of base64. Line ends may be
// escaped.
func (sc *scanner) pemBody(i int) (end, longest int) {
	for line := 0; i < len(sc.s); {
		switch c := sc.s[i]; {
		case class[c]&base64 != 0:
			i, line = i+1, line+1
			longest = max(longest, line)
			continue
		case c == '\\':
			k := i
			for sc.byteAt(k) == '\\' {
				k++
			}
			if e := sc.byteAt(k); e != 'n' && e != 'r' && e != 't' {
				return i, longest
			}
			i = k
		case sc.has(i, dashes), !isSpace(c) && c != ':' && c != ',' && c != '-' && c != '.':
			return i, longest
		}
		i, line = i+1, 0
	}
	return i, longest
}

// puttyKey masks the private lines of a key in PuTTY's format.
func (sc *scanner) puttyKey(p int) {
	count := sc.afterBlanks(p + len("private-lines:"))
	count, _ = sc.run(count, digit)
	start := sc.afterLine(count)
	end := start
	for i := start; ; i = sc.afterLine(end) {
		line, _ := sc.run(i, base64)
		if line == i || line < len(sc.s) && sc.afterLine(line) == line {
			break // the name of the next part
		}
		end = line
	}
	if end-start >= 20 {
		sc.mask(start, end)
	}
}

// url masks the password of a URL: the part between the first colon after the scheme and the last @ before the host.
func (sc *scanner) url(p int) {
	start := p + len("://")
	end, _ := sc.run(start, login)
	part := sc.s[start:end]
	colon := strings.IndexByte(part, ':')
	if variable := strings.IndexByte(part, '}'); strings.HasPrefix(part, "${") && variable > colon { // ${USER:-bob}:
		colon = variable + 1
		if !strings.HasPrefix(part[colon:], ":") {
			return
		}
	}
	at := strings.LastIndexByte(part, '@')
	if colon < 0 || at <= colon+1 || isReference(part[colon+1:at]) || isPort(part[colon+1:at]) {
		return
	}
	sc.mask(start+colon+1, start+at)
}

// isPort reports whether the text after a colon is a port followed by another character.
func isPort(s string) bool {
	n := 0
	for n < len(s) && class[s[n]]&digit != 0 {
		n++
	}
	return n > 1 && n < len(s) && strings.IndexByte(",;)]}>?#|", s[n]) >= 0
}

// curlUser masks the password in -u user:password after curl on the same line.
func (sc *scanner) curlUser(p int) {
	i := p + len(" -u")
	for _, flag := range []string{" --user", " --proxy-user"} {
		if sc.hasFold(p, flag) {
			i = p + len(flag)
		}
	}
	if c := sc.byteAt(i); c == '=' || c == ' ' {
		i = sc.afterBlanks(i + 1)
	}
	end, _ := sc.run(i, setting)
	if quote := sc.byteAt(i); quote == '"' || quote == '\'' {
		i++
		end = sc.closing(i, quote)
	}
	colon := strings.IndexByte(sc.s[i:min(end, i+longValue)], ':')
	if colon < 1 || isReference(sc.s[i+colon+1:end]) {
		return
	}
	before := sc.s[max(0, p-longValue):p]
	before = before[strings.LastIndexByte(before, '\n')+1:]
	if strings.Contains(before, "curl") || strings.Contains(before, "wget") || strings.Contains(before, "etcdctl") {
		sc.mask(i+colon+1, end)
	}
}

// telegram masks the token of a Telegram bot, whose number precedes the colon at p.
func (sc *scanner) telegram(p int) {
	start := p
	for start > 0 && p-start <= 16 && class[sc.s[start-1]]&digit != 0 {
		start--
	}
	end, digits := sc.run(p+1, key)
	if n := p - start; n >= 5 && n <= 16 && end-p > 32 && digits && (sc.startsWord(start) || sc.has(start-3, "bot")) {
		sc.mask(start, end)
	}
}

// netrc masks the password in login user password secret, the format of .netrc files.
func (sc *scanner) netrc(p int) {
	if !sc.startsWord(p) {
		return
	}
	user := sc.afterLine(p + len("login "))
	end, _ := sc.run(user, setting)
	i := sc.afterLine(end)
	if end == user || end-user > 256 || !sc.has(i, "password ") && !sc.has(i, "password\t") {
		return
	}
	start := sc.afterBlanks(i + len("password "))
	if end, _ = sc.run(start, setting); end-start >= 4 && !isReference(sc.s[start:end]) {
		sc.mask(start, end)
	}
}

// cutOff masks the word before an ellipsis if it looks random: it may be the beginning of a secret. Texts of guards quote calls that way.
func (sc *scanner) cutOff(p int) {
	start := p
	for start > 0 && p-start < longValue && class[sc.s[start-1]]&key != 0 {
		start--
	}
	if p-start >= 16 && isRandom(sc.s[start:p]) {
		sc.mask(start, p)
	}
}

// cookies masks values after Cookie: or Set-Cookie: that may be session keys.
func (sc *scanner) cookies(p int) {
	for i := sc.afterBlanks(p + len("cookie:")); ; {
		end, _ := sc.run(i, named)
		if end == i || end-i > 64 || sc.byteAt(end) != '=' {
			return
		}
		start := end + 1
		end, digits := sc.run(start, crumb)
		if end-start >= 8 && digits && !isReference(sc.s[start:end]) && !sc.hasFold(i, "expires=") {
			sc.mask(start, end)
		}
		if sc.byteAt(end) != ';' {
			return
		}
		i = sc.afterBlanks(end + 1)
	}
}

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }
