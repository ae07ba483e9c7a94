// Package mask hides secrets in what is to be stored: keys of well-known vendors, tokens, private keys, passwords in
// URLs, and values whose name says that they are secret. It stands between what a request brings and the pipeline;
// detectors may run on either side of it, since equal secrets get equal masks and different ones different masks.
//
// A mask is "[masked 9f3c]": 16 bits of a keyed hash of the secret. Who has the store but not the key can tell neither
// the secret nor whether a guess is right, beyond one guess in 65,536. By the same measure two secrets may share a mask.
//
// Texts are searched as they read once the escapes of JSON are resolved; strings that hold JSON are read as that. One pass over a text
// finds keywords, and only there are rules tried, each on a bounded part of it: those of gitleaks, regular expressions, and this project's
// own. Cost is proportional to length: 1 to 3 ns a byte of what agents do, up to 6 for JSON in a string of JSON, and up to 100 times
// that for a text that is made of keywords.
package mask

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unsafe"

	"github.com/unloop-ai/unloop"
)

// minKey is the shortest key in bytes that cannot be guessed.
const minKey = 16

// Settings say what is masked.
type Settings struct {
	Disabled bool     `yaml:"disabled" json:"disabled"` // nothing is masked
	Patterns []string `yaml:"patterns" json:"patterns"` // further secrets: regular expressions (RE2); the first group, or else all of a match

	// Key keys the masks: random, and kept with the store, so that a secret has the same mask tomorrow.
	Key []byte `yaml:"-" json:"-"`
}

// Validate returns all that is wrong with the settings, or nil.
func (s Settings) Validate() error {
	if s.Disabled {
		return nil
	}
	var mistakes []error
	if len(s.Key) < minKey {
		mistakes = append(mistakes, fmt.Errorf("key: %d bytes given, at least %d wanted", len(s.Key), minKey))
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

// Masker masks secrets. It does not change, so it is safe for concurrent use.
type Masker struct {
	disabled bool
	key      []byte
	rules    *ruleSet
	patterns []*regexp.Regexp
}

// New returns a Masker, or what is wrong with the settings.
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
	return &Masker{key: append([]byte(nil), s.Key...), rules: standard(), patterns: patterns}, nil
}

// Event masks all texts of an event, its ids too. The raw JSON is replaced, not written to. A clean event takes no memory.
func (m *Masker) Event(e *unloop.Event) {
	if m.disabled {
		return
	}
	q := m.search()
	defer q.end()
	for _, id := range [...]*string{&e.ID, &e.RunID, &e.CallID, &e.ParentEventID, &e.SpanID, &e.TraceID} {
		*id = q.maskID(*id)
	}
	e.Type = unloop.EventType(q.maskText(string(e.Type)))
	for _, text := range [...]*string{&e.Agent, &e.Name, &e.Status, &e.Model, &e.Tool, &e.Role, &e.Text} {
		*text = q.maskText(*text)
	}
	for _, raw := range [...]*json.RawMessage{&e.Input, &e.Output, &e.Error, &e.Metadata} {
		*raw = q.maskRaw(*raw)
	}
}

// Raw returns the JSON value with its secrets masked. Valid JSON stays valid, and what is no secret stays byte for byte; a number
// that is secret becomes a string. Without a secret it returns raw itself; it never writes to raw.
func (m *Masker) Raw(raw json.RawMessage) json.RawMessage {
	if m.disabled || len(raw) == 0 {
		return raw
	}
	q := m.search()
	defer q.end()
	return q.maskRaw(raw)
}

func (q *search) maskRaw(raw json.RawMessage) json.RawMessage {
	text := unsafe.String(unsafe.SliceData(raw), len(raw)) // read while raw is not written to, and not kept
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
	if len(text) < shortest && len(q.m.patterns) == 0 {
		return text
	}
	spans := q.reading(text, 0)
	if len(spans) == 0 {
		return text
	}
	return string(q.m.replace(text, spans))
}

// idOpening begins what stands for an id.
const idOpening = "masked-"

// ID returns an id as it is, or, if it holds a secret, another in its place: always the same one for the same id, and with 128 bits
// of a keyed hash, so that what the id joined stays joined and nothing else does.
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

// keptBuffer is how much memory a search keeps for the next one, in bytes a buffer.
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

// span is a secret: where it stands, and how many backslashes escape the quotes that its mask needs, or bare.
type span struct {
	start, end int
	quotes     int
}

// bare is a mask without quotes: it stands within some already.
const bare = -1

func (m *Masker) replace(s string, spans []span) []byte {
	out := make([]byte, 0, len(s)+len(spans)*len("[masked 0000]"))
	from := 0
	for _, sp := range spans {
		out = append(out, s[from:sp.start]...)
		out = appendQuote(out, sp.quotes)
		out = append(out, opening...)
		out = hex.AppendEncode(out, m.digest(s[sp.start:sp.end]))
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

// digest returns 16 bits of the secret's keyed hash. White space and escapes do not count, so that a secret in a JSON
// string is the same one as in plain text.
func (m *Masker) digest(secret string) []byte {
	for range deepest {
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
	return hash.Sum(nil)[:2]
}

// opening begins a mask.
const opening = "[masked "

// maskAt tells whether a mask stands at i.
func maskAt(s string, i int) bool {
	end := i + len(opening) + 4
	if i < 0 || end >= len(s) || s[i:i+len(opening)] != opening || s[end] != ']' {
		return false
	}
	for _, c := range []byte(s[i+len(opening) : end]) {
		if class[c]&digit == 0 && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
