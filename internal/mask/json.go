package mask

import (
	"math/bits"
	"strings"
	"sync"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is the maximum depth of strings that contain escaped strings, such as JSON documents in JSON strings. Secrets nested
// deeper are not found.
const MaxDepth = 6

// search finds the secrets in one value.
type search struct {
	m       *Masker
	scanner scanner
	buffers [MaxDepth + 1][]byte // of unescaped texts
}

var searches = sync.Pool{New: func() any { return new(search) }}

// text returns the secrets in a text, sorted and without overlaps.
func (q *search) text(s string, depth int) []span {
	spans := q.scanner.find(q.m.rules, s)
	if len(q.m.patterns) > 0 {
		spans = q.m.own(s, spans)
	}
	if depth < MaxDepth && hidesMore(s) {
		spans = append(spans, q.inside(s, 0, depth)...)
	}
	return merge(s, spans)
}

// inside returns the secrets in the unescaped form of a text, with their positions in the text, plus offset.
func (q *search) inside(s string, offset, depth int) []span {
	q.buffers[depth] = unescape(q.buffers[depth][:0], s)
	return q.decoded(s, offset, depth)
}

// decoded is inside for a text whose unescaped form is in the buffer of this depth.
func (q *search) decoded(s string, offset, depth int) []span {
	plain := q.buffers[depth]
	spans := q.reading(unsafe.String(unsafe.SliceData(plain), len(plain)), depth+1)
	if len(spans) > 0 {
		outward(s, spans, offset)
	}
	return spans
}

// reading returns the secrets in an unescaped string, which may be a JSON document.
func (q *search) reading(s string, depth int) []span {
	if depth <= MaxDepth && isDocument(s) {
		return q.document(s, depth)
	}
	return q.text(s, depth)
}

// isDocument reports whether a text is a JSON object or array.
func isDocument(s string) bool {
	if s == "" || class[s[0]]&alnum != 0 {
		return false
	}
	trimmed := strings.TrimSpace(s)
	if len(trimmed) < 2 {
		return false
	}
	first, last := trimmed[0], trimmed[len(trimmed)-1]
	if (first != '{' || last != '}') && (first != '[' || last != ']') {
		return false
	}
	value := jsontext.Value(unsafe.Slice(unsafe.StringData(s), len(s))) // read-only
	return value.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// walk is a search through a JSON document.
type walk struct {
	*search
	s     string
	depth int
	index *index // of strings without escapes; nil if each string is searched as a text of its own
	spans []span

	kind  kind // of the current value, by the preceding name
	lists int  // number of arrays around the current value since that name
	pair  kind // the kind of value that the member name indicates, as in {"name": "PASSWORD", "value": "hunter2"}
	isOf  pairing
	flag  kind // the kind of the next string that the previous one indicates, as in ["--password", "hunter2"]
}

// pairing is the role of a member in a pair of name and value.
type pairing uint8

const (
	neither pairing = iota
	itsName
	itsValue
)

// document returns the secrets in a JSON document, sorted and without overlaps. In invalid JSON it finds fewer.
func (q *search) document(s string, depth int) []span {
	w := walk{search: q, s: s, depth: depth}
	if len(q.m.patterns) == 0 {
		w.index = &q.m.rules.index
	}
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '"':
			i = w.string(i + 1)
			continue
		case c == ',' || c == ':' || c <= ' ':
		case class[c]&digit != 0 || c == '-':
			if w.kind|kind(w.isOf) != 0 { // otherwise a number has no effect
				i = w.number(i)
				continue
			}
			for i+1 < len(s) && class[s[i+1]]&digit != 0 {
				i++
			}
		default:
			w.bracket(c)
		}
		i++
	}
	return merge(s, w.spans)
}

// bracket notes the beginning or the end of an object or an array.
func (w *walk) bracket(c byte) {
	switch c {
	case '[':
		w.lists++
		w.flag = noSecret
	case ']':
		w.lists--
		w.flag = noSecret
		if w.lists <= 0 {
			w.kind = noSecret
		}
	case '{':
		w.kind, w.pair, w.flag = noSecret, noSecret, noSecret
	case '}':
		w.pair, w.flag = noSecret, noSecret
	}
}

// string searches the string that begins at start, and returns its end.
func (w *walk) string(start int) int {
	s := w.s
	end := plainEnd(s, start)
	escaped := end < len(s) && s[end] == '\\'
	switch {
	case escaped:
		end = w.escaped(start, end)
	case w.index == nil || end-start >= shortest && class[s[start]]&word == 0:
		from := len(w.spans)
		w.spans = append(w.spans, w.reading(s[start:end], w.depth)...)
		w.shift(from, start)
	case end-start >= shortest: // the common case: no document
		if first := w.index.next(s, start, end); first < end {
			w.plain(first, start, end)
		}
	}
	after := end + 1
	for after < len(s) && s[after] <= ' ' && isSpace(s[after]) {
		after++
	}
	if after < len(s) && s[after] == ':' {
		w.name(s[start:end])
		return after + 1
	}
	if w.kind|w.flag|kind(w.isOf) != 0 || w.lists > 0 {
		w.value(s[start:end], start, escaped)
	}
	return end + 1
}

// escaped searches a string whose first escape is at the given position, and returns its end.
func (w *walk) escaped(start, escape int) (end int) {
	text, length := unescapeUntil(w.buffers[w.depth][:0], w.s[start:], escape-start, '"')
	w.buffers[w.depth] = text
	end = start + length
	if length >= shortest || w.index == nil {
		w.spans = append(w.spans, w.decoded(w.s[start:end], start, w.depth)...)
	}
	return end
}

// plain searches a string without escapes from first on.
func (w *walk) plain(first, start, end int) {
	from := len(w.spans)
	w.spans = append(w.spans, merge(w.s[start:end], w.scanner.findFrom(w.m.rules, w.s, first, start, end))...)
	w.shift(from, start)
}

// shift moves the spans from the given one on.
func (w *walk) shift(from, by int) {
	for k := range w.spans[from:] {
		w.spans[from+k].start += by
		w.spans[from+k].end += by
	}
}

// plainEnd returns the position of the first quote or backslash from start on, or len(s).
func plainEnd(s string, start int) int {
	i := start
	for ; i+8 <= len(s); i += 8 {
		if found := either(eightBytes(s, i), quotes, backslashes); found != 0 {
			return i + bits.TrailingZeros64(found)>>3
		}
	}
	for i < len(s) && s[i] != '"' && s[i] != '\\' {
		i++
	}
	return i
}

func (w *walk) name(raw string) {
	w.kind, w.lists, w.isOf, w.flag = kindOf(raw), 0, neither, noSecret
	switch raw {
	case "name", "key", "Name", "Key":
		w.isOf = itsName
	case "value", "Value":
		if w.isOf = itsValue; w.pair != noSecret {
			w.kind, w.pair = w.pair, noSecret
		}
	}
}

// value masks a whole string if its name requires it.
func (w *walk) value(raw string, start int, escaped bool) {
	k := w.kind
	if w.flag != noSecret && !strings.HasPrefix(raw, "-") {
		k = w.flag
	}
	w.flag = noSecret
	if strings.HasPrefix(raw, "--") && w.lists > 0 {
		w.flag = kindOf(raw)
	}
	if w.isOf == itsName {
		w.pair = kindOf(raw)
	}
	if w.lists == 0 {
		w.kind, w.isOf = noSecret, neither
	}
	if k == noSecret {
		return
	}
	plain := raw
	if escaped {
		plain = string(unescape(nil, raw))
	}
	from, ok := k.in(plain)
	if !ok || touchesMask(plain, from, len(plain)) {
		return
	}
	whole := []span{{from, len(plain), bare}}
	if outward(raw, whole, start); whole[0].start < whole[0].end {
		w.spans = append(w.spans, whole...)
	}
}

// number masks a number if its name requires it. The mask is quoted, so that the JSON stays valid.
func (w *walk) number(start int) (end int) {
	for end = start; end < len(w.s) && (class[w.s[end]]&alnum != 0 || w.s[end] == '.' || w.s[end] == '-' || w.s[end] == '+'); {
		end++
	}
	if w.kind == secret && end-start >= 4 {
		w.spans = append(w.spans, span{start, end, 0})
	}
	if w.lists == 0 {
		w.kind, w.isOf = noSecret, neither
	}
	return end
}
