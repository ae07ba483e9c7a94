package store

import (
	"fmt"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/unloop-ai/unloop"
)

// lenient lets pass what decoders let pass, since an event that was accepted must be read again, and omits what the event's
// tags say in the sense that they were written in.
var lenient = jsonv2.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true),
	jsonv1.OmitEmptyWithLegacySemantics(true))

// Encode returns the event's JSON on the wire.
func Encode(e *unloop.Event) ([]byte, error) {
	body, err := jsonv2.Marshal(e, lenient)
	if err != nil {
		return nil, fmt.Errorf("encode event %s: %w", e.ID, err)
	}
	return body, nil
}

// Decode reads what Encode wrote. The event's raw JSON is body's memory.
func Decode(body []byte) (*unloop.Event, error) {
	var e unloop.Event
	if err := jsonv2.Unmarshal(body, &e, lenient); err != nil {
		return nil, fmt.Errorf("decode an event of the store: %w", err)
	}
	return &e, nil
}
