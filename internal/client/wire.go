package client

import (
	"bytes"
	"encoding/json"
	"fmt"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/unloop-ai/unloop"
)

// wire are the options with which events are written: bad UTF-8 is replaced, and omitempty means what it means in the
// standard library.
var wire = jsonv2.JoinOptions(jsontext.AllowInvalidUTF8(true), jsonv1.OmitEmptyWithLegacySemantics(true))

// appendEvent appends the event as a line. Its raw JSON stays as it is, byte for byte, since calls may be compared as they were
// sent; only line ends in it become spaces.
func appendEvent(line []byte, e *unloop.Event) ([]byte, error) {
	bare := *e
	bare.Input, bare.Output, bare.Error, bare.Metadata = nil, nil, nil, nil
	head, err := jsonv2.Marshal(&bare, wire)
	if err != nil {
		return line, fmt.Errorf("write event %s: %w", e.ID, err)
	}
	line = append(line, head[:len(head)-1]...) // an event has a type at least, so that more can follow
	for _, raw := range []struct {
		name  string
		value json.RawMessage
	}{{"input", e.Input}, {"output", e.Output}, {"error", e.Error}, {"metadata", e.Metadata}} {
		if len(raw.value) > 0 {
			line = append(line, `,"`+raw.name+`":`...)
			line = appendFlat(line, raw.value)
		}
	}
	return append(line, '}', '\n'), nil
}

// appendFlat appends JSON without line ends. Within strings there are none.
func appendFlat(line []byte, value json.RawMessage) []byte {
	begin := len(line)
	line = append(line, value...)
	if added := line[begin:]; bytes.ContainsAny(added, "\n\r") {
		for i, b := range added {
			if b == '\n' || b == '\r' {
				added[i] = ' '
			}
		}
	}
	return line
}
