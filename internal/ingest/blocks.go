package ingest

import (
	"encoding/json"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Block is one block of a message's content in Anthropic's Messages API. Which fields have a meaning depends on Type.
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

// Blocks reads a message's content: a string is one text block, and no content is no blocks. What it cannot read is
// a *BadInput; field is where the content stands.
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

// IsCall reports whether the block asks for a tool, the user's (tool_use) or one that runs at the API's side
// (server_tool_use, mcp_tool_use).
func (b *Block) IsCall() bool {
	return b.Type == "tool_use" || b.Type == "server_tool_use" || b.Type == "mcp_tool_use"
}

// IsResult reports whether the block answers a call: tool_result, or one of the API's own such as
// web_search_tool_result.
func (b *Block) IsResult() bool {
	return b.Type == "tool_result" || strings.HasSuffix(b.Type, "_tool_result")
}

// Output returns a result's content as raw JSON: as a string where it is nothing but text, else as it stands. A result
// without content is null, an answer that says nothing.
func (b *Block) Output() json.RawMessage {
	if b.Content.Kind() == 0 {
		return json.RawMessage("null")
	}
	return Output(b.Content)
}

// failure reports whether a result is a failure, and the reason if there is one apart: the API's own tools put an
// error object with a code in the place of their content.
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

// Prose returns the text blocks' text, joined by line ends, and "" where it is blank.
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

// Blocks sends the calls and results among the blocks, in their order. Text is the caller's business, since not all
// of it is a message.
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
