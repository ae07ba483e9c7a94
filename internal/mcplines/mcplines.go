// Package mcplines makes connections of the Model Context Protocol over streams with one message per line. Other lines, which would end a
// connection of the SDK, do not end these. Servers and proxies over standard input and output use it.
package mcplines

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ToClient returns a transport to a client. Lines that are no messages, or have limit bytes or more, are answered with an error.
func ToClient(in io.ReadCloser, out io.WriteCloser, limit int) *mcp.IOTransport {
	answers := &oneByOne{WriteCloser: out}
	return transport(in, answers, limit, func(code int, reason string) error {
		_, err := fmt.Fprintf(answers, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%q}}`+"\n", code, reason)
		return err
	})
}

// ToServer returns a transport to a server. It skips lines that are no messages, or have limit bytes or more, as clients do: a server may
// print a banner. It calls skipped with the reason.
func ToServer(in io.ReadCloser, out io.WriteCloser, limit int, skipped func(reason string)) *mcp.IOTransport {
	return transport(in, out, limit, func(_ int, reason string) error {
		skipped(reason)
		return nil
	})
}

func transport(in io.ReadCloser, out io.WriteCloser, limit int, fault func(code int, reason string) error) *mcp.IOTransport {
	return &mcp.IOTransport{
		Reader: &messages{in: in, lines: bufio.NewReader(in), limit: limit, fault: fault}, Writer: out, MaxLineLength: limit,
	}
}

// messages reads lines and passes on JSON-RPC messages and batches. It calls fault for other lines and skips them.
type messages struct {
	in    io.ReadCloser
	lines *bufio.Reader
	limit int // bytes of a line
	fault func(code int, reason string) error
	line  []byte // buffer for lines that are longer than the reader's buffer
	rest  []byte // of the current messages, not passed on yet
	err   error  // after rest
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

// next reads a line. Its error is that of fault.
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
	batch, code, reason := messagesOf(line, m.limit)
	if code != 0 {
		return m.fault(code, reason)
	}
	for _, message := range batch {
		m.rest = append(append(m.rest, message...), '\n')
	}
	return nil
}

// messagesOf returns the messages in a line, or why it has none. The messages of a batch are passed on one by one, because a batch with two
// notifications, or with an id twice, would end the SDK's connection.
func messagesOf(line []byte, limit int) (batch []json.RawMessage, code int, reason string) {
	line = bytes.TrimSpace(line)
	switch {
	case len(line) >= limit:
		return nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("the line has more than %d bytes", limit)
	case !json.Valid(line):
		return nil, jsonrpc.CodeParseError, "the line is not one JSON value"
	case line[0] != '[':
		batch = []json.RawMessage{line}
	default:
		_ = json.Unmarshal(line, &batch) // the line is valid JSON
	}
	for _, message := range batch {
		if _, err := jsonrpc.DecodeMessage(message); err != nil {
			return nil, jsonrpc.CodeInvalidRequest, "the line is not a JSON-RPC 2.0 message"
		}
	}
	if len(batch) == 0 {
		return nil, jsonrpc.CodeInvalidRequest, "the batch is empty"
	}
	return batch, 0, ""
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
