package mask

import (
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// rule finds secrets of one kind by a regular expression. It is tried only at its keywords, so texts without keywords cost
// nothing.
type rule struct {
	ID         string
	Keywords   []string // in lower case; case is ignored
	Offset     int      // of a keyword in a match, in bytes
	Expression string   // the secret is the group, or the first matching group, or the whole match
	Group      int      // 0 for the first matching group
	Word       bool     // a match begins at a word boundary
	End        bool     // a match ends at a word boundary; otherwise the rest of the word is part of the secret
	Named      bool     // only the name before a value marks it, so the value needs a digit
	Entropy    float64  // minimum entropy of a secret, in bits per byte
}

// compiled is what is computed of a rule at its first use, because most rules are never tried.
type compiled struct {
	once       sync.Once
	expression *regexp.Regexp
	reach      int // how much of a text the expression is applied to, in bytes
}

// ruleSet are all rules except the patterns of the settings. It is immutable.
type ruleSet struct {
	rules    []rule
	compiled []compiled              // by rule
	allowed  func() []*regexp.Regexp // match values that are not secrets
	index    index
}

// standard returns the rules of gitleaks and of this project.
var standard = sync.OnceValue(func() *ruleSet {
	all := slices.Concat(gitleaksRules, ownRules)
	set := &ruleSet{rules: all, compiled: make([]compiled, len(all))}
	set.allowed = sync.OnceValue(func() (all []*regexp.Regexp) {
		for _, e := range gitleaksAllow {
			all = append(all, regexp.MustCompile(e))
		}
		return all
	})
	entries := make(map[string][]entry, 2*len(gitleaksRules))
	for k := range set.rules {
		for _, word := range set.rules[k].Keywords {
			entries[word] = append(entries[word], entry{rule: k})
		}
	}
	for word, finder := range finders {
		entries[word] = append(entries[word], entry{finder: finder})
	}
	set.index.build(entries)
	return set
})

// compile returns what is computed of a rule.
func (set *ruleSet) compile(k int) *compiled {
	c := &set.compiled[k]
	c.once.Do(func() {
		c.expression = regexp.MustCompile("^(?:" + set.rules[k].Expression + ")")
		c.reach = longest(set.rules[k].Expression)
	})
	return c
}

// MaxReach is the maximum number of bytes of a text that an expression is applied to. It bounds the cost of a keyword.
const MaxReach = 512

// longest returns the maximum length of a match of an expression in bytes, up to MaxReach.
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
		n = MaxReach
	case syntax.OpRepeat:
		if n = MaxReach; re.Max >= 0 {
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
	return min(n, MaxReach)
}

// try masks the secret whose match begins at p.
func (sc *scanner) try(k, p int) {
	r := &sc.rules.rules[k]
	if p < 0 || r.Word && !sc.startsWord(p) {
		return
	}
	c := sc.rules.compile(k)
	at := c.expression.FindStringSubmatchIndex(sc.s[p:min(p+c.reach, len(sc.s))])
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
	case at[1] >= MaxReach: // the match may have been cut
		more, _ := sc.run(p+at[1], token68)
		end = max(end, more)
	case open && end == p+at[1]:
		end, _ = sc.run(end, word)
	}
	sc.mask(start, end)
}

// leadsToValue reports whether the rest of a name, a separator and seven bytes of a value follow at i, as in the expressions of
// all rules with a name. It is much cheaper than these. A value has at least 15 bytes, and may begin with up to eight separators.
func (sc *scanner) leadsToValue(i int) bool {
	end := min(i+64, len(sc.s))
	for i < end && (class[sc.s[i]]&dotted != 0 || strings.IndexByte(" \t\n\f\r'\"", sc.s[i]) >= 0) {
		i++
	}
	if strings.IndexByte("=>:|?,", sc.byteAt(i)) < 0 {
		return false
	}
	value := i
	for value < min(i+9, end) && strings.IndexByte("=>:|?,` \t\n\f\r'\"", sc.s[value]) >= 0 {
		value++
	}
	for i = value; i < min(value+7, len(sc.s)) && (class[sc.s[i]]&token68 != 0 || sc.s[i] == '%' || sc.s[i] == ':'); {
		i++
	}
	return i == value+7
}

func (set *ruleSet) isSecret(r *rule, secret string) bool {
	if r.Named && !strings.ContainsAny(secret, "0123456789") || r.Entropy > 0 && entropy(secret) <= r.Entropy {
		return false
	}
	folded := strings.ToLower(secret)
	if slices.ContainsFunc(gitleaksStopwords, func(word string) bool { return strings.Contains(folded, word) }) {
		return false
	}
	matches := func(re *regexp.Regexp) bool { return re.MatchString(secret) }
	return !slices.ContainsFunc(set.allowed(), matches)
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
