package client

import (
	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/store"
)

// appendEvent appends the event as a line.
func appendEvent(line []byte, e *unloop.Event) ([]byte, error) {
	body, err := store.Encode(e)
	if err != nil {
		return line, err
	}
	return append(append(line, body...), '\n'), nil
}
