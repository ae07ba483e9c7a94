package mask

import (
	stdbase64 "encoding/base64"
	"strings"
)

// keyKind is a vendor's key: how it begins, and how many bytes of which class follow at least. It begins a word, unless its prefix
// is a word by itself, and has a digit after its prefix, so that sk-learn and its kin are none. Where gitleaks has a rule for it,
// too, this one is wider: keys change their length, and what a run shows may be cut.
type keyKind struct {
	prefix string
	of     uint16
	least  int
}

var keyKinds = []keyKind{
	{"sk-", alnum, 20}, // OpenAI's older keys, DeepSeek and others
	{"sk-ant-", key, 20},
	{"sk-proj-", key, 20},
	{"sk-svcacct-", key, 20},
	{"sk-admin-", key, 20},
	{"sk-or-", key, 20},
	{"xai-", alnum, 40},
	{"gsk_", alnum, 40},
	{"pplx-", alnum, 40},
	{"nvapi-", key, 40},
	{"r8_", alnum, 30},
	{"hf_", alnum, 30},
	{"AIza", key, 35},
	{"ya29.", dotted, 20},
	{"GOCSPX-", key, 20},
	{"1//0", key, 30}, // Google's refresh tokens
	{"xoxa-", key, 10},
	{"xoxb-", key, 10},
	{"xoxe-", key, 10},
	{"xoxe.xox", dotted, 20},
	{"xoxp-", key, 10},
	{"xoxr-", key, 10},
	{"xoxs-", key, 10},
	{"xapp-", key, 20},
	{"glpat-", dotted, 20},
	{"ghp_", word, 30},
	{"gho_", word, 30},
	{"ghu_", word, 30},
	{"ghs_", word, 30},
	{"ghr_", word, 30},
	{"github_pat_", word, 22},
	{"dckr_pat_", key, 20},
	{"npm_", alnum, 30},
	{"pypi-AgE", key, 40},
	{"sk_live_", word, 16},
	{"sk_test_", word, 16},
	{"rk_live_", word, 16},
	{"rk_test_", word, 16},
	{"whsec_", base64, 20},
	{"shpat_", alnum, 24},
	{"shpca_", alnum, 24},
	{"shppa_", alnum, 24},
	{"shpss_", alnum, 24},
	{"SG.", dotted, 30},
	{"dop_v1_", alnum, 40},
	{"doo_v1_", alnum, 40},
	{"dor_v1_", alnum, 40},
	{"hvs.", key, 20},
	{"hvb.", key, 20},
	{"tskey-", key, 20},
	{"ATATT3", key, 50},
	{"figd_", key, 30},
	{"sbp_", alnum, 30},
	{"CFPAT-", key, 30},
	{"NRAK-", alnum, 20},
	{"AGE-SECRET-KEY-1", alnum, 50},
	{"ops_eyJ", base64, 100},
}

// finders find what no regular expression of a fixed reach does, by keywords in lower case.
var finders = func() map[string]func(*scanner, int) {
	all := map[string]func(*scanner, int){
		"akia": (*scanner).awsID, "asia": (*scanner).awsID, "abia": (*scanner).awsID, "acca": (*scanner).awsID,
		"eyj":        (*scanner).jwt,
		"bearer ":    (*scanner).bearer,
		"basic ":     (*scanner).basic,
		"-----begin": (*scanner).privateKey,
		"://":        (*scanner).url,
		" -u ":       (*scanner).curlUser,
		" --user":    (*scanner).curlUser,
		":aa":        (*scanner).telegram,
		"login ":     (*scanner).netrc,
		"cookie:":    (*scanner).cookies,
	}
	for _, k := range keyKinds {
		all[strings.ToLower(k.prefix)] = k.find
	}
	for _, w := range nameWords {
		all[w] = (*scanner).named
	}
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
	for sc.s[end-1] == '.' { // of a sentence
		end--
	}
	sc.mask(p, end)
}

// awsID masks AWS's id of a key, and the secret key within 40 bytes behind it: 40 characters of base64 that are no hash.
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

// jwt masks a JSON Web Token, signed or encrypted: at least three parts with dots between them.
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

// bearer masks the token after the word Bearer. It needs a digit: "bearer of bad news" has none.
func (sc *scanner) bearer(p int) {
	start := p + len("bearer ")
	end, digits := sc.run(start, token68)
	if end-start >= 16 && digits && sc.startsWord(p) {
		sc.mask(start, end)
	}
}

// longestBasic is the longest user and password of which it is tried whether it is one, in base64.
const longestBasic = 1024

// basic masks user and password after the word Basic, if they are that.
func (sc *scanner) basic(p int) {
	start := p + len("basic ")
	end, _ := sc.run(start, base64)
	if end-start < 8 || end-start > longestBasic || !sc.startsWord(p) {
		return
	}
	plain, err := stdbase64.RawStdEncoding.DecodeString(strings.TrimRight(sc.s[start:end], "="))
	if user, _, found := strings.Cut(string(plain), ":"); err == nil && found && isPrintable(user) {
		sc.mask(start, end)
	}
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
	if end, longest := sc.pemBody(start); longest >= 20 { // less is words, no key
		sc.mask(start, end)
	}
}

// pemBody returns the end of lines of base64 and of headers, and the length of the longest run of base64. Line ends may
// be escaped.
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

// url masks the password of a URL: what stands between the first colon behind the scheme and the last @ before the host.
func (sc *scanner) url(p int) {
	start := p + len("://")
	end, _ := sc.run(start, login)
	part := sc.s[start:end]
	colon := strings.IndexByte(part, ':')
	at := strings.LastIndexByte(part, '@')
	if colon < 0 || at <= colon+1 || isReference(part[colon+1:at]) || isPort(part[colon+1:at]) {
		return
	}
	sc.mask(start+colon+1, start+at)
}

// isPort tells whether what stands behind a colon is a port and then something else.
func isPort(s string) bool {
	n := 0
	for n < len(s) && class[s[n]]&digit != 0 {
		n++
	}
	return n > 1 && n < len(s) && strings.IndexByte(",;)]}>?#|", s[n]) >= 0
}

// curlUser masks the password of -u user:password, in a line in which curl stands before.
func (sc *scanner) curlUser(p int) {
	i := p + len(" -u")
	if sc.hasFold(p, " --user") {
		i = p + len(" --user")
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
	if strings.Contains(before, "curl") || strings.Contains(before, "wget") {
		sc.mask(i+colon+1, end)
	}
}

// telegram masks the token of a bot of Telegram, whose number stands before the colon at p.
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

// netrc masks the password of login user password secret, as in a file .netrc.
func (sc *scanner) netrc(p int) {
	if !sc.startsWord(p) {
		return
	}
	user := sc.afterSpace(p + len("login "))
	end, _ := sc.run(user, setting)
	i := sc.afterSpace(end)
	if end == user || end-user > 256 || !sc.has(i, "password ") && !sc.has(i, "password\t") {
		return
	}
	start := sc.afterBlanks(i + len("password "))
	if end, _ = sc.run(start, setting); end-start >= 4 && !isReference(sc.s[start:end]) {
		sc.mask(start, end)
	}
}

// cookies masks the values behind Cookie: or Set-Cookie: that may be keys to a session.
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
