package scan

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop/internal/ingest"
)

// maxSkipped is the maximum number of skipped lines of a file that are reported one by one.
const maxSkipped = 20

// skippedLines reports the lines of a file that cannot be read. Such a line exists, for example, where a program was killed while
// it wrote the line and was then restarted.
type skippedLines struct {
	lines int
	warn  func(error)
}

func (s *skippedLines) line(bad *ingest.BadInput) {
	s.lines++
	switch {
	case s.lines <= maxSkipped:
		s.warn(fmt.Errorf("%w; the line is skipped", bad))
	case s.lines == maxSkipped+1:
		s.warn(errors.New(bad.File + ": further skipped lines are not reported"))
	}
}

// isJSON reports whether text is a JSON value that decoders accept.
func isJSON(text []byte) bool {
	return jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}
