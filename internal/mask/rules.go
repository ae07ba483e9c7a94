package mask

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// gitleaksRules are rules of the project gitleaks, written by scripts/secret-rules.
//
//go:embed gitleaks/rules.json
var gitleaksRules []byte

// rule finds secrets of one kind by a regular expression. It is tried only at its keywords, so texts without keywords cost
// nothing.
type rule struct {
	ID         string   `json:"id"`
	Keywords   []string `json:"keywords"` // in lower case; case is ignored
	Offset     int      `json:"offset"`   // of a keyword in a match, in bytes
	Expression string   `json:"re"`       // the secret is the group, or the first matching group, or the whole match
	Group      int      `json:"group"`    // 0 for the first matching group
	Word       bool     `json:"word"`     // a match begins at a word boundary
	End        bool     `json:"end"`      // a match ends at a word boundary; otherwise the rest of the word is part of the secret
	Named      bool     `json:"named"`    // only the name before a value marks it, so the value needs a digit
	Entropy    float64  `json:"entropy"`  // minimum entropy of a secret, in bits per byte
	Allow      []string `json:"allow"`    // expressions of values that are not secrets

	// Computed at first use, because most rules are never tried.
	reach    func() int            // how much of a text the expression is applied to, in bytes
	compiled func() *regexp.Regexp //
	allowed  func() []*regexp.Regexp
}

// ruleSet are all rules except the patterns of the settings. It is immutable.
type ruleSet struct {
	Rules     []rule   `json:"rules"`
	Allow     []string `json:"allow"`     // expressions of values that are not secrets for any rule
	Stopwords []string `json:"stopwords"` // words that no secret contains
	allowed   func() []*regexp.Regexp
	index     index
}

// standard returns the rules of gitleaks and of this project.
var standard = sync.OnceValue(func() *ruleSet {
	var set ruleSet
	if err := json.Unmarshal(gitleaksRules, &set); err != nil {
		panic(fmt.Sprintf("the rules are built in: %v", err))
	}
	set.allowed = lazily(set.Allow)
	for k := range set.Rules {
		r := &set.Rules[k]
		r.compiled = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^(?:" + r.Expression + ")") })
		r.allowed = lazily(r.Allow)
		r.reach = sync.OnceValue(func() int { return longest(r.Expression) })
		for _, word := range r.Keywords {
			set.index.add(word, entry{rule: k})
		}
	}
	for word, finder := range finders {
		set.index.add(word, entry{finder: finder})
	}
	set.index.build()
	return &set
})

func lazily(expressions []string) func() []*regexp.Regexp {
	return sync.OnceValue(func() (all []*regexp.Regexp) {
		for _, e := range expressions {
			all = append(all, regexp.MustCompile(e))
		}
		return all
	})
}

// maxReach is the maximum number of bytes of a text that an expression is applied to. It bounds the cost of a keyword.
const maxReach = 512

// longest returns the maximum length of a match of an expression in bytes, up to maxReach.
func longest(expression string) int {
	re, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		panic(fmt.Sprintf("the rules are built in: %v", err))
	}
	return longestOf(re)
}

func longestOf(re *syntax.Regexp) (n int) {
	switch re.Op {
	case syntax.OpLiteral:
		n = len(string(re.Rune))
	case syntax.OpCharClass:
		n = utf8.RuneLen(max(0, min(re.Rune[len(re.Rune)-1], utf8.MaxRune)))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		n = utf8.UTFMax
	case syntax.OpStar, syntax.OpPlus:
		n = maxReach
	case syntax.OpRepeat:
		if n = maxReach; re.Max >= 0 {
			n = re.Max * longestOf(re.Sub[0])
		}
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			n = max(n, longestOf(sub))
		}
	default:
		for _, sub := range re.Sub {
			n += longestOf(sub)
		}
	}
	return min(n, maxReach)
}

// try masks the secret whose match begins at p.
func (sc *scanner) try(k, p int) {
	r := &sc.rules.Rules[k]
	if p < 0 || r.Word && !sc.startsWord(p) || r.Named && !sc.leadsToValue(p) {
		return
	}
	at := r.compiled().FindStringSubmatchIndex(sc.s[p:min(p+r.reach(), len(sc.s))])
	if at == nil {
		return
	}
	start, end := p+at[0], p+at[1]
	for g := 2; g < len(at); g += 2 {
		if at[g] >= 0 && (r.Group == 0 || r.Group == g/2) {
			start, end = p+at[g], p+at[g+1]
			break
		}
	}
	open := !sc.endsWord(p + at[1])
	if open && r.End || !sc.rules.isSecret(r, sc.s[start:end]) {
		return
	}
	switch {
	case at[1] >= maxReach: // the match may have been cut
		more, _ := sc.run(p+at[1], token68)
		end = max(end, more)
	case open && end == p+at[1]:
		end, _ = sc.run(end, word)
	}
	sc.mask(start, end)
}

// leadsToValue reports whether a separator of name and value follows soon after p. It is much cheaper than the expression.
func (sc *scanner) leadsToValue(p int) bool {
	return strings.ContainsAny(sc.s[p:min(p+64, len(sc.s))], "=>:|,")
}

func (set *ruleSet) isSecret(r *rule, secret string) bool {
	if r.Named && !strings.ContainsAny(secret, "0123456789") || r.Entropy > 0 && entropy(secret) <= r.Entropy {
		return false
	}
	folded := strings.ToLower(secret)
	if slices.ContainsFunc(set.Stopwords, func(word string) bool { return strings.Contains(folded, word) }) {
		return false
	}
	matches := func(re *regexp.Regexp) bool { return re.MatchString(secret) }
	return !slices.ContainsFunc(r.allowed(), matches) && !slices.ContainsFunc(set.allowed(), matches)
}

// entropy returns the Shannon entropy of the bytes of a text, in bits per byte.
func entropy(text string) (bits float64) {
	var counts [256]int
	for i := range len(text) {
		counts[text[i]]++
	}
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(text))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}
