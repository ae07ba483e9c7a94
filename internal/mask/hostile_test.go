package mask

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/costtest"
)

// hostile are texts that are all beginnings of secrets, when they are repeated.
func hostile() []string {
	parts := []string{
		"a1b2…", "sk-ant-", "AIza-", "password:1", "eyJ-", "eyJa.", "eyJaaaaaaaa.b.", "://a:", "://a@", "Bearer ", "bearer=", "Basic aaaaaaaa", "password",
		"password:", "password='", "password=$", "password=a&", "token=a1b2c3d4e5f6&", "token=a1b2c3d4e5f6,", "token=", "cookie:a=", "cookie:a=1;",
		`"password":'<`, `"secret":[`, `\`, `\":`, `\"secret\":\"`, `\\\"`, `\u0022`, "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----aaaaaaaaaaaaaaaaaaaaaaaa",
		"_-", `"secret": "<`, `secret=\n`, `["--password",`, `{"password":`, " -u a:b", "curl -u a:b ", "login a password b1c2 ", "API key", "AKIA1234567890123456 ",
		"[masked 12ab]", "password=[masked 12ab]", "<password>a", "DB_PASSWORD=a1\n", "--token a1", "1234567890:AA",
	}
	for _, w := range standard().index.words {
		parts = append(parts, w.text+"-", w.text+"1=")
	}
	for _, text := range slices.Sorted(maps.Values(kinds())) {
		parts = append(parts, unmarked(text))
	}
	return parts
}

func perByte(m *Masker, part string, size int) float64 {
	text := strings.Repeat(part, size/len(part)+1)[:size]
	raw := json.RawMessage(`{"a":` + asIs(text) + `}`)
	took := costtest.ThreadTime(func() {
		m.Text(text)
		m.Raw(raw)
	})
	return float64(took.Nanoseconds()) / float64(2*size)
}

// TestMaskingIsLinear holds a long text to about what a short one costs a byte: a search whose cost grew with the
// square of the length would take 8 times as much a byte.
func TestMaskingIsLinear(t *testing.T) {
	const short, long = 512, 4 << 10
	m := newMasker(t)
	for _, part := range hostile() {
		few, many := perByte(m, part, short), perByte(m, part, long)
		for range 12 { // the machine has other work, too
			if many < 3*few {
				break
			}
			few, many = max(few, perByte(m, part, short)), min(many, perByte(m, part, long))
		}
		if many >= 3*few {
			t.Errorf("%.40q costs %.0f ns a byte in %d bytes, and %.0f in %d", part, few, short, many, long)
		}
	}
}

// TestNestedDocumentsAreReadToALimitedDepth: a search that followed them without end, or had no buffer for one more, would panic.
func TestNestedDocumentsAreReadToALimitedDepth(t *testing.T) {
	m := newMasker(t)
	for _, innermost := range []string{`{"password":"hunter2x9"}`, `["a\nb"]`, `"a\nb"`} {
		document := innermost
		for depth := range MaxDepth + 6 {
			if got := m.Raw(json.RawMessage(document)); !json.Valid(got) {
				t.Errorf("%s in %d documents: %.100s", innermost, depth, got)
			} else if depth <= MaxDepth && strings.Contains(string(got), "hunter2x9") {
				t.Errorf("%s is not masked in %d documents", innermost, depth)
			}
			m.Text(document)
			m.Event(&unloop.Event{Name: document, Output: json.RawMessage(document)})
			document = `{"a":` + asIs(document) + `}`
		}
	}
}

// BenchmarkHostile tells what texts cost that are all beginnings of secrets. Their speed must not depend on their length.
func BenchmarkHostile(b *testing.B) {
	m := newMasker(b)
	for _, part := range []string{"password=", "sk-ant-", "eyJa.", `\"secret\":\"`, "twitter1=", "pscale_pw_-", "[masked 12ab]"} {
		for _, size := range []int{1 << 12, 1 << 18} {
			b.Run(fmt.Sprintf("%q %d", part, size), func(b *testing.B) {
				text := strings.Repeat(part, size/len(part))
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					m.Text(text)
				}
			})
		}
	}
}
