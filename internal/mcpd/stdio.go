package mcpd

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// messages reads lines and passes on JSON-RPC messages and batches. It answers other lines with an error and skips them, because
// they would end the SDK's connection.
type messages struct {
	in     io.ReadCloser
	lines  *bufio.Reader
	answer io.Writer // receives each line in one write
	line   []byte    // buffer for lines that are longer than the reader's buffer
	rest   []byte    // of the current message, not passed on yet
	err    error     // after rest
}

func newMessages(in io.ReadCloser, answer io.Writer) *messages {
	return &messages{in: in, lines: bufio.NewReader(in), answer: answer}
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

// next reads a line. Its error is that of the reader or of writing an answer.
func (m *messages) next() error {
	m.line = m.line[:0]
	part, err := m.lines.ReadSlice('\n')
	for ; errors.Is(err, bufio.ErrBufferFull); part, err = m.lines.ReadSlice('\n') {
		if len(m.line) <= maxRequest {
			m.line = append(m.line, part...)
		}
	}
	m.err = err
	line := part
	if len(m.line) > 0 {
		line = append(m.line, part...)
	}
	code, reason := faultOf(line)
	if code == 0 {
		m.rest = line
		return nil
	}
	_, err = fmt.Fprintf(m.answer, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%q}}`+"\n", code, reason)
	return err
}

// faultOf returns why a line is not a message; code 0 means that it is one. A blank line has no fault.
func faultOf(line []byte) (code int, reason string) {
	line = bytes.TrimSpace(line)
	var batch []json.RawMessage
	switch {
	case len(line) == 0:
		return 0, ""
	case len(line) >= maxRequest:
		return jsonrpc.CodeInvalidRequest, fmt.Sprintf("the line has more than %d bytes", maxRequest)
	case !json.Valid(line):
		return jsonrpc.CodeParseError, "the line is not one JSON value"
	case line[0] != '[':
		batch = []json.RawMessage{line}
	default:
		_ = json.Unmarshal(line, &batch) // the line is valid JSON
	}
	for _, message := range batch {
		if _, err := jsonrpc.DecodeMessage(message); err != nil {
			return jsonrpc.CodeInvalidRequest, "the line is not a JSON-RPC 2.0 message"
		}
	}
	if len(batch) == 0 {
		return jsonrpc.CodeInvalidRequest, "the batch is empty"
	}
	return 0, ""
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
