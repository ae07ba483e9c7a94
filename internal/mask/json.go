package mask

import (
	"encoding/json"
	"strings"
	"sync"
	"unsafe"
)

// deepest is how many times escapes are resolved: a JSON document in a string of another one, and so on. What is hidden deeper is
// not found.
const deepest = 6

// search looks for the secrets in one value.
type search struct {
	m       *Masker
	scanner scanner
	buffers [deepest][]byte // of texts without their escapes
}

var searches = sync.Pool{New: func() any { return new(search) }}

// text returns the secrets in a text, in their order, none overlapping.
func (q *search) text(s string, depth int) []span {
	spans := q.scanner.find(q.m.rules, s)
	if len(q.m.patterns) > 0 {
		spans = q.m.own(s, spans)
	}
	if depth < deepest && hidesMore(s) {
		spans = append(spans, q.inside(s, 0, depth)...)
	}
	return merge(s, spans)
}

// inside returns the secrets in a text as it reads without its escapes, and where they stand in the text, at offset.
func (q *search) inside(s string, offset, depth int) []span {
	plain := unescape(q.buffers[depth][:0], s)
	q.buffers[depth] = plain
	spans := q.reading(unsafe.String(unsafe.SliceData(plain), len(plain)), depth+1)
	if len(spans) > 0 {
		outward(s, spans, offset)
	}
	return spans
}

// reading returns the secrets in what a string says, which may be a JSON document.
func (q *search) reading(s string, depth int) []span {
	if isDocument(s) {
		return q.document(s, depth)
	}
	return q.text(s, depth)
}

// isDocument tells whether a text is an object or a list of JSON.
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
	return json.Valid(unsafe.Slice(unsafe.StringData(s), len(s)))
}

// walk is a search through a document of JSON.
type walk struct {
	*search
	s     string
	depth int
	spans []span

	kind  kind // what the name before this place says of its value
	lists int  // in how many lists this place stands since that name
	pair  kind // what the value of name says of that of value, as in {"name": "PASSWORD", "value": "hunter2"}
	isOf  pairing
	flag  kind // what the string before it says of the next, as in ["--password", "hunter2"]
}

// pairing is whether a member is one of a pair.
type pairing uint8

const (
	neither pairing = iota
	itsName
	itsValue
)

// document returns the secrets in a document of JSON, in their order, none overlapping. Where it is none after all, it finds less.
func (q *search) document(s string, depth int) []span {
	w := walk{search: q, s: s, depth: depth}
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '"':
			i = w.string(i + 1)
			continue
		case c == '[':
			w.lists++
			w.flag = noSecret
		case c == ']':
			w.lists--
			w.flag = noSecret
			if w.lists <= 0 {
				w.kind = noSecret
			}
		case c == '{':
			w.kind, w.pair, w.flag = noSecret, noSecret, noSecret
		case c == '}':
			w.pair, w.flag = noSecret, noSecret
		case c == '-' || class[c]&digit != 0:
			i = w.number(i)
			continue
		}
		i++
	}
	return merge(s, w.spans)
}

// string searches the string that begins at start, and returns where it goes on.
func (w *walk) string(start int) int {
	end, escaped := endOfString(w.s, start)
	raw := w.s[start:end]
	after := end + 1
	for after < len(w.s) && isSpace(w.s[after]) {
		after++
	}
	isName := after < len(w.s) && w.s[after] == ':'
	from := len(w.spans)
	switch {
	case len(raw) < shortest && len(w.m.patterns) == 0:
	case escaped:
		w.spans = append(w.spans, w.inside(raw, start, w.depth)...)
	default:
		w.spans = append(w.spans, w.reading(raw, w.depth)...)
		for k := range w.spans[from:] {
			w.spans[from+k].start += start
			w.spans[from+k].end += start
		}
	}
	if isName {
		w.name(raw)
		return after + 1
	}
	w.value(raw, start, escaped)
	return end + 1
}

// endOfString returns where the string that begins at start ends, and whether it has escapes.
func endOfString(s string, start int) (end int, escaped bool) {
	for end = start; end < min(start+32, len(s)); end++ { // as most do
		switch s[end] {
		case '"':
			return end, false
		case '\\':
			return endOfLong(s, start)
		}
	}
	return endOfLong(s, start)
}

func endOfLong(s string, start int) (end int, escaped bool) {
	for end = start; ; end++ {
		k := strings.IndexByte(s[end:], '"')
		if k < 0 {
			return len(s), strings.IndexByte(s[start:], '\\') >= 0
		}
		end += k
		backslashes := 0
		for end-backslashes > start && s[end-backslashes-1] == '\\' {
			backslashes++
		}
		if backslashes%2 == 0 {
			return end, strings.IndexByte(s[start:end], '\\') >= 0
		}
	}
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

// value masks a whole string, if its name says so.
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

// number masks a number, if its name says so. The mask gets quotes, so that JSON stays JSON.
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
