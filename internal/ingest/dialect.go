package ingest

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Dialect is the API of the messages of a conversation.
type Dialect int

// The dialects.
const (
	NoDialect Dialect = iota // not a conversation that Dialogues reads
	OpenAI                   // chat completions; also a conversation of nothing but texts
	Anthropic                // Messages
	Cline                    // Messages, with what Cline and Roo Code put into them
	AutoGen                  // chat completions between the agents of AutoGen 0.2 and AG2
)

// DialectOf returns the dialect of the conversations in an input that begins with head. It reads all of head, because the first
// messages of a conversation are usually text only.
func DialectOf(head []byte) Dialect {
	dec := jsontext.NewDecoder(bytes.NewReader(head), lenient)
	s := signs{speakers: make(map[string]*speaker)}
	for !s.alien {
		token, err := dec.ReadToken()
		if err != nil {
			break
		}
		depth := dec.StackDepth()
		if depth == 0 && !s.message() {
			return NoDialect
		}
		if token.Kind() == '}' {
			s.noteEnd(strings.TrimPrefix(string(dec.StackPointer()), "/"))
		}
		if token.Kind() == '"' && depth <= deepestSign {
			kind, n := dec.StackIndex(depth)
			s.note(strings.Split(string(dec.StackPointer()), "/")[1:], token, kind == '{' && n%2 == 1)
		}
	}
	return s.dialect()
}

// deepestSign is the depth of 0.request.body.messages.0.content.0.type. Deeper values are ignored.
const deepestSign = 8

// signs are the features of a conversation that were found.
type signs struct {
	role      bool // of a message
	content   bool // of a message
	alien     bool // a part of another format that contains messages
	openAI    bool
	anthropic bool
	system    bool // a system prompt in the messages
	apart     bool // a system prompt beside the messages
	stamped   bool // a message with a time
	task      bool // a text that begins with Cline's tag for a task
	cline     bool // a text with Cline's tag for the environment
	autogen   bool // a message with the results of several calls
	speakers  map[string]*speaker
}

// speaker is what is known of the author of a message.
type speaker struct {
	role, name string
	whole      bool // the message is not cut
}

func (s *signs) message() bool { return s.role && s.content && !s.alien }

func (s *signs) dialect() Dialect {
	switch {
	case !s.message():
		return NoDialect
	case s.cline, s.task && s.stamped:
		return Cline
	case s.autogen, s.named():
		return AutoGen
	case s.openAI:
		return OpenAI
	case s.anthropic, s.apart && !s.system:
		return Anthropic
	}
	return OpenAI
}

// note records a string at a path: the name of a member, or a value.
func (s *signs) note(path []string, token jsontext.Token, isName bool) {
	field := inMessage(path)
	switch {
	case isName && len(field) == 1:
		s.noteMember(field[0])
	case isName && len(inRecord(path)) == 1:
		s.noteBeside(inRecord(path)[0])
	case isName:
	case len(field) == 1 && (field[0] == "role" || field[0] == "name"):
		s.noteSpeaker(path, token.String())
	case len(field) == 1 && field[0] == "content", len(field) == 3 && field[0] == "content" && field[2] == "text":
		s.noteText(token.String())
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
	case "tool_responses":
		s.autogen = true
	case "ts":
		s.stamped = true
	default:
		s.noteBeside(name) // in a list of records, these are at the place of a message's members in a bare list
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

// noteSpeaker records the role or the name in the message at the path.
func (s *signs) noteSpeaker(path []string, value string) {
	last := len(path) - 1
	key := strings.Join(path[:last], "/")
	if s.speakers[key] == nil {
		s.speakers[key] = new(speaker)
	}
	if path[last] == "name" {
		s.speakers[key].name = value
		return
	}
	s.speakers[key].role = value
	s.noteRole(value)
}

func (s *signs) noteEnd(key string) {
	if p := s.speakers[key]; p != nil {
		p.whole = true
	}
}

// named reports whether several agents speak: every message that is no prompt and no result has a name, and there are two names.
func (s *signs) named() bool {
	names := make(map[string]bool)
	for _, p := range s.speakers {
		if p.whole && (p.role == "user" || p.role == "assistant") {
			names[p.name] = true
		}
	}
	return len(names) > 1 && !names[""]
}

func (s *signs) noteText(text string) {
	s.task = s.task || strings.HasPrefix(text, "<task>") || strings.HasPrefix(text, "<user_message>")
	s.cline = s.cline || strings.Contains(text, "<environment_details>")
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

// inRecord returns the part of a path within a record, without its index in a list, request and body.
func inRecord(path []string) []string {
	if len(path) > 0 && isIndex(path[0]) {
		path = path[1:]
	}
	for len(path) > 0 && (path[0] == "request" || path[0] == "body") {
		path = path[1:]
	}
	return path
}

// inMessage returns the part of a path within a message of a record or of a bare list, or nil for other paths.
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
