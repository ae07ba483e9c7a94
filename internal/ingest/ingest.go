// Package ingest has the code that decoders share: inputs, limits, errors, and building events. It is the first stage of the data
// flow. Each format has a package below it. The order and the fold of events follow.
package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
)

// Limits on one input, against hostile files. Larger inputs are rejected with a BadInput.
const (
	MaxLine     = 64 << 20  // bytes in one line of a JSON Lines input
	MaxDocument = 256 << 20 // bytes in one JSON document that cannot be streamed
	headSize    = 64 << 10  // bytes that a Sniff may look at
)

// Format is a kind of trace.
type Format struct {
	Name  string // name for --input
	Title string // name for people

	// Sniff reports whether an input that begins with head (at most 64 KiB, cut anywhere) is of this format. It reads only the
	// content. It must be cheap and strict, because a wrong match hides the right format.
	Sniff func(head []byte) bool

	// Decode reads the whole input and emits its events. It returns a *BadInput for invalid input, and an error of emit
	// unchanged.
	Decode func(in *Input, emit Emit) error

	// Whole means that the events of a run are consecutive and in order, so a run ends when the next one begins. Otherwise,
	// events of several runs may be interleaved and late.
	Whole bool

	// Grows means that writers append lines to a file, and that Decode emits the events of a line when it reads the line. Such a
	// file can be followed while it is written. A file of another format is read again as a whole when it changes.
	Grows bool
}

// Emit receives an event. The event and its raw JSON are valid until Emit returns; its strings stay valid.
type Emit func(*unloop.Event) error

// Input is an open file, or standard input, of a format.
type Input struct {
	Name string // for errors
	Run  string // id of a run without one

	// Warn receives problems that are not errors, such as a cut last line of a file that is still being written. It may be nil.
	Warn func(*BadInput)

	// Skip receives the error of each invalid line. Decoding then continues with the next line. If it is nil, an invalid line
	// ends the input.
	Skip func(*BadInput)

	// Unknown receives each name that the format does not define, each time it occurs. Line returns its line. It may be nil.
	Unknown func(Unknown)

	// Project receives the project that an event names for its run, before the event is emitted. It may be nil.
	Project func(string)

	r      *bufio.Reader
	line   int               // line of the current value; 0 if unknown
	object *jsontext.Decoder // reads objects from buffer
	buffer bytes.Buffer
}

// NewInput returns an input that reads from r, after a byte order mark. name is for errors; run is the id of a run without one.
func NewInput(name, run string, r io.Reader) *Input {
	in := &Input{Name: name, Run: run, r: bufio.NewReaderSize(r, headSize)}
	if head, _ := in.r.Peek(len(BOM)); string(head) == BOM { // the next read returns an error again
		_, _ = in.r.Discard(len(BOM)) // never fails after Peek
	}
	return in
}

// BOM is the byte order mark with which some programs begin a text in UTF-8.
const BOM = "\ufeff"

// Line returns the line of the input in which the current value begins, from 1. It is 0 in a document that is decoded as a whole,
// and after the last value.
func (in *Input) Line() int { return in.line }

// Head returns the first bytes of the input without consuming them. It is empty for an empty input.
func (in *Input) Head() ([]byte, error) {
	head, err := in.r.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read %s: %w", in.Name, err)
	}
	return head, nil
}

// Read implements io.Reader.
func (in *Input) Read(p []byte) (int, error) { return in.r.Read(p) }

// Bad returns a BadInput for this input. line is from 1, or 0 for a format without lines; field is a JSON path or "".
func (in *Input) Bad(line int, field, reason string) *BadInput {
	return &BadInput{File: in.Name, Line: line, Field: field, Reason: reason}
}

func (in *Input) warn(b *BadInput) {
	if in.Warn != nil {
		in.Warn(b)
	}
}

// BadInput is the error of an invalid input: where it is and why.
type BadInput struct {
	File   string
	Line   int    // from 1; 0 if unknown
	Field  string // a JSON path, or ""
	Reason string
}

// maxField is the maximum size in bytes of the path of a field in a message. A path has as many levels as the input.
const maxField = 256

func beginningOf(field string) string {
	if len(field) <= maxField {
		return field
	}
	return strings.ToValidUTF8(field[:maxField], "") + "…"
}

func (b *BadInput) Error() string {
	where := b.File
	if b.Line > 0 {
		where = fmt.Sprintf("%s:%d", where, b.Line)
	}
	if b.Field != "" {
		return fmt.Sprintf("%s: %s: %s", where, beginningOf(b.Field), b.Reason)
	}
	return fmt.Sprintf("%s: %s", where, b.Reason)
}
