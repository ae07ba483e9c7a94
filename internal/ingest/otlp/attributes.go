package otlp

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/unloop-ai/unloop/internal/ingest"
)

// attributes are the attributes of a span or a record by key. Of duplicate keys, the first is used.
type attributes struct {
	byKey  map[string]pcommon.Value
	spaces map[string]bool // prefixes of the keys, up to and including the first dot
}

func newAttributes() attributes {
	return attributes{make(map[string]pcommon.Value), make(map[string]bool)}
}

func (a attributes) set(from pcommon.Map) {
	clear(a.byKey)
	clear(a.spaces)
	space := ""
	for key, value := range from.All() {
		if _, ok := a.byKey[key]; !ok {
			a.byKey[key] = value
		}
		if space == "" || !strings.HasPrefix(key, space) {
			space = key[:strings.IndexByte(key, '.')+1]
			a.spaces[space] = true
		}
	}
}

// has reports whether any key begins with the name space, which ends in a dot.
func (a attributes) has(space string) bool { return a.spaces[space] }

// span is a span with its attributes and the name of its instrumentation.
type span struct {
	ptrace.Span
	attributes
	scope string
}

func (s *span) set(from ptrace.Span, scope string) {
	s.Span, s.scope = from, scope
	s.attributes.set(from.Attributes())
}

// title returns the name of the span.
func (s *span) title() string { return valid(s.Name()) }

// valid replaces invalid UTF-8, which pdata accepts.
func valid(text string) string { return strings.ToValidUTF8(text, "\ufffd") }

// text returns the first of the attributes that is a non-empty string.
func (a attributes) text(keys ...string) string {
	for _, key := range keys {
		if v, ok := a.byKey[key]; ok && v.Type() == pcommon.ValueTypeStr && v.Str() != "" {
			return valid(v.Str())
		}
	}
	return ""
}

// textOf is text for one attribute of a list that is read once.
func textOf(list pcommon.Map, key string) string {
	if v, ok := list.Get(key); ok && v.Type() == pcommon.ValueTypeStr {
		return valid(v.Str())
	}
	return ""
}

// number returns the first of the attributes that is a finite positive number, or a string with one.
func (a attributes) number(keys ...string) float64 {
	for _, key := range keys {
		v, ok := a.byKey[key]
		if !ok {
			continue
		}
		var n float64
		switch v.Type() {
		case pcommon.ValueTypeInt:
			n = float64(v.Int())
		case pcommon.ValueTypeDouble:
			n = v.Double()
		case pcommon.ValueTypeStr:
			n, _ = strconv.ParseFloat(v.Str(), 64) // 0 for other strings
		}
		if n > 0 && !math.IsInf(n, 1) {
			return n
		}
	}
	return 0
}

// count is number for counts. It ignores numbers that a float64 cannot represent exactly.
func (a attributes) count(keys ...string) int64 {
	n := a.number(keys...)
	if n > 1<<53 {
		return 0
	}
	return int64(n)
}

// json returns the first of the attributes that exists, as JSON.
func (a attributes) json(keys ...string) string {
	for _, key := range keys {
		if v, ok := a.byKey[key]; ok && v.Type() != pcommon.ValueTypeEmpty {
			return asJSON(v)
		}
	}
	return ""
}

// asJSON returns a structured value unchanged, a string that contains JSON as that JSON, and another string as a JSON string.
func asJSON(v pcommon.Value) string {
	if v.Type() == pcommon.ValueTypeStr {
		return textAsJSON(v.Str())
	}
	raw, err := json.Marshal(v.AsRaw())
	if err == nil {
		return string(raw)
	}
	if v.Type() == pcommon.ValueTypeDouble { // infinity and NaN have no form in JSON
		return quoted(v.AsString())
	}
	return ""
}

func textAsJSON(text string) string {
	text = valid(text)
	if inner := strings.TrimSpace(text); mayBeJSON(inner) && jsontext.Value(inner).IsValid(lenient()) {
		return inner
	}
	return quoted(text)
}

func quoted(text string) string { return string(ingest.Text(text)) }

// lenient are the options with which contents are read. Contents with duplicate names are still JSON.
func lenient() jsontext.Options {
	return jsontext.AllowDuplicateNames(true)
}

// mayBeJSON checks only the first byte.
func mayBeJSON(text string) bool {
	if text == "" {
		return false
	}
	switch c := text[0]; c {
	case '{', '[', '"', '-', 't', 'f', 'n':
		return true
	default:
		return '0' <= c && c <= '9'
	}
}
