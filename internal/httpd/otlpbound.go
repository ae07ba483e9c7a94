package httpd

import (
	"fmt"
	"net/http"
)

// What OTLP decodes to can be many times as large as what was sent, and the decoder goes into values within values without end. So
// requests are measured before they are decoded: protobuf by package otlp, JSON here.

// maxParts is how many objects and arrays a request of JSON may consist of: some 10,000 spans with 50 attributes. perPart is about
// what each takes when it is decoded, in bytes.
const (
	maxParts = 1 << 20
	perPart  = 200
)

// sizeOfJSON estimates the bytes that a request takes once it is decoded, or refuses it. What is no JSON it leaves to the decoder.
func sizeOfJSON(data []byte, levels int) (size int64, err error) {
	depth, parts := 0, 0
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
				return 0, problem(http.StatusBadRequest, "body", fmt.Sprintf("must not have more than %d values, or values of more than %d levels", maxParts, levels))
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return int64(parts) * perPart, nil
}
