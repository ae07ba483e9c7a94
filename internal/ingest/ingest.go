// Package ingest holds what the decoders share: where bytes come from, how a decoder says that they are bad, and
// how what a format tells becomes events. It is the first stage of the arrow; a package per format stands below it,
// and behind it come order and fold.
package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
)

// Limits on one input, against hostile files. What is over a limit is refused with a BadInput.
const (
	MaxLine     = 64 << 20  // bytes in one line of a JSON Lines input
	MaxDocument = 256 << 20 // bytes in one JSON document that cannot be streamed
	headSize    = 64 << 10  // bytes that a Sniff may look at
)

// A Format knows one kind of trace.
type Format struct {
	Name  string // as users write it: --input NAME
	Title string // as users read it

	// Sniff reports whether an input that begins with head (up to 64 KiB, perhaps cut anywhere) is of this format.
	// It looks at content only and must be cheap and strict: a wrong yes hides the right format.
	Sniff func(head []byte) bool

	// Decode reads the whole input and emits its events. It returns a *BadInput for what it cannot read, and emit's
	// error at once and unchanged.
	Decode func(in *Input, emit Emit) error

	// Whole says that the events of a run come one after another and in order, so that a run is over when the next
	// begins. Where it is false, events of many runs may be mixed and late.
	Whole bool

	// Grows says that writers append lines to a file, and that Decode emits what a line tells when it reads the line, so that a file
	// can be followed while it is written. A file of another format is read again as a whole when it has changed.
	Grows bool
}

// Emit takes one event. The event and its raw JSON belong to the decoder again when Emit returns; its strings stay
// valid.
type Emit func(*unloop.Event) error

// Input is an open file, or standard input, of some format.
type Input struct {
	Name string // what errors call it
	Run  string // the run's id where a format carries none

	// Warn takes what is worth saying and no error, such as a cut last line of a file that is still being written.
	// It may be nil.
	Warn func(*BadInput)

	// Skip, if set, takes what is wrong with a line that is left out, and the lines behind it are read. Without it, such a line
	// ends the input.
	Skip func(*BadInput)

	r      *bufio.Reader
	line   int               // of what is decoded now; 0 if unknown
	object *jsontext.Decoder // reads objects, over buffer
	buffer bytes.Buffer
}

// NewInput returns an input that reads from r. Name stands in errors; run is the id for a run without one.
func NewInput(name, run string, r io.Reader) *Input {
	return &Input{Name: name, Run: run, r: bufio.NewReaderSize(r, headSize)}
}

// Line returns the line of the input in which the value that is decoded now begins, from 1. It is 0 in a document that is
// decoded as a whole, and after the last value.
func (in *Input) Line() int { return in.line }

// Head returns the first bytes of the input without consuming them. It is empty for an empty input.
func (in *Input) Head() ([]byte, error) {
	head, err := in.r.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read %s: %w", in.Name, err)
	}
	return head, nil
}

// Read makes an Input a reader of its bytes.
func (in *Input) Read(p []byte) (int, error) { return in.r.Read(p) }

// Bad returns a BadInput for this input. Line is from 1, or 0 where lines mean nothing; field is a JSON path or "".
func (in *Input) Bad(line int, field, reason string) *BadInput {
	return &BadInput{File: in.Name, Line: line, Field: field, Reason: reason}
}

func (in *Input) warn(b *BadInput) {
	if in.Warn != nil {
		in.Warn(b)
	}
}

// BadInput says where an input cannot be read, and why.
type BadInput struct {
	File   string
	Line   int    // from 1; 0 when unknown
	Field  string // a JSON path, or ""
	Reason string
}

func (b *BadInput) Error() string {
	where := b.File
	if b.Line > 0 {
		where = fmt.Sprintf("%s:%d", where, b.Line)
	}
	if b.Field != "" {
		return fmt.Sprintf("%s: %s: %s", where, b.Field, b.Reason)
	}
	return fmt.Sprintf("%s: %s", where, b.Reason)
}
