package ingest

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Dialect says which API's messages a conversation is made of.
type Dialect int

// The dialects.
const (
	NoDialect Dialect = iota // not a conversation that Dialogues reads
	OpenAI                   // chat completions; also a conversation of nothing but texts
	Anthropic                // Messages
)

// DialectOf tells the dialect of the conversations in an input that begins with head. It looks at all that head
// holds, since the first messages of a conversation are mere text as a rule.
func DialectOf(head []byte) Dialect {
	dec := jsontext.NewDecoder(bytes.NewReader(head), lenient)
	var s signs
	for !s.alien {
		token, err := dec.ReadToken()
		if err != nil {
			break
		}
		depth := dec.StackDepth()
		if depth == 0 && !s.message() {
			return NoDialect
		}
		if token.Kind() == '"' && depth <= deepestSign {
			kind, n := dec.StackIndex(depth)
			s.note(strings.Split(string(dec.StackPointer()), "/")[1:], token, kind == '{' && n%2 == 1)
		}
	}
	return s.dialect()
}

// deepestSign is the depth of 0.request.body.messages.0.content.0.type: below it nothing is looked at.
const deepestSign = 8

// signs are what has been seen of a conversation.
type signs struct {
	role      bool // of a message
	content   bool // of a message
	alien     bool // it belongs to another format, which has messages as a part
	openAI    bool
	anthropic bool
	system    bool // a system prompt among the messages
	apart     bool // a system prompt beside the messages
}

func (s *signs) message() bool { return s.role && s.content && !s.alien }

func (s *signs) dialect() Dialect {
	switch {
	case !s.message():
		return NoDialect
	case s.openAI:
		return OpenAI
	case s.anthropic, s.apart && !s.system:
		return Anthropic
	}
	return OpenAI
}

// note takes a string at a path: the name of a member, or a value.
func (s *signs) note(path []string, token jsontext.Token, isName bool) {
	field := inMessage(path)
	switch {
	case isName && len(field) == 1:
		s.noteMember(field[0])
	case isName && len(inRecord(path)) == 1:
		s.noteBeside(inRecord(path)[0])
	case isName:
	case len(field) == 1 && field[0] == "role":
		s.noteRole(token.String())
	case len(field) == 3 && field[0] == "content" && field[2] == "type":
		s.noteBlock(token.String())
	}
}

func (s *signs) noteMember(name string) {
	switch name {
	case "content":
		s.content = true
	case "tool_calls", "function_call", "tool_call_id":
		s.content, s.openAI = true, true
	default:
		s.noteBeside(name) // in a list of records, these stand where in a bare list a message's members do
	}
}

func (s *signs) noteBeside(name string) {
	switch name {
	case "system", "anthropic_version":
		s.apart = true
	case "info", "trajectory_format", "traj", "trajectory", "history":
		s.alien = true
	}
}

func (s *signs) noteRole(role string) {
	switch role {
	case "system", "developer":
		s.role, s.system = true, true
	case "tool", "function":
		s.role, s.openAI = true, true
	case "user", "assistant":
		s.role = true
	}
}

func (s *signs) noteBlock(kind string) {
	switch kind {
	case "thinking", "redacted_thinking":
		s.anthropic = true
	case "image_url", "input_audio", "refusal":
		s.openAI = true
	default:
		b := Block{Type: kind}
		s.anthropic = s.anthropic || b.IsCall() || b.IsResult()
	}
}

// inRecord returns what of a path stands in a record: without a place in a list of records, request and body.
func inRecord(path []string) []string {
	if len(path) > 0 && isIndex(path[0]) {
		path = path[1:]
	}
	for len(path) > 0 && (path[0] == "request" || path[0] == "body") {
		path = path[1:]
	}
	return path
}

// inMessage returns what of a path stands in a message, of a record or of a bare list; nil if it leads elsewhere.
func inMessage(path []string) []string {
	record := inRecord(path)
	if len(record) > 2 && record[0] == "messages" && isIndex(record[1]) {
		return record[2:]
	}
	if len(path) < 2 || !isIndex(path[0]) || len(record) != len(path)-1 {
		return nil
	}
	if isIndex(record[0]) { // a list of lists
		return record[1:]
	}
	return record
}

func isIndex(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
