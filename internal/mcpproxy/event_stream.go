package mcpproxy

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/unloop-ai/unloop/internal/memory"
	"github.com/unloop-ai/unloop/internal/reverseproxy"
)

// sse is a server-sent event: its bytes, and the fields that the proxy reads.
type sse struct {
	raw   []byte // with the empty line at its end
	name  string
	id    string
	retry time.Duration // what a client waits before it connects again; 0 if the event does not say it
	data  []byte        // the lines of the data, joined
}

// parseEvent reads the fields of an event.
func parseEvent(raw []byte) sse {
	e := sse{raw: raw}
	first := true
	for line := range bytes.Lines(raw) {
		name, value, _ := bytes.Cut(bytes.TrimRight(line, "\r\n"), []byte{':'})
		value = bytes.TrimPrefix(value, []byte{' '})
		switch string(name) {
		case "event":
			e.name = string(value)
		case "id":
			e.id = string(value)
		case "retry":
			if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil { // other values are ignored, as browsers do
				e.retry = time.Duration(ms) * time.Millisecond
			}
		case "data":
			if !first {
				e.data = append(e.data, '\n')
			}
			e.data = append(e.data, value...)
			first = false
		}
	}
	return e
}

// withData returns the bytes of the event with other data, which has no line end.
func (e sse) withData(data []byte) []byte {
	var b bytes.Buffer
	written := false
	for line := range bytes.Lines(e.raw) {
		if name, _, _ := bytes.Cut(bytes.TrimRight(line, "\r\n"), []byte{':'}); string(name) != "data" {
			b.Write(line)
			continue
		}
		if !written {
			b.WriteString("data: ")
			b.Write(data)
			b.WriteByte('\n')
		}
		written = true
	}
	return b.Bytes()
}

// readEvent reads the bytes of the next event. The error errLargeEvent comes with the first bytes of an event for which grow
// returns false; the next call returns more bytes of the same event. Grow gets the number of bytes so far.
func readEvent(r *bufio.Reader, grow func(bytes int) bool) (raw []byte, err error) {
	for {
		line, err := r.ReadSlice('\n')
		raw = append(raw, line...)
		switch {
		case !grow(len(raw)):
			return raw, errLargeEvent
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return raw, err
		}
		if len(line) <= 2 && len(bytes.TrimRight(line, "\r\n")) == 0 && bytes.HasSuffix(raw, line) && endsLine(raw[:len(raw)-len(line)]) {
			return raw, nil
		}
	}
}

// endsLine reports whether the bytes before a line end with a line.
func endsLine(before []byte) bool { return len(before) == 0 || before[len(before)-1] == '\n' }

// errLargeEvent is the error of an event that is too large to be judged.
var errLargeEvent = errors.New("the event is too large")

// smallEvent is the size of an event in bytes that takes no memory of the pool.
const smallEvent = 64 << 10

// eventMemory takes the memory of large events of a stream from a pool, until they are sent.
type eventMemory struct {
	pool     *memory.Pool
	limit    int // bytes of an event
	reserved int64
}

// grow reports whether there is memory for an event of the given number of bytes.
func (m *eventMemory) grow(bytes int) bool {
	more := reverseproxy.LeaseFactor*int64(bytes) - m.reserved
	switch {
	case bytes > m.limit:
		return false
	case bytes <= smallEvent || more <= 0:
		return true
	case !m.pool.TryTake(more + m.reserved): // more than now, so that a large event takes memory few times
		return false
	}
	m.reserved += more + m.reserved
	return true
}

func (m *eventMemory) release() {
	m.pool.Give(m.reserved)
	m.reserved = 0
}

// eventStream is the body of an answer whose events are changed on their way. Events can be put between those of the server.
type eventStream struct {
	*io.PipeReader
	upstream io.Closer

	mu sync.Mutex
	w  *io.PipeWriter
}

// newEventStream returns a stream with the messages in first, and then with the bytes that change returns for each event. It calls ended
// once with the upstream's error, which is io.EOF at the end.
func newEventStream(upstream io.ReadCloser, memory *eventMemory, first []json.RawMessage, change func(sse) []byte, ended func(error)) *eventStream {
	r, w := io.Pipe()
	s := &eventStream{PipeReader: r, upstream: upstream, w: w}
	go func() {
		for _, data := range first {
			_ = s.put(data) // if the client has gone, copy ends
		}
		err := s.copy(bufio.NewReaderSize(upstream, 16<<10), memory, change)
		ended(err)
		if errors.Is(err, io.EOF) {
			err = nil
		}
		_ = w.CloseWithError(err) // never fails
	}()
	return s
}

// copy passes events until the upstream or the client ends.
func (s *eventStream) copy(r *bufio.Reader, memory *eventMemory, change func(sse) []byte) error {
	defer memory.release()
	large := false
	for {
		memory.release()
		raw, err := readEvent(r, memory.grow)
		out := raw
		if err == nil && !large {
			out = change(parseEvent(raw))
		}
		large = errors.Is(err, errLargeEvent)
		if failed := s.write(out); failed != nil {
			return failed
		}
		if err != nil && !large {
			return err
		}
	}
}

func (s *eventStream) write(b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(b) == 0 {
		return nil
	}
	_, err := s.w.Write(b)
	return err
}

// put sends one more event with data.
func (s *eventStream) put(data []byte) error {
	return s.write(append(append([]byte("event: message\ndata: "), data...), "\n\n"...))
}

// Close ends the stream for the client, and the connection to the upstream.
func (s *eventStream) Close() error {
	return errors.Join(s.PipeReader.Close(), s.upstream.Close())
}
