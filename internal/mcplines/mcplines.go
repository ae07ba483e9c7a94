// Package mcplines makes connections of the Model Context Protocol over streams with one message per line. Other lines, which would end a
// connection of the SDK, do not end these. A connection can wait for the last answers when its client has ended its input. Servers and proxies
// over standard input and output use it.
package mcplines

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ToClient returns a transport to a client. Lines that are no messages, or have limit bytes or more, are answered with an error, and so
// are requests whose id the SDK would change.
func ToClient(in io.ReadCloser, out io.WriteCloser, limit int) *mcp.IOTransport {
	answers := &oneByOne{WriteCloser: out}
	return transport(in, answers, limit, func(f *fault) error {
		_, err := fmt.Fprintf(answers, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`+"\n", cmp.Or(string(f.id), "null"), f.code, f.reason)
		return err
	})
}

// ToServer returns a transport to a server. It skips lines that are no messages, or have limit bytes or more, as clients do: a server may
// print a banner. It calls skipped with the reason.
func ToServer(in io.ReadCloser, out io.WriteCloser, limit int, skipped func(reason string)) *mcp.IOTransport {
	return transport(in, out, limit, func(f *fault) error {
		skipped(f.reason)
		return nil
	})
}

func transport(in io.ReadCloser, out io.WriteCloser, limit int, refuse func(*fault) error) *mcp.IOTransport {
	return &mcp.IOTransport{
		Reader: &messages{in: in, lines: bufio.NewReader(in), limit: limit, refuse: refuse}, Writer: out, MaxLineLength: limit,
	}
}

// fault is why a line is skipped.
type fault struct {
	id     json.RawMessage // of the request; nil if unknown
	code   int
	reason string
}

// messages reads lines and passes on JSON-RPC messages and batches. It calls refuse for other lines and skips them.
type messages struct {
	in     io.ReadCloser
	lines  *bufio.Reader
	limit  int // bytes of a line
	refuse func(*fault) error
	line   []byte // buffer for lines that are longer than the reader's buffer
	rest   []byte // of the current messages, not passed on yet
	err    error  // after rest
}

// Read returns the next message or a part of it.
func (m *messages) Read(p []byte) (int, error) {
	for len(m.rest) == 0 {
		if m.err != nil {
			return 0, m.err
		}
		if err := m.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

// Close closes the input.
func (m *messages) Close() error { return m.in.Close() }

// next reads a line. Its error is that of refuse.
func (m *messages) next() error {
	m.line = m.line[:0]
	part, err := m.lines.ReadSlice('\n')
	for ; errors.Is(err, bufio.ErrBufferFull); part, err = m.lines.ReadSlice('\n') {
		if len(m.line) <= m.limit {
			m.line = append(m.line, part...)
		}
	}
	m.err = err
	line := part
	if len(m.line) > 0 {
		line = append(m.line, part...)
	}
	if len(bytes.TrimSpace(line)) == 0 {
		return nil // the SDK would count it as a part of the next message
	}
	batch, fault := messagesOf(line, m.limit)
	if fault != nil {
		return m.refuse(fault)
	}
	for _, message := range batch {
		m.rest = append(append(m.rest, message...), '\n')
	}
	return nil
}

// messagesOf returns the messages in a line, or why it has none. The messages of a batch are passed on one by one, because a batch with two
// notifications, or with an id twice, would end the SDK's connection.
func messagesOf(line []byte, limit int) (batch []json.RawMessage, f *fault) {
	line = bytes.TrimSpace(line)
	switch {
	case len(line) >= limit:
		return nil, &fault{nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("the line has more than %d bytes", limit)}
	case !json.Valid(line):
		return nil, &fault{nil, jsonrpc.CodeParseError, "the line is not one JSON value"}
	case line[0] != '[':
		batch = []json.RawMessage{line}
	default:
		_ = json.Unmarshal(line, &batch) // the line is valid JSON
	}
	for _, message := range batch {
		decoded, err := jsonrpc.DecodeMessage(message)
		if err != nil {
			return nil, &fault{nil, jsonrpc.CodeInvalidRequest, "the line is not a JSON-RPC 2.0 message"}
		}
		if id := changedID(decoded, message); id != nil {
			return nil, &fault{id, jsonrpc.CodeInvalidRequest, "the id must be a string, or a whole number between -2^53 and 2^53"}
		}
	}
	if len(batch) == 0 {
		return nil, &fault{nil, jsonrpc.CodeInvalidRequest, "the batch is empty"}
	}
	return batch, nil
}

// changedID returns the id of a message if it is a number that the SDK, which reads numbers as float64 and keeps them as int64, has
// changed. Its sender would not recognize the answer.
func changedID(decoded jsonrpc.Message, message []byte) json.RawMessage {
	var id jsonrpc.ID
	switch m := decoded.(type) {
	case *jsonrpc.Request:
		id = m.ID
	case *jsonrpc.Response:
		id = m.ID
	}
	if _, number := id.Raw().(int64); !number {
		return nil
	}
	var members map[string]json.RawMessage // names are exact, unlike those of a struct
	if err := json.Unmarshal(message, &members); err != nil {
		return nil
	}
	sent := members["id"]
	const exact = 1 << 53 // 2^53+1 is read as 2^53
	if n, err := strconv.ParseFloat(string(sent), 64); err == nil && n == math.Trunc(n) && math.Abs(n) < exact {
		return nil
	}
	return sent
}

// oneByOne serializes writes.
type oneByOne struct {
	mu sync.Mutex
	io.WriteCloser
}

func (w *oneByOne) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.WriteCloser.Write(p)
}
