package ingest

import (
	"encoding/json"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Block is a block of a message's content in Anthropic's Messages API. Type decides which fields are used.
type Block struct {
	Type    string         `json:"type"`
	Text    string         `json:"text"`        // of text
	ID      string         `json:"id"`          // of a call
	Name    string         `json:"name"`        // of a call: the tool
	Input   jsontext.Value `json:"input"`       // of a call: the arguments
	CallID  string         `json:"tool_use_id"` // of a result: the ID of its call
	Content jsontext.Value `json:"content"`     // of a result: a string, a list of blocks, or nothing
	Failed  bool           `json:"is_error"`    // of a result
}

// Blocks reads the content of a message. A string is one text block, and no content is no blocks. An error is a *BadInput; field
// is the path of the content.
func (in *Input) Blocks(line int, field string, content jsontext.Value) ([]Block, error) {
	switch content.Kind() {
	case 0, 'n':
		return nil, nil
	case '"':
		return []Block{{Type: "text", Text: UnquoteText(content)}}, nil
	case '[':
		var blocks []Block
		if err := jsonv2.Unmarshal(content, &blocks, lenient); err != nil {
			return nil, in.badBlock(line, field, err)
		}
		return blocks, nil
	}
	return nil, in.Bad(line, field, "neither a string nor a list of blocks")
}

func (in *Input) badBlock(line int, field string, err error) *BadInput {
	bad := in.badJSON(line, err)
	if bad.Field != "" {
		field += "." + bad.Field
	}
	bad.Field = field
	return bad
}

// IsCall reports whether the block requests a tool of the user (tool_use) or of the API (server_tool_use, mcp_tool_use).
func (b *Block) IsCall() bool {
	return b.Type == "tool_use" || b.Type == "server_tool_use" || b.Type == "mcp_tool_use"
}

// IsResult reports whether the block answers a call: tool_result, or a result of the API's own tools such as
// web_search_tool_result.
func (b *Block) IsResult() bool {
	return b.Type == "tool_result" || strings.HasSuffix(b.Type, "_tool_result")
}

// Output returns the content of a result as raw JSON: as a string if it is only text, else unchanged. A result without content is
// null, a result without information.
func (b *Block) Output() json.RawMessage {
	if b.Content.Kind() == 0 {
		return json.RawMessage("null")
	}
	return Output(b.Content)
}

// failure reports whether a result is a failure, and a separate reason if there is one. The API's own tools have an error object
// with a code as their content.
func (b *Block) failure() (failed bool, reason string) {
	if b.Content.Kind() == '{' {
		var content struct {
			Type string `json:"type"`
			Code string `json:"error_code"`
		}
		if jsonv2.Unmarshal(b.Content, &content, lenient) == nil && strings.HasSuffix(content.Type, "_error") {
			return true, content.Code
		}
	}
	return b.Failed, ""
}

// Prose returns the text of the text blocks, joined by line ends, or "" if it is blank.
func Prose(blocks []Block) string {
	var texts []string
	for _, b := range blocks {
		if b.Type == "text" {
			texts = append(texts, b.Text)
		}
	}
	text := strings.Join(texts, "\n")
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return text
}

// Blocks sends the calls and results among the blocks, in order. The caller sends text, because not all text is a message.
func (t *EventBuilder) Blocks(at Location, blocks []Block) error {
	for i := range blocks {
		b := &blocks[i]
		var err error
		switch {
		case b.IsCall():
			err = t.Call(at, b.ID, b.Name, raw(b.Input))
		case b.IsResult():
			failed, reason := b.failure()
			err = t.Result(at, b.CallID, "", b.Output(), failed, reason)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
