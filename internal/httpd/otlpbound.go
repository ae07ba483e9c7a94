package httpd

import (
	"fmt"
	"net/http"
)

// A decoded OTLP request can be many times as large as the sent one, and the decoder does not limit nesting. Requests are
// therefore measured before they are decoded: protobuf by package otlp, JSON here.

// maxParts is the maximum number of objects and arrays in a JSON request, enough for about 10,000 spans with 50 attributes.
// perPart is the approximate size of a decoded one in bytes.
const (
	maxParts = 1 << 20
	perPart  = 200
)

// sizeOfJSON estimates the size of a decoded request in bytes, or rejects it. It ignores invalid JSON, which the decoder reports.
func sizeOfJSON(data []byte, levels int) (size int64, err error) {
	depth, parts := 0, 0
	const own = 24 // levels from the request to an attribute's value
	text, ended := false, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case ended:
			if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
				return 0, problem(http.StatusBadRequest, "body", "has data after the JSON object; send one request for each object")
			}
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
			ended = depth == 0
		}
	}
	return int64(parts) * perPart, nil
}
