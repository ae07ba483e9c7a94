package app

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop/internal/ingest"
)

// maxSkipped is how many lines of a file are named that are left out.
const maxSkipped = 20

// skipping takes the lines of a file that cannot be read, and tells of them. A program that was killed in the middle of a line goes
// on behind it when it is started again; and what is an event to others may be none here.
type skipping struct {
	lines int
	warn  func(error)
}

func (s *skipping) line(bad *ingest.BadInput) {
	s.lines++
	switch {
	case s.lines <= maxSkipped:
		s.warn(fmt.Errorf("%w; the line is left out", bad))
	case s.lines == maxSkipped+1:
		s.warn(errors.New(bad.File + ": more lines are left out, which are not named"))
	}
}

// isJSON reports whether text is a JSON value that decoders read.
func isJSON(text []byte) bool {
	return jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}
