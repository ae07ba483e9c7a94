package mask

// keyKind is a vendor's key: how it begins, and how many characters of which classes follow at least. Each begins a
// word and has a digit after its prefix, so that sk-learn and its kin are none.
type keyKind struct {
	prefix string // ends in the byte that triggers the search
	of     uint16
	least  int
}

// byDash and byUnderscore are the kinds whose prefix ends so; a longer prefix goes before a shorter one.
var (
	byDash = []keyKind{
		{"sk-", alnum, 20}, // OpenAI's older keys, DeepSeek and others
		{"sk-ant-", key, 20},
		{"sk-proj-", key, 20},
		{"sk-svcacct-", key, 20},
		{"sk-admin-", key, 20},
		{"sk-or-", key, 20},
		{"xoxa-", key, 10},
		{"xoxb-", key, 10},
		{"xoxp-", key, 10},
		{"xoxr-", key, 10},
		{"xoxs-", key, 10},
		{"glpat-", key, 20},
	}
	byUnderscore = []keyKind{
		{"ghp_", word, 36},
		{"gho_", word, 36},
		{"ghu_", word, 36},
		{"ghs_", word, 36},
		{"ghr_", word, 36},
		{"github_pat_", word, 40},
		{"sk_live_", word, 16},
		{"rk_live_", word, 16},
		{"hf_", alnum, 30},
		{"gsk_", alnum, 40},
	}
)

// beforeDash and beforeUnderscore are the bytes that stand before the last one of a prefix.
var (
	beforeDash       = lastButOne(byDash)
	beforeUnderscore = lastButOne(byUnderscore)
)

func lastButOne(kinds []keyKind) (t [256]bool) {
	for _, k := range kinds {
		t[k.prefix[len(k.prefix)-2]] = true
	}
	return t
}

// prefixed masks a vendor's key whose prefix ends at i.
func (sc *scanner) prefixed(i int) int {
	kinds, before := byDash, &beforeDash
	if sc.s[i] == '_' {
		kinds, before = byUnderscore, &beforeUnderscore
	}
	if i == 0 || !before[sc.s[i-1]] {
		return i + 1
	}
	for _, k := range kinds {
		start := i + 1 - len(k.prefix)
		if !sc.has(start, k.prefix) || !sc.startsWord(start) {
			continue
		}
		end, digits := sc.run(i+1, k.of)
		if end-i-1 < k.least {
			return i + 1
		}
		if !digits { // nor has any key that begins further on
			return end
		}
		return sc.mask(start, end)
	}
	return i + 1
}

// capital masks what begins with an A: AWS's ids of keys, and the key that stands beside one; Google's keys.
func (sc *scanner) capital(i int) int {
	switch {
	case sc.has(i, "AIza") && sc.startsWord(i):
		end, digits := sc.run(i+4, key)
		switch {
		case end-i-4 < 35:
			return i + 1
		case !digits: // nor has any key that begins further on
			return end
		}
		return sc.mask(i, end)
	case (sc.has(i, "AKIA") || sc.has(i, "ASIA")) && sc.startsWord(i):
		end := i + 20
		if end > len(sc.s) || !sc.endsWord(end) {
			return i + 1
		}
		for k := i + 4; k < end; k++ {
			if c := sc.s[k]; class[c]&digit == 0 && lower(c) == c {
				return i + 1
			}
		}
		return sc.beside(sc.mask(i, end))
	}
	return i + 1
}

// beside masks AWS's secret key within 40 bytes after the id of a key that ends at i: 40 characters of base64 that are
// no hash.
func (sc *scanner) beside(i int) int {
	for start := i; start < len(sc.s) && start < i+40; {
		if class[sc.s[start]]&base64 == 0 || sc.s[start] == '=' || !sc.startsWord(start) {
			start++
			continue
		}
		end, digits := sc.run(start, base64)
		if end-start == 40 && digits && sc.mixed(start, end) {
			return sc.mask(start, end)
		}
		start = end
	}
	return i
}

// mixed tells whether letters of both cases are there.
func (sc *scanner) mixed(start, end int) bool {
	var capitals, smalls bool
	for i := start; i < end; i++ {
		capitals = capitals || sc.s[i] >= 'A' && sc.s[i] <= 'Z'
		smalls = smalls || sc.s[i] >= 'a' && sc.s[i] <= 'z'
	}
	return capitals && smalls
}

// jwt masks a JSON Web Token, signed or encrypted, whose third character is at i.
func (sc *scanner) jwt(i int) int {
	start := i - 2
	if !sc.has(start, "eyJ") || !sc.startsWord(start) {
		return i + 1
	}
	end, _ := sc.run(i+1, dotted)
	for end > i+1 && sc.s[end-1] == '.' {
		end--
	}
	dots, since := 0, start
	for k := start; k < end; k++ {
		if sc.s[k] != '.' {
			continue
		}
		if dots == 0 && k-since < 10 {
			return end
		}
		dots, since = dots+1, k+1
	}
	if dots < 2 {
		return end
	}
	return sc.mask(start, end)
}

// bearer masks the token after the word Bearer at i. It needs a digit: "bearer of bad news" has none.
func (sc *scanner) bearer(i int) int {
	if !sc.hasFold(i, "bearer ") || !sc.startsWord(i) {
		return i + 1
	}
	start := i + len("bearer ")
	end, digits := sc.run(start, token68)
	if end-start < 16 || !digits {
		return start
	}
	return sc.mask(start, end)
}

const dashes = "-----"

// privateKey masks the body of a private key in PEM whose word BEGIN is at i. It returns i if there is none.
func (sc *scanner) privateKey(i int) int {
	if !sc.has(i-len(dashes), dashes) || !sc.has(i, "BEGIN ") {
		return i
	}
	start := i + len("BEGIN ")
	limit := min(start+60, len(sc.s))
	for start < limit && (sc.s[start] == ' ' || class[sc.s[start]]&alnum != 0) {
		start++
	}
	if !sc.has(start, dashes) || !sc.has(start-len("PRIVATE KEY"), "PRIVATE KEY") && !sc.has(start-len("PRIVATE KEY BLOCK"), "PRIVATE KEY BLOCK") {
		return i
	}
	start += len(dashes)
	if maskAt(sc.s, start) {
		return start
	}
	end, longest := sc.pemBody(start)
	if longest < 20 { // words, no key
		return i
	}
	return sc.mask(start, end)
}

// pemBody returns the end of lines of base64 and of headers, and the length of the longest run of base64. Line ends may
// be escaped, more than once.
func (sc *scanner) pemBody(i int) (end, longest int) {
	for line := 0; i < len(sc.s); {
		switch c := sc.s[i]; {
		case class[c]&base64 != 0:
			i, line = i+1, line+1
			longest = max(longest, line)
			continue
		case c == '\\':
			k := i
			for k < len(sc.s) && sc.s[k] == '\\' {
				k++
			}
			if k == len(sc.s) || sc.s[k] != 'n' && sc.s[k] != 'r' && sc.s[k] != 't' {
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

// url masks the password of a URL whose colon after the scheme is at i. It returns i if there is none.
func (sc *scanner) url(i int) int {
	start := i + 3
	switch {
	case i+1 == len(sc.s) || sc.s[i+1] != '/' && sc.s[i+1] != '\\':
		return i
	case sc.has(i, "://"):
	case sc.has(i, `:\/\/`):
		start = i + 5
	default:
		return i
	}
	colon := sc.userinfo(start, 64)
	if colon == len(sc.s) || sc.s[colon] != ':' {
		return i
	}
	end := sc.userinfo(colon+1, 256)
	if end == len(sc.s) || sc.s[end] != '@' || end == colon+1 || sc.reference(colon+1, end) {
		return i
	}
	return sc.mask(colon+1, end)
}

// userinfo returns the end of what may stand before the host of a URL, after at most so many bytes.
func (sc *scanner) userinfo(i, most int) int {
	for limit := min(i+most, len(sc.s)); i < limit && class[sc.s[i]]&userinfo != 0; {
		i++
	}
	return i
}
