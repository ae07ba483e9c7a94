package store

import (
	"bytes"
	"encoding/json"
	"fmt"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/unloop-ai/unloop"
)

// lenient accepts what the decoders of formats accept, because an accepted event must be readable again. omitempty has the
// meaning of encoding/json, for which the tags of events were written.
var lenient = jsonv2.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true),
	jsonv1.OmitEmptyWithLegacySemantics(true))

// Encode returns the wire JSON of an event on one line. Raw JSON is copied byte for byte, because rules may compare calls as
// sent. Only line ends in it become spaces.
func Encode(e *unloop.Event) ([]byte, error) {
	raw := len(e.Input) + len(e.Output) + len(e.Error) + len(e.Metadata)
	body, err := appendHead(make([]byte, 0, raw+len(e.Text)+typicalHead), e)
	if err != nil {
		return nil, fmt.Errorf("encode event %s: %w", e.ID, err)
	}
	body = appendRaw(body, `,"input":`, e.Input)
	body = appendRaw(body, `,"output":`, e.Output)
	body = appendRaw(body, `,"error":`, e.Error)
	body = appendRaw(body, `,"metadata":`, e.Metadata)
	return append(body, '}'), nil
}

// typicalHead is the room for what an event has beside its content.
const typicalHead = 384

// appendRaw appends a member without line ends, unless the value is empty. JSON strings contain no line ends.
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

// MarkContent adds to the body of an event how much of its content is stored, if not all: "excerpts" or "none".
func MarkContent(body []byte, kept string) []byte {
	return append(body[:len(body)-1], contentMember+kept+`"}`...)
}

// contentMember is at the end of the body of an event whose content is not stored completely.
const contentMember = `,"content":"`

// Marked reports whether MarkContent has marked the body.
func Marked(body []byte) bool {
	end := body[max(0, len(body)-len(contentMember)-len(`excerpts"}`)):]
	return bytes.HasSuffix(end, []byte(contentMember+`none"}`)) || bytes.HasSuffix(end, []byte(contentMember+`excerpts"}`))
}

// Decode decodes the output of Encode. The raw JSON of the event shares the memory of body.
func Decode(body []byte) (*unloop.Event, error) {
	var e unloop.Event
	if err := jsonv2.Unmarshal(body, &e, lenient); err != nil {
		return nil, fmt.Errorf("decode an event of the store: %w", err)
	}
	return &e, nil
}
