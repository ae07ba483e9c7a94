package httpd

import (
	"encoding/binary"
	"fmt"
	"net/http"
)

// What OTLP decodes to can be many times as large as what was sent: an empty span takes two bytes on the wire. And the
// decoder goes into values within values without end. So requests are walked through before they are decoded, and those that
// would take too much are refused. The walk knows only where messages stand in messages; it copies nothing.

// maxParts is how many messages (spans, attributes, values …) one request may consist of: some 10,000 spans with 50
// attributes. perPart is about what each takes when it is decoded, in bytes.
const (
	maxParts = 1 << 20
	perPart  = 200
)

// layout says which fields of a message of protobuf are messages, by their number.
type layout struct {
	fields map[uint64]*layout
}

func fieldsOf(fields map[uint64]*layout) *layout { return &layout{fields} }

// attributeLayout is a KeyValue, whose value may hold lists of values and of KeyValues.
func attributeLayout() (attribute, value *layout) {
	value = &layout{}
	attribute = fieldsOf(map[uint64]*layout{2: value})
	value.fields = map[uint64]*layout{
		5: fieldsOf(map[uint64]*layout{1: value}),
		6: fieldsOf(map[uint64]*layout{1: attribute}),
	}
	return attribute, value
}

// spansLayout is an ExportTraceServiceRequest.
func spansLayout() *layout {
	attribute, _ := attributeLayout()
	event := fieldsOf(map[uint64]*layout{3: attribute})
	link := fieldsOf(map[uint64]*layout{4: attribute})
	return requestLayout(fieldsOf(map[uint64]*layout{9: attribute, 11: event, 13: link, 15: fieldsOf(nil)}), attribute)
}

// recordsLayout is an ExportLogsServiceRequest.
func recordsLayout() *layout {
	attribute, value := attributeLayout()
	return requestLayout(fieldsOf(map[uint64]*layout{5: value, 6: attribute}), attribute)
}

// requestLayout is a request whose items stand in scopes of resources.
func requestLayout(item, attribute *layout) *layout {
	scope := fieldsOf(map[uint64]*layout{3: attribute})
	resource := fieldsOf(map[uint64]*layout{1: attribute, 3: fieldsOf(nil)})
	items := fieldsOf(map[uint64]*layout{1: scope, 2: item})
	return fieldsOf(map[uint64]*layout{1: fieldsOf(map[uint64]*layout{1: resource, 2: items})})
}

// bound returns how many parts a request has, or refuses it since it would take too much memory, or stack, to decode. What is no
// protobuf it leaves to the decoder.
func (l *layout) bound(data []byte, levels int) (parts int, err error) {
	const own = 8 // levels from the request to an attribute's value
	if !l.walk(data, levels+own, &parts) {
		return 0, tooMuch(levels)
	}
	return parts, nil
}

func tooMuch(levels int) error {
	return problem(http.StatusBadRequest, "body", fmt.Sprintf("it has more than %d parts, or values of more than %d levels", maxParts, levels))
}

func (l *layout) walk(data []byte, levels int, parts *int) bool {
	if levels == 0 {
		return false
	}
	for len(data) > 0 {
		tag, n := binary.Uvarint(data)
		if n <= 0 {
			return true
		}
		data = data[n:]
		var size uint64
		switch tag & 7 {
		case 0:
			if _, n = binary.Uvarint(data); n <= 0 {
				return true
			}
			size = uint64(n)
		case 1:
			size = 8
		case 2:
			if size, n = binary.Uvarint(data); n <= 0 {
				return true
			}
			data = data[n:]
		case 5:
			size = 4
		default:
			continue // the begin or the end of a group, which the decoder skips without recursion
		}
		if size > uint64(len(data)) {
			return true
		}
		if inner := l.fields[tag>>3]; inner != nil && tag&7 == 2 {
			*parts++
			if *parts > maxParts || !inner.walk(data[:size], levels-1, parts) {
				return false
			}
		}
		data = data[size:]
	}
	return true
}

// boundJSON does the same for JSON, whose objects and arrays are its parts. What is no JSON it leaves to the decoder.
func boundJSON(data []byte, levels int) (parts int, err error) {
	depth := 0
	const own = 24 // levels from the request to an attribute's value
	text := false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case text:
		case c == '{' || c == '[':
			parts++
			depth++
			if parts > maxParts || depth > 2*levels+own {
				return 0, tooMuch(levels)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return parts, nil
}
