package scan

import (
	"bufio"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

// fanOut is the number of files over which the overflow of a pass is spread.
const fanOut = 64

// overflow keeps the events of runs beyond the capacity of a pass, in temporary files. All events of a run are in one file, in
// order. An event is therefore written and read log64(number of runs) times instead of once per pass over the input.
type overflow struct {
	depth int // overflows of different depths spread the same runs differently
	parts [fanOut]*overflowFile
}

// overflowFile is one file of an overflow.
type overflowFile struct {
	file *os.File
	buf  *bufio.Writer
	enc  *gob.Encoder
}

// storedEvent is an event with the values that gob does not distinguish from absent ones: a pointer to zero, and empty content.
type storedEvent struct {
	Event                         *unloop.Event
	Latency, Usage, Hints, Output bool
}

// put stores an event.
func (o *overflow) put(e *unloop.Event) error {
	k := hashOf(strconv.Itoa(o.depth), e.RunID) % fanOut
	if o.parts[k] == nil {
		file, err := unnamedFile()
		if err != nil {
			return fmt.Errorf("store events in a temporary file: %w", err)
		}
		buf := bufio.NewWriterSize(file, headSize)
		o.parts[k] = &overflowFile{file, buf, gob.NewEncoder(buf)}
	}
	err := o.parts[k].enc.Encode(storedEvent{e, e.Latency != nil, e.Usage != nil, e.Hints != nil, e.Output != nil})
	if err != nil {
		return fmt.Errorf("store events in a temporary file: %w", err)
	}
	return nil
}

// close closes the remaining files, which deletes them.
func (o *overflow) close() {
	for _, p := range o.parts {
		if p != nil {
			_ = p.file.Close() // closing deletes the file
		}
	}
}

// each emits the events of the file, from its beginning.
func (p *overflowFile) each(ctx context.Context, emit ingest.Emit) error {
	err := p.buf.Flush()
	if err == nil {
		_, err = p.file.Seek(0, io.SeekStart)
	}
	dec := gob.NewDecoder(bufio.NewReaderSize(&progressReader{ctx: ctx, r: p.file}, headSize))
	for err == nil {
		var stored storedEvent
		if err = dec.Decode(&stored); err == nil {
			stored.restore()
			if err := emit(stored.Event); err != nil {
				return err
			}
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return fmt.Errorf("read events from a temporary file: %w", err)
}

func (s *storedEvent) restore() {
	e := s.Event
	if s.Latency && e.Latency == nil {
		e.Latency = new(float64)
	}
	if s.Usage && e.Usage == nil {
		e.Usage = new(unloop.Usage)
	}
	if s.Hints && e.Hints == nil {
		e.Hints = new(unloop.ToolHints)
	}
	if s.Output && e.Output == nil {
		e.Output = []byte{}
	}
}

// unnamedFile returns a temporary file that is deleted when it is closed.
func unnamedFile() (*os.File, error) {
	file, err := os.CreateTemp("", "unloop-scan-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
