package mcpproxy

import (
	"bytes"
	"encoding/json"
	"fmt"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// decode returns the messages in data, which is one message or a batch of them, and each one's bytes.
func decode(data []byte) (messages []jsonrpc.Message, raw []json.RawMessage, err error) {
	raw = []json.RawMessage{data}
	if isBatch(data) {
		var items []jsontext.Value
		if err := jsonv2.Unmarshal(data, &items, lenient); err != nil {
			return nil, nil, err
		}
		raw = raw[:0]
		for _, i := range items {
			raw = append(raw, json.RawMessage(i))
		}
	}
	for _, r := range raw {
		m, err := jsonrpc.DecodeMessage(r)
		if err != nil {
			return nil, nil, fmt.Errorf("decode a message: %w", err)
		}
		messages = append(messages, m)
	}
	return messages, raw, nil
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
