package mask

import (
	"encoding/json"
	"math/rand/v2"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// plainFind is find without anything that makes it fast: it tries every expression and every finder at every byte, each with a
// scanner that remembers nothing.
func plainFind(set *ruleSet, s string) (found []span) {
	if len(s) < shortest {
		return nil
	}
	folded := strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r | 0x20
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	at := func(try func(*scanner)) {
		sc := scanner{s: s, rules: set}
		try(&sc)
		found = append(found, sc.spans...)
	}
	for k, r := range set.rules {
		if !slices.ContainsFunc(r.Keywords, func(w string) bool { return strings.Contains(folded, w) }) && utf8.ValidString(s) {
			continue // as gitleaks does
		}
		for p := range len(s) {
			at(func(sc *scanner) { sc.try(k, p) })
		}
	}
	for _, w := range set.index.words {
		for p := range len(s) {
			if len(s)-p < len(w.text) || !(&scanner{s: s}).hasFold(p, w.text) {
				continue
			}
			for _, e := range w.entries {
				if e.finder != nil {
					at(func(sc *scanner) { e.finder(sc, p) })
				}
			}
		}
	}
	return found
}

// plainText masks a text that holds no escapes.
func plainText(m *Masker, s string) string {
	spans := merge(s, plainFind(m.rules, s))
	if len(spans) == 0 {
		return s
	}
	return string(m.replace(s, spans))
}

// FuzzReference compares the masking of a text, and of a text in JSON, to what the rules find in the decoded text, applied plainly.
func FuzzReference(f *testing.F) {
	for _, text := range kinds() {
		f.Add(unmarked(text), uint8(0))
		f.Add("(x) "+unmarked(text)+" && token=", uint8(1))
	}
	for _, text := range []string{
		"password=a&password=b1&c&d=e", "token=token=token=abc1def2ghi3", `password="x" secret='y" z`, "eyJ-eyJ.eyJhbGciOiJIUzI1NiJ9.eyJh.x",
		"cookie:a=cookie:a1=aaaaaaaa1;b=c", "://a:b@://c:d@e", "sk-ant-sk-ant-" + letters, "Bearer Bearer " + letters,
	} {
		f.Add(text, uint8(2))
	}
	m := newMasker(f)
	f.Fuzz(func(t *testing.T, text string, seed uint8) {
		if len(text) > 400 || !utf8.ValidString(text) || strings.Contains(text, `\`) || isDocument(text) {
			return
		}
		want := plainText(m, text)
		if diff := cmp.Diff(want, m.Text(text)); diff != "" {
			t.Errorf("in a text (-want +got):\n%s", diff)
		}
		raw := `["",` + escapedAtRandom(text, seed) + `,1]`
		var got []any
		if err := json.Unmarshal(m.Raw(json.RawMessage(raw)), &got); err != nil || len(got) != 3 {
			t.Fatalf("%v: %s", err, raw)
		}
		if diff := cmp.Diff(want, got[1]); diff != "" {
			t.Errorf("in %s (-want +got):\n%s", raw, diff)
		}
	})
}

// escapedAtRandom writes a text as JSON, some of its characters as numbers though they need not be.
func escapedAtRandom(s string, seed uint8) string {
	chance := rand.New(rand.NewPCG(uint64(seed), 1))
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		one := asIs(string(r))
		one = one[1 : len(one)-1]
		if r < 0x80 && seed > 0 && chance.IntN(4) == 0 {
			one = strings.Trim(numbered(string(r)), `"`)
		}
		b.WriteString(one)
	}
	return b.String() + `"`
}

// TestEveryRuleFindsWhatItsExpressionDescribes makes texts of each rule's expression, so that a keyword that does not stand where
// a match begins fails.
func TestEveryRuleFindsWhatItsExpressionDescribes(t *testing.T) {
	set := standard()
	chance := rand.New(rand.NewPCG(1, 2))
	for k, r := range set.rules {
		parsed, err := syntax.Parse(r.Expression, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for range 200 {
			var b strings.Builder
			write(&b, parsed.Simplify(), chance)
			text := "x = " + b.String() + " "
			sc := scanner{s: text, rules: set}
			if sc.try(k, len("x = ")); len(sc.spans) == 0 {
				continue // of too little entropy, or of a word that is allowed
			}
			found++
			if want := sc.spans[0]; !slices.Contains(sc.find(set, text), want) {
				t.Errorf("%s does not find %q", r.ID, text)
				break
			}
		}
		if found == 0 {
			t.Errorf("%s finds no text that its expression matches", r.ID)
		}
	}
}

// write writes a text that an expression describes.
func write(b *strings.Builder, re *syntax.Regexp, chance *rand.Rand) {
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		for {
			k := 2 * chance.IntN(len(re.Rune)/2)
			if r := re.Rune[k] + rune(chance.IntN(int(re.Rune[k+1]-re.Rune[k])+1)); r < 0x7f {
				b.WriteRune(r)
				return
			}
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('.')
	case syntax.OpCapture, syntax.OpPlus:
		write(b, re.Sub[0], chance)
	case syntax.OpQuest, syntax.OpStar:
		if chance.IntN(2) == 0 {
			write(b, re.Sub[0], chance)
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			write(b, sub, chance)
		}
	case syntax.OpAlternate:
		write(b, re.Sub[chance.IntN(len(re.Sub))], chance)
	}
}
