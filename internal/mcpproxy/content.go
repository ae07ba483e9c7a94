package mcpproxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// lenient are the options with which messages are read. A message that a peer would refuse passes.
var lenient = jsonv2.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// contentText returns the texts of a result's content, joined by line ends.
func contentText(content jsontext.Value) string {
	var items []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if jsonv2.Unmarshal(content, &items, lenient) != nil {
		return string(content)
	}
	var texts []string
	for _, i := range items {
		if i.Type == "text" {
			texts = append(texts, i.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// output returns the result of a call: its structured content if it has some, its text if it has only text, and else its content.
func output(r callResult) json.RawMessage {
	if isSet(r.Structured) {
		return json.RawMessage(r.Structured)
	}
	var items []struct {
		Type string `json:"type"`
	}
	if jsonv2.Unmarshal(r.Content, &items, lenient) != nil {
		return json.RawMessage(r.Content)
	}
	for _, i := range items {
		if i.Type != "text" {
			return json.RawMessage(r.Content)
		}
	}
	text, err := json.Marshal(contentText(r.Content))
	if err != nil {
		return json.RawMessage(r.Content)
	}
	return text
}

// appendText returns a result with one more text at the end of its content. All other bytes stay.
func appendText(result json.RawMessage, text string) (json.RawMessage, error) {
	end, empty, err := contentEnd(result)
	if err != nil {
		return nil, err
	}
	item, err := json.Marshal(map[string]string{"type": "text", "text": text})
	if err != nil {
		return nil, err
	}
	if !empty {
		item = append([]byte{','}, item...)
	}
	return slices.Concat(result[:end], item, result[end:]), nil
}

// contentEnd returns the offset of the bracket that ends the content of a result, and whether the content is empty.
func contentEnd(result []byte) (end int, empty bool, err error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(result), lenient)
	if _, err := dec.ReadToken(); err != nil {
		return 0, false, err
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return 0, false, err
		}
		content := name.String() == "content"
		value, err := dec.ReadValue()
		if err != nil {
			return 0, false, err
		}
		if content && value.Kind() == '[' {
			return int(dec.InputOffset()) - 1, len(bytes.TrimSpace(value[1:len(value)-1])) == 0, nil
		}
	}
	return 0, false, fmt.Errorf("the result has no list as content")
}
