package guardio

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
)

// input reads from a stream that may make it wait, and gives up waiting when its context is done.
type input struct {
	ctx    context.Context
	parts  <-chan part
	rest   part
	settle func() error // called before each wait: whoever sends the input may wait for an answer first
}

type part struct {
	data []byte
	err  error
}

// newInput begins to read. A read that waits cannot be broken off, so its goroutine may outlive the context until the stream
// brings something or ends; it touches nothing but its own memory then.
func newInput(ctx context.Context, r io.Reader, settle func() error) *input {
	parts := make(chan part) // without room: the reader is at most one part ahead, and waits
	go func() {
		var memory [2][chunk]byte
		for k := 0; ; k = 1 - k { // while one is read into, the other is used up
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
	return &input{ctx: ctx, parts: parts, settle: settle}
}

// Read implements io.Reader.
func (in *input) Read(p []byte) (int, error) {
	if len(in.rest.data) == 0 && in.rest.err == nil {
		if err := in.settle(); err != nil {
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

// errLong says that a line was over maxLine. It was passed over.
var errLong = errors.New("the line is too long")

// lines reads lines of up to maxLine bytes. Of a longer one it holds no more than that.
type lines struct {
	r    *bufio.Reader
	long []byte // memory for lines that are longer than r's
}

func newLines(r io.Reader) *lines { return &lines{r: bufio.NewReaderSize(r, chunk)} }

// next returns the next line without its end. It is valid until the next call.
func (l *lines) next() ([]byte, error) {
	piece, err := l.r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return whole(piece, err)
	}
	if cap(l.long) > 1<<20 {
		l.long = nil // one huge line is no reason to hold so much for good
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

// whole returns a line without its end; the last line of the input may have none.
func whole(line []byte, err error) ([]byte, error) {
	switch {
	case err == nil:
		return line[:len(line)-1], nil
	case errors.Is(err, io.EOF) && len(line) > 0:
		return line, nil
	}
	return nil, fmt.Errorf("read the requests: %w", err)
}

// pass reads to the end of a line. Err is that of its latest piece.
func (l *lines) pass(err error) error {
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = l.r.ReadSlice('\n')
	}
	if err == nil || errors.Is(err, io.EOF) {
		return errLong
	}
	return fmt.Errorf("read the requests: %w", err)
}
