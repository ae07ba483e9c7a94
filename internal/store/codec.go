package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/unloop-ai/unloop"
)

// lenient lets pass what decoders let pass, since an event that was accepted must be read again, and omits what the event's
// tags say in the sense that they were written in.
var lenient = jsonv2.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true),
	jsonv1.OmitEmptyWithLegacySemantics(true))

// Encode returns the event's JSON on the wire, on one line. Its raw JSON stays as it is, byte for byte, since calls may be compared
// as they were sent; only line ends in it become spaces.
func Encode(e *unloop.Event) ([]byte, error) {
	bare := *e
	bare.Input, bare.Output, bare.Error, bare.Metadata = nil, nil, nil, nil
	head, err := jsonv2.Marshal(&bare, lenient)
	if err != nil {
		return nil, fmt.Errorf("encode event %s: %w", e.ID, err)
	}
	// Members follow the one that every event has: its type.
	body := slices.Grow(head[:len(head)-1], len(e.Input)+len(e.Output)+len(e.Error)+len(e.Metadata)+len(rawMembers))
	body = appendRaw(body, `,"input":`, e.Input)
	body = appendRaw(body, `,"output":`, e.Output)
	body = appendRaw(body, `,"error":`, e.Error)
	body = appendRaw(body, `,"metadata":`, e.Metadata)
	return append(body, '}'), nil
}

// rawMembers is as long as what stands round an event's raw JSON.
const rawMembers = `,"input":,"output":,"error":,"metadata":}`

// appendRaw appends a member, if there is one, without line ends. Within strings there are none.
func appendRaw(body []byte, name string, value json.RawMessage) []byte {
	if len(value) == 0 {
		return body
	}
	body = append(body, name...)
	begin := len(body)
	body = append(body, value...)
	if added := body[begin:]; bytes.ContainsAny(added, "\n\r") {
		for i, b := range added {
			if b == '\n' || b == '\r' {
				added[i] = ' '
			}
		}
	}
	return body
}

// MarkContent adds to an event's body how much of its content is in it, since that is not all: "excerpts" or "none".
func MarkContent(body []byte, kept string) []byte {
	return append(body[:len(body)-1], contentMember+kept+`"}`...)
}

// contentMember stands at the end of the body of an event of whose content not all is stored.
const contentMember = `,"content":"`

// Marked reports whether MarkContent was called for the body.
func Marked(body []byte) bool {
	end := body[max(0, len(body)-len(contentMember)-len(`excerpts"}`)):]
	return bytes.HasSuffix(end, []byte(contentMember+`none"}`)) || bytes.HasSuffix(end, []byte(contentMember+`excerpts"}`))
}

// Decode reads what Encode wrote. The event's raw JSON is body's memory.
func Decode(body []byte) (*unloop.Event, error) {
	var e unloop.Event
	if err := jsonv2.Unmarshal(body, &e, lenient); err != nil {
		return nil, fmt.Errorf("decode an event of the store: %w", err)
	}
	return &e, nil
}
