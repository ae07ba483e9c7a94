package httpd

import (
	"encoding/json"
	"io"
	"math"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// wire are the options with which answers are written: what a sender was allowed to send comes back.
var wire = jsonv2.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// format is how huma writes answers, and reads the bodies that are no events.
var format = huma.Format{
	Marshal:   func(w io.Writer, v any) error { return jsonv2.MarshalWrite(w, v, wire) },
	Unmarshal: func(data []byte, v any) error { return jsonv2.Unmarshal(data, v, wire) },
}

// encode returns v as JSON. All that is encoded here is made of texts, finite numbers and JSON that was checked when it came,
// so that an error would be a mistake of the program.
func encode(v any) []byte {
	data, err := jsonv2.Marshal(v, wire)
	if err != nil {
		return []byte("null")
	}
	return data
}

func writeJSON(w http.ResponseWriter, status int, v any) { writeText(w, status, encode(v)) }

// writeText sends JSON that is written already.
func writeText(w http.ResponseWriter, status int, text []byte) {
	h := w.Header()
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", "application/json")
	}
	w.WriteHeader(status)
	_, _ = w.Write(text) // the client has gone; there is nobody to tell
}

// timestamp returns a time as it stands on the wire: RFC 3339, UTC, to the microsecond where it has parts of a second.
func timestamp(t time.Time) string {
	return t.UTC().Truncate(time.Microsecond).Format(time.RFC3339Nano)
}

// orNull is nil for the zero value.
func orNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

func timeOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return orNull(timestamp(t))
}

func objectOrNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}

// round rounds to so many decimal places, and keeps a sum that overflowed within what JSON can say.
func round(x float64, places int) float64 {
	if unit := math.Pow10(places); math.Abs(x) < 1e15 {
		x = math.Round(x*unit) / unit
	}
	if math.IsNaN(x) {
		return 0
	}
	return max(-math.MaxFloat64, min(math.MaxFloat64, x))
}
