package guardio

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
)

// input reads from a stream and stops waiting when its context is done.
type input struct {
	ctx        context.Context
	parts      <-chan part
	rest       part
	beforeWait func() error // called before each wait, because the sender may wait for an answer first
}

type part struct {
	data []byte
	err  error
}

// newInput starts to read in a goroutine. A blocked read cannot be interrupted, so the goroutine may outlive the context until
// the stream returns something. It uses only its own memory then.
func newInput(ctx context.Context, r io.Reader, beforeWait func() error) *input {
	parts := make(chan part) // unbuffered: the reader is at most one part ahead
	go func() {
		var memory [2][chunk]byte
		for k := 0; ; k = 1 - k { // one buffer is filled while the other is used
			n, err := r.Read(memory[k][:])
			select {
			case parts <- part{memory[k][:n], err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return &input{ctx: ctx, parts: parts, beforeWait: beforeWait}
}

// Read implements io.Reader.
func (in *input) Read(p []byte) (int, error) {
	if len(in.rest.data) == 0 && in.rest.err == nil {
		if err := in.beforeWait(); err != nil {
			return 0, fmt.Errorf("write the answers: %w", err)
		}
		select {
		case in.rest = <-in.parts:
		case <-in.ctx.Done():
			in.rest.err = in.ctx.Err()
		}
	}
	n := copy(p, in.rest.data)
	in.rest.data = in.rest.data[n:]
	if len(in.rest.data) > 0 {
		return n, nil
	}
	return n, in.rest.err
}

// errLong means that a line exceeded maxLine and was skipped.
var errLong = errors.New("the line is too long")

// lines reads lines of up to maxLine bytes. It keeps no more of a longer line.
type lines struct {
	r    *bufio.Reader
	long []byte // buffer for lines that are longer than the buffer of r
}

func newLines(r io.Reader) *lines { return &lines{r: bufio.NewReaderSize(r, chunk)} }

// next returns the next line without its end. It is valid until the next call.
func (l *lines) next() ([]byte, error) {
	piece, err := l.r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return whole(piece, err)
	}
	if cap(l.long) > 1<<20 {
		l.long = nil // the memory of a huge line is not reused
	}
	l.long = append(l.long[:0], piece...)
	for errors.Is(err, bufio.ErrBufferFull) {
		piece, err = l.r.ReadSlice('\n')
		if len(l.long)+len(piece) > maxLine && (err != nil || len(l.long)+len(piece) > maxLine+1) {
			l.long = nil
			return nil, l.pass(err)
		}
		l.long = append(l.long, piece...)
	}
	return whole(l.long, err)
}

// whole returns a line without its end. The last line of the input may have no end.
func whole(line []byte, err error) ([]byte, error) {
	switch {
	case err == nil:
		return line[:len(line)-1], nil
	case errors.Is(err, io.EOF) && len(line) > 0:
		return line, nil
	}
	return nil, fmt.Errorf("read the requests: %w", err)
}

// pass skips the rest of a line. err is the error of its last part.
func (l *lines) pass(err error) error {
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = l.r.ReadSlice('\n')
	}
	if err == nil || errors.Is(err, io.EOF) {
		return errLong
	}
	return fmt.Errorf("read the requests: %w", err)
}
