package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/go-json-experiment/json/jsontext"
)

// Line is one line of a JSON Lines input.
type Line struct {
	Number int    // from 1
	Bytes  []byte // without the line end; valid until the next line is requested
	Last   bool   // the input ends here without a line end, so the line may be cut
}

// Lines yields the lines that are not blank. An error, for a line over MaxLine or a failed read, is last.
func (in *Input) Lines() iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		defer func() { in.line = 0 }()
		var long []byte
		for n := 1; ; n++ {
			line, err := in.readLine(&long)
			if err != nil && !errors.Is(err, io.EOF) {
				var bad *BadInput
				if errors.As(err, &bad) {
					bad.Line = n
				}
				yield(Line{Number: n}, err)
				return
			}
			last := err != nil
			in.line = n
			if body := bytes.TrimSpace(line); len(body) > 0 && !yield(Line{Number: n, Bytes: body, Last: last}, nil) {
				return
			}
			if last {
				return
			}
		}
	}
}

// readLine reads up to the next line end. Only a line longer than the reader's buffer is copied, into long.
func (in *Input) readLine(long *[]byte) ([]byte, error) {
	part, err := in.r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return part, in.readError(err)
	}
	*long = append((*long)[:0], part...)
	for errors.Is(err, bufio.ErrBufferFull) {
		if len(*long) > MaxLine {
			return nil, in.Bad(0, "", fmt.Sprintf("the line is longer than %d MiB", MaxLine>>20))
		}
		part, err = in.r.ReadSlice('\n')
		*long = append(*long, part...)
	}
	return *long, in.readError(err)
}

func (in *Input) readError(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	return fmt.Errorf("read %s: %w", in.Name, err)
}

// EachLine decodes each line. If decode returns a *BadInput, Skip receives it; without Skip it ends the input. There is one
// exception: if the last line has no line end and is incomplete JSON, the file is assumed to be still growing. Warn receives the
// error, and the input ends without one.
func (in *Input) EachLine(decode func(Line) error) error {
	for line, err := range in.Lines() {
		if err != nil {
			return err
		}
		err = decode(line)
		var bad *BadInput
		refused := errors.As(err, &bad)
		if refused && line.Last && !jsontext.Value(line.Bytes).IsValid(lenient) {
			bad.Field, bad.Reason = "", "the last line is cut; the events before it were read"
			in.warn(bad)
			return nil
		}
		if refused && in.Skip != nil {
			in.Skip(bad)
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}
