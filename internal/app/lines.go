package app

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop/internal/ingest"
)

// soundLines reads JSON Lines and makes a blank line of one that is no JSON: a program that was killed in the middle of a line
// goes on behind it when it is started again, and the file with it.
type soundLines struct {
	in   io.Reader
	name string
	warn func(error)

	r      *bufio.Reader
	line   []byte // beyond what fits r
	rest   []byte // of the line at hand, not handed on yet
	number int
	err    error // behind rest
}

// Read hands on a line, or a part of one.
func (s *soundLines) Read(p []byte) (int, error) {
	if s.r == nil {
		s.r = bufio.NewReaderSize(s.in, headSize)
	}
	if len(s.rest) == 0 && s.err == nil {
		s.next()
	}
	if len(s.rest) == 0 {
		return 0, s.err
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// next reads the next line. One that is too long is handed on in parts, for the decoder to refuse.
func (s *soundLines) next() {
	part, err := s.r.ReadSlice('\n')
	s.line = s.line[:0]
	for errors.Is(err, bufio.ErrBufferFull) && len(s.line) <= ingest.MaxLine {
		s.line = append(s.line, part...)
		part, err = s.r.ReadSlice('\n')
	}
	if len(s.line) > 0 {
		s.line = append(s.line, part...)
		part = s.line
	}
	s.rest = part
	if errors.Is(err, bufio.ErrBufferFull) {
		return
	}
	if s.err = err; err != nil {
		return // the last line may be cut, which the decoder knows
	}
	s.number++
	if text := bytes.TrimSpace(part); len(text) > 0 && !isJSON(text) {
		s.warn(fmt.Errorf("%s:%d: this line is no JSON, and is left out", s.name, s.number))
		s.rest = part[len(part)-1:]
	}
}

// isJSON reports whether text is a JSON value that decoders read.
func isJSON(text []byte) bool {
	return jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}
