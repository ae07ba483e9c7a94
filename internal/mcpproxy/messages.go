package mcpproxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxBatch is the maximum number of messages of a batch that is judged. The SDK takes 64 KiB to decode a message.
const maxBatch = 1000

// decode returns the messages in data, which is one message or a batch of them, and each one's bytes, which are parts of data.
func decode(data []byte) (messages []jsonrpc.Message, raw []json.RawMessage, err error) {
	if !isBatch(data) {
		m, err := jsonrpc.DecodeMessage(data)
		return []jsonrpc.Message{m}, []json.RawMessage{data}, err
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(data), lenient)
	if _, err := dec.ReadToken(); err != nil {
		return nil, nil, err
	}
	for dec.PeekKind() != ']' {
		value, err := dec.ReadValue()
		if err != nil {
			return nil, nil, err
		}
		if len(raw) == maxBatch {
			return nil, nil, fmt.Errorf("the batch has more than %d messages", maxBatch)
		}
		end := int(dec.InputOffset())
		raw = append(raw, json.RawMessage(data[end-len(value):end:end]))
		m, err := jsonrpc.DecodeMessage(raw[len(raw)-1])
		if err != nil {
			return nil, nil, fmt.Errorf("decode a message: %w", err)
		}
		messages = append(messages, m)
	}
	_, err = dec.ReadToken()
	if err == nil && len(bytes.TrimSpace(data[dec.InputOffset():])) > 0 {
		err = errors.New("data follow the batch")
	}
	return messages, raw, err
}

// isBatch reports whether data is a batch of messages.
func isBatch(data []byte) bool {
	data = bytes.TrimLeft(data, " \t\r\n")
	return len(data) > 0 && data[0] == '['
}

// encodeBatch returns a batch of messages.
func encodeBatch(raw []json.RawMessage) []byte {
	return append(append([]byte{'['}, bytes.Join(rawBytes(raw), []byte{','})...), ']')
}

func rawBytes(raw []json.RawMessage) [][]byte {
	all := make([][]byte, len(raw))
	for i, r := range raw {
		all[i] = r
	}
	return all
}

// encodeResponse returns the bytes of a response that the proxy made.
func encodeResponse(r *jsonrpc.Response) json.RawMessage {
	data, err := jsonrpc.EncodeMessage(r)
	if err != nil {
		panic("mcpproxy: " + err.Error()) // its parts are valid JSON
	}
	return data
}
