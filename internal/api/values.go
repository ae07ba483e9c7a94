// Package api holds the structs of the wire and makes them from the records of the store. The HTTP API, the MCP server, the
// notifiers, the clients and the reports share it, so that a value has one name, one unit and one rounding everywhere. The tag
// doc is the description of a member in OpenAPI and in the schemas of the MCP tools.
package api

import (
	"encoding/json"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// JSON are the options for reading and writing answers. They accept duplicate names and invalid UTF-8, because senders may send
// them and get them back.
var JSON = jsonv2.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// Encode returns v as JSON on one line. The structs of this package contain only text, finite numbers and checked JSON, so an
// error is a fault of the program; the result is then null.
func Encode(v any) []byte {
	data, err := jsonv2.Marshal(v, JSON)
	if err != nil {
		return []byte("null")
	}
	return data
}

// Timestamp returns a time in RFC 3339, in UTC, truncated to microseconds.
func Timestamp(t time.Time) string {
	return t.UTC().Truncate(time.Microsecond).Format(time.RFC3339Nano)
}

// TimeOrNull returns nil for the zero time.
func TimeOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return OrNull(Timestamp(t))
}

// OrNull returns nil for the zero value.
func OrNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	own := v // so that the zero value takes no memory
	return &own
}

// within returns nil for a pointer to the zero value, and the pointer otherwise.
func within[T comparable](v *T) *T {
	var zero T
	if *v == zero {
		return nil
	}
	return v
}

// ObjectOrNull returns null for empty JSON.
func ObjectOrNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}
