// Package mask hides secrets before data is stored: keys of well-known vendors, tokens, private keys, passwords in URLs, and
// values whose names mark them as secret. It is applied to requests before the pipeline. Detectors give the same findings before
// and after it, because equal secrets get equal masks, and different secrets almost always different ones. A mask never reads as a
// number or as a word, so the findings do not depend on the key.
//
// A mask is "[masked f3c9]" with 16 bits of a keyed hash of the secret. Without the key, the store reveals neither the secret nor
// whether a guess is right, except with a probability of 1 in 65,536. Two secrets have the same mask with the same probability.
//
// Texts are searched with their JSON escapes resolved, and strings that contain JSON are parsed. One pass over a text finds
// keywords. Only at keywords, rules are tried on a bounded part of the text: regular expressions of gitleaks, and rules of this
// project. The cost is proportional to the length: 0.3 to 1.2 ns per byte for typical texts and events, up to 6 for JSON in a string of JSON,
// and up to 100 times that for a text that consists of keywords.
package mask

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unsafe"

	"github.com/unloop-ai/unloop"
)

// minKey is the minimum length of the key in bytes.
const minKey = 16

// Settings are the settings of a Masker.
type Settings struct {
	Disabled bool     `yaml:"disabled" json:"disabled"` // mask nothing
	Patterns []string `yaml:"patterns" json:"patterns"` // further secrets, as regular expressions (RE2); the secret is the first group, or the whole match without one

	// Key is the random key of the masks. It is kept with the store, so that a secret always has the same mask.
	Key []byte `yaml:"-" json:"-"`
}

// Validate returns all errors of the settings, or nil.
func (s Settings) Validate() error {
	if s.Disabled {
		return nil
	}
	var mistakes []error
	if len(s.Key) < minKey {
		mistakes = append(mistakes, fmt.Errorf("key: got %d bytes, want at least %d", len(s.Key), minKey))
	}
	_, err := compile(s.Patterns)
	return errors.Join(append(mistakes, err)...)
}

func compile(patterns []string) ([]*regexp.Regexp, error) {
	var compiled []*regexp.Regexp
	var mistakes []error
	for i, p := range patterns {
		re, err := regexp.Compile(p)
		switch {
		case err != nil:
			mistakes = append(mistakes, fmt.Errorf("patterns[%d]: %w", i, err))
		case re.MatchString(""):
			mistakes = append(mistakes, fmt.Errorf("patterns[%d]: %q matches the empty text, so it would mask everything", i, p))
		default:
			compiled = append(compiled, re)
		}
	}
	return compiled, errors.Join(mistakes...)
}

// Masker masks secrets. It is immutable and safe for concurrent use.
type Masker struct {
	disabled bool
	key      []byte
	rules    *ruleSet
	patterns []*regexp.Regexp
	least    int // length of the shortest text that may be or contain a secret
}

// New returns a Masker. The error joins all errors of the settings.
func New(s Settings) (*Masker, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if s.Disabled {
		return &Masker{disabled: true}, nil
	}
	patterns, err := compile(s.Patterns)
	if err != nil {
		return nil, err
	}
	m := &Masker{key: append([]byte(nil), s.Key...), rules: standard(), patterns: patterns, least: shortest}
	if len(patterns) > 0 {
		m.least = 1
	}
	return m, nil
}

// Event masks all texts of an event, including its ids. It replaces the raw JSON and does not modify it. It allocates nothing for
// an event without secrets.
func (m *Masker) Event(e *unloop.Event) {
	if m.disabled {
		return
	}
	q := m.search()
	defer q.end()
	for _, id := range [...]*string{&e.ID, &e.RunID, &e.CallID, &e.ParentEventID, &e.SpanID, &e.TraceID} {
		if len(*id) >= q.m.least {
			*id = q.maskID(*id)
		}
	}
	e.Type = unloop.EventType(q.maskText(string(e.Type)))
	for _, text := range [...]*string{&e.Agent, &e.Name, &e.Status, &e.Model, &e.Tool, &e.Role, &e.Text} {
		if len(*text) >= q.m.least {
			*text = q.maskText(*text)
		}
	}
	for _, raw := range [...]*json.RawMessage{&e.Input, &e.Output, &e.Error, &e.Metadata} {
		if len(*raw) > 0 {
			*raw = q.maskRaw(*raw)
		}
	}
}

// Raw returns the JSON value with its secrets masked. Valid JSON stays valid, and other bytes stay unchanged. A secret number
// becomes a string. Without a secret it returns raw itself. It never modifies raw.
func (m *Masker) Raw(raw json.RawMessage) json.RawMessage {
	if m.disabled || len(raw) == 0 {
		return raw
	}
	q := m.search()
	defer q.end()
	return q.maskRaw(raw)
}

func (q *search) maskRaw(raw json.RawMessage) json.RawMessage {
	text := unsafe.String(unsafe.SliceData(raw), len(raw)) // read-only, and not kept
	spans := q.document(text, 0)
	if len(spans) == 0 {
		return raw
	}
	return q.m.replace(text, spans)
}

// Text returns the text with its secrets masked, or the text itself if it has none.
func (m *Masker) Text(text string) string {
	if m.disabled {
		return text
	}
	q := m.search()
	defer q.end()
	return q.maskText(text)
}

func (q *search) maskText(text string) string {
	if len(text) < q.m.least {
		return text
	}
	spans := q.reading(text, 0)
	if len(spans) == 0 {
		return text
	}
	return string(q.m.replace(text, spans))
}

// idOpening is the prefix of a masked id.
const idOpening = "masked-"

// ID returns an id unchanged if it contains no secret. Otherwise it returns a replacement with 128 bits of a keyed hash: equal
// ids have equal replacements, and different ids different ones.
func (m *Masker) ID(id string) string {
	if m.disabled {
		return id
	}
	q := m.search()
	defer q.end()
	return q.maskID(id)
}

func (q *search) maskID(id string) string {
	if isMaskedID(id) || q.maskText(id) == id {
		return id
	}
	hash := hmac.New(sha256.New, q.m.key)
	hash.Write([]byte(idOpening + id))
	return idOpening + hex.EncodeToString(hash.Sum(nil)[:16])
}

func isMaskedID(id string) bool {
	if len(id) != len(idOpening)+32 || id[:len(idOpening)] != idOpening {
		return false
	}
	_, err := hex.DecodeString(id[len(idOpening):])
	return err == nil
}

func (m *Masker) search() *search {
	q := searches.Get().(*search)
	q.m = m
	return q
}

// keptBuffer is the maximum size in bytes of a buffer that is reused for the next search.
const keptBuffer = 1 << 20

func (q *search) end() {
	for k := range q.buffers {
		if cap(q.buffers[k]) > keptBuffer {
			q.buffers[k] = nil
		}
	}
	q.m = nil
	searches.Put(q)
}

// span is the position of a secret, and the number of backslashes before the quotes of its mask, or bare.
type span struct {
	start, end int
	quotes     int
}

// bare means that a mask needs no quotes, because the text around it has them.
const bare = -1

func (m *Masker) replace(s string, spans []span) []byte {
	out := make([]byte, 0, len(s)+len(spans)*len("[masked 0000]"))
	from := 0
	for _, sp := range spans {
		out = append(out, s[from:sp.start]...)
		out = appendQuote(out, sp.quotes)
		out = append(out, opening...)
		out = appendDigest(out, m.digest(s[sp.start:sp.end]))
		out = append(out, ']')
		out = appendQuote(out, sp.quotes)
		from = sp.end
	}
	return append(out, s[from:]...)
}

func appendQuote(out []byte, escapes int) []byte {
	if escapes == bare {
		return out
	}
	for range escapes {
		out = append(out, '\\')
	}
	return append(out, '"')
}

// digest returns 16 bits of the keyed hash of the secret. It ignores white space and escapes, so that a secret has the same mask
// in a JSON string and in plain text.
func (m *Masker) digest(secret string) uint16 {
	for range MaxDepth {
		plain := string(unescape(nil, secret))
		if plain == secret {
			break
		}
		secret = plain
	}
	hash := hmac.New(sha256.New, m.key)
	hash.Write([]byte(strings.Map(func(r rune) rune {
		if r == '\\' || r <= ' ' {
			return -1
		}
		return r
	}, secret)))
	return binary.BigEndian.Uint16(hash.Sum(nil))
}

// appendDigest appends a digest as letter, digit, letter, digit. Detectors read such a word as an id. Hexadecimal digits read as a
// number in 15 % of the masks and as a word in 2 %, and the findings then depend on the key.
func appendDigest(out []byte, digest uint16) []byte {
	return append(out, 'a'+byte(digest/2600), '0'+byte(digest/260%10), 'a'+byte(digest/10%26), '0'+byte(digest%10))
}

// opening is the prefix of a mask.
const opening = "[masked "

// maskAt reports whether there is a mask at i, in the form of appendDigest or in the hexadecimal form of earlier versions.
func maskAt(s string, i int) bool {
	end := i + len(opening) + 4
	if i < 0 || end >= len(s) || s[i:i+len(opening)] != opening || s[end] != ']' {
		return false
	}
	shown := s[i+len(opening) : end]
	return isDigest(shown) || strings.Trim(shown, "0123456789abcdef") == ""
}

// isDigest reports whether a text of four bytes is one of appendDigest.
func isDigest(s string) bool {
	for k := range len(s) {
		if k%2 == 0 && (s[k] < 'a' || s[k] > 'z') || k%2 == 1 && class[s[k]]&digit == 0 {
			return false
		}
	}
	return true
}
