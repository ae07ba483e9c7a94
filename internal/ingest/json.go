package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// lenient are the options with which traces are read. Duplicate names are accepted, and the last one counts. Invalid UTF-8 is
// replaced. The library limits the depth to 10,000.
var lenient = jsonv2.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// Unmarshal reads one JSON value from data into v. An error is a *BadInput with the path of the field.
func (in *Input) Unmarshal(line int, data []byte, v any) error {
	if err := jsonv2.Unmarshal(data, v, lenient); err != nil {
		return in.badJSON(line, err)
	}
	return nil
}

func (in *Input) badJSON(line int, err error) *BadInput {
	var semantic *jsonv2.SemanticError
	if errors.As(err, &semantic) {
		reason := fmt.Sprintf("a JSON %s does not fit here%s", kindName(semantic.JSONKind), wanted(semantic.GoType))
		return in.Bad(line, jsonPath(semantic.JSONPointer), reason)
	}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		reason := fmt.Sprintf("not valid JSON at byte %d: %v", syntax.ByteOffset, syntax.Err)
		return in.Bad(line, jsonPath(syntax.JSONPointer), reason)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return in.Bad(line, "", "the JSON ends too early")
	}
	return in.Bad(line, "", err.Error())
}

// wanted says which JSON value fits a type. It is "" for a type that reads JSON itself.
func wanted(t reflect.Type) string {
	if t == nil {
		return ""
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Implements(unmarshaler) || reflect.PointerTo(t).Implements(unmarshaler) {
		return ""
	}
	switch t.Kind() {
	case reflect.String:
		return ", want a string"
	case reflect.Bool:
		return ", want true or false"
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint32, reflect.Uint64:
		return ", want a whole number"
	case reflect.Float32, reflect.Float64:
		return ", want a number"
	case reflect.Slice, reflect.Array:
		return ", want an array"
	case reflect.Struct, reflect.Map:
		return ", want an object"
	default:
		return ""
	}
}

// unmarshaler is what a type implements that reads JSON itself.
var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

func kindName(k jsontext.Kind) string {
	switch k {
	case '{':
		return "object"
	case '[':
		return "array"
	}
	return k.String()
}

// jsonPath turns /events/3/tool into events.3.tool.
func jsonPath(p jsontext.Pointer) string {
	return strings.ReplaceAll(strings.TrimPrefix(string(p), "/"), "/", ".")
}

// Document reads the whole input, which must be one JSON document of at most MaxDocument bytes.
func (in *Input) Document() ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in.r, MaxDocument+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", in.Name, err)
	}
	if len(data) > MaxDocument {
		return nil, in.Bad(0, "", fmt.Sprintf("the document is larger than %d MiB", MaxDocument>>20))
	}
	return data, nil
}

// UnmarshalDocument reads the whole input into v, as Document and Unmarshal do.
func (in *Input) UnmarshalDocument(v any) error {
	data, err := in.Document()
	if err != nil {
		return err
	}
	return in.Unmarshal(0, data, v)
}

// Elements streams the values of an input: the elements of a JSON array, or a sequence of values. It calls each with the value
// and its position from 0. The value is valid until each returns. Only one value, of at most MaxDocument bytes, is in memory at a
// time.
func (in *Input) Elements(each func(i int, value jsontext.Value) error) error {
	head, err := in.Head()
	if err != nil {
		return err
	}
	defer func() { in.line = 0 }()
	source := lineCounter{valueReader: valueReader{r: in.r, limit: MaxDocument}}
	dec := jsontext.NewDecoder(&source, lenient)
	array := bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("["))
	if array {
		if _, err := dec.ReadToken(); err != nil {
			return in.badElement(err)
		}
	}
	for i := 0; ; i++ {
		if array && dec.PeekKind() == ']' {
			return nil
		}
		value, err := dec.ReadValue()
		if errors.Is(err, io.EOF) && !array {
			return nil
		}
		if err != nil {
			return in.badElement(err)
		}
		source.value = dec.InputOffset()
		in.line = source.lineAt(source.value - int64(len(value)))
		if err := each(i, value); err != nil {
			return err
		}
	}
}

// badElement distinguishes a failed read from invalid JSON.
func (in *Input) badElement(err error) error {
	if errors.Is(err, errLarge) {
		return in.Bad(0, "", fmt.Sprintf("a value is larger than %d MiB", MaxDocument>>20))
	}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return in.badJSON(0, err)
	}
	return in.readError(err)
}

// Text returns s as a JSON string.
func Text(s string) json.RawMessage {
	quoted, err := jsontext.AppendQuote(nil, s)
	if err != nil { // invalid UTF-8, which AppendQuote has replaced
		return quoted
	}
	return quoted
}

// Arguments returns the arguments of a call as raw JSON. Model APIs send them as a string that contains JSON; the result is then
// that JSON. A string without JSON stays a string, and no value stays none.
func Arguments(v jsontext.Value) json.RawMessage {
	if v.Kind() != '"' {
		return raw(v)
	}
	inner := UnquoteText(v)
	if inner == "" {
		return nil
	}
	if jsontext.Value(inner).IsValid(lenient) {
		return json.RawMessage(strings.TrimSpace(inner))
	}
	return raw(v)
}

func raw(v jsontext.Value) json.RawMessage {
	if len(v) == 0 {
		return nil
	}
	return json.RawMessage(v)
}

// UnquoteText returns the text of a JSON string, or "" for any other value.
func UnquoteText(v jsontext.Value) string {
	if v.Kind() != '"' {
		return ""
	}
	text, err := jsontext.AppendUnquote(nil, v)
	if err != nil && len(text) == 0 {
		return ""
	}
	return string(text)
}

// Content returns the text of a message's content: a string, or the texts in a list of parts, joined by line ends.
func Content(v jsontext.Value) string {
	switch v.Kind() {
	case '"':
		return UnquoteText(v)
	case '[':
		var parts []jsontext.Value
		if jsonv2.Unmarshal(v, &parts, lenient) != nil {
			return ""
		}
		var texts []string
		for _, p := range parts {
			if p.Kind() == '[' {
				continue // no API nests lists, and reading nested lists would take quadratic time
			}
			if t := Content(p); t != "" {
				texts = append(texts, t)
			}
		}
		return strings.Join(texts, "\n")
	case '{':
		var part struct {
			Text    jsontext.Value `json:"text"`
			Content jsontext.Value `json:"content"`
		}
		if jsonv2.Unmarshal(v, &part, lenient) != nil {
			return ""
		}
		if part.Text.Kind() == '"' {
			return UnquoteText(part.Text)
		}
		if part.Content.Kind() == '"' {
			return UnquoteText(part.Content)
		}
	}
	return ""
}

// Time parses a timestamp: RFC 3339, the same without a zone (meaning UTC), or seconds, milliseconds, microseconds or nanoseconds
// since 1970. Other values give the zero time.
func Time(v jsontext.Value) time.Time {
	switch v.Kind() {
	case '"':
		return ParseTime(UnquoteText(v))
	case '0':
		var n float64
		if json.Unmarshal(v, &n) != nil {
			return time.Time{}
		}
		return epoch(n)
	}
	return time.Time{}
}

// Nanos returns a timestamp, as Time reads it, in nanoseconds since 1970. It is 0 if there is none, or none between 1970 and 2261.
func Nanos(v jsontext.Value) int64 {
	t := Time(v)
	if t.Year() < 1970 || t.Year() > 2261 {
		return 0
	}
	return t.UnixNano()
}

// ParseTime parses a timestamp in RFC 3339, or the same with a space for T or without a zone (meaning UTC). Other texts give the
// zero time.
func ParseTime(s string) time.Time {
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t
	}
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t
		}
	}
	return time.Time{}
}

func epoch(n float64) time.Time {
	switch {
	case n <= 0, n >= math.MaxInt64:
		return time.Time{}
	case n < 1e11: // seconds, to the year 5138
		return time.Unix(int64(n), int64((n-float64(int64(n)))*1e9)).UTC()
	case n < 1e14:
		return time.UnixMicro(int64(n * 1e3)).UTC()
	case n < 1e17:
		return time.UnixMicro(int64(n)).UTC()
	}
	return time.Unix(0, int64(n)).UTC()
}

// MembersOf returns the members of a JSON object, and nil for any other text.
func MembersOf(raw string) map[string]jsontext.Value {
	if !strings.HasPrefix(raw, "{") {
		return nil
	}
	var members map[string]jsontext.Value
	if json.Unmarshal([]byte(raw), &members) != nil {
		return nil
	}
	return members
}
