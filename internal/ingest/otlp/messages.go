package otlp

import (
	"bytes"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/trace"
)

// maxInputText bounds the texts of the messages to one model call, in bytes. The latest messages are kept.
const maxInputText = 128 << 10

// chatMessage is a message of a model call.
type chatMessage struct {
	role string         // as in events; "" for the result of a tool, and for a raw message that names its role
	text string         // if raw is nil
	raw  jsontext.Value // the message as JSON, which is read when it is needed; nil for none
}

// jsonMessage is a message in JSON, in any dialect.
type jsonMessage struct {
	Role    jsontext.Value `json:"role"`
	Parts   jsontext.Value `json:"parts"`
	Content jsontext.Value `json:"content"`
	Message jsontext.Value `json:"message"`    // of an event gen_ai.choice
	Event   jsontext.Value `json:"event.name"` // of the events of older conventions
}

// roleOf returns the role in events, or "" for another one.
func roleOf(name string) string {
	switch strings.ToLower(name) {
	case "system", "developer":
		return unloop.RoleSystem
	case "user", "human":
		return unloop.RoleUser
	case "assistant", "ai", "model":
		return unloop.RoleAssistant
	}
	return ""
}

// messages returns the messages in the first of the attributes that is a list, or a string with one.
func (a attributes) messages(keys ...string) []chatMessage {
	for _, key := range keys {
		if v, ok := a.byKey[key]; ok {
			if list := listOf(v); list != nil {
				return messagesIn(list)
			}
		}
	}
	return nil
}

// listOf returns the elements of a list, or of a string that contains one as JSON.
func listOf(v pcommon.Value) (list []jsontext.Value) {
	var raw string
	switch v.Type() {
	case pcommon.ValueTypeStr:
		raw = strings.TrimSpace(v.Str())
	case pcommon.ValueTypeSlice:
		raw = asJSON(v)
	}
	if !strings.HasPrefix(raw, "[") || jsonv2.Unmarshal([]byte(raw), &list, lenientText()) != nil {
		return nil
	}
	return list
}

// lenientText are the options for texts that may have invalid UTF-8.
func lenientText() jsonv2.Options {
	return jsonv2.JoinOptions(lenient(), jsontext.AllowInvalidUTF8(true))
}

func messagesIn(list []jsontext.Value) []chatMessage {
	messages := make([]chatMessage, 0, len(list))
	for _, raw := range list {
		if raw.Kind() == '{' {
			messages = append(messages, chatMessage{raw: raw})
		}
	}
	return messages
}

func read(raw jsontext.Value) (m jsonMessage) {
	if jsonv2.Unmarshal(raw, &m, lenientText()) != nil {
		return jsonMessage{}
	}
	if m.Message.Kind() == '{' {
		event := m.Event
		if jsonv2.Unmarshal(m.Message, &m, lenientText()) != nil {
			return jsonMessage{}
		}
		m.Event = event
	}
	return m
}

// author returns the role in events. Older conventions have it in the name of an event, too.
func (m *chatMessage) author() string {
	if m.role != "" || m.raw == nil {
		return m.role
	}
	read := read(m.raw)
	if role := ingest.UnquoteText(read.Role); role != "" {
		return roleOf(role)
	}
	return roleOfEvent(ingest.UnquoteText(read.Event))
}

// choice is the name of the event of an answer in older conventions. Such events for messages are named gen_ai.ROLE.message.
const choice = "gen_ai.choice"

func roleOfEvent(name string) string {
	if name == choice {
		return unloop.RoleAssistant
	}
	name, _ = strings.CutPrefix(name, "gen_ai.")
	name, _ = strings.CutSuffix(name, ".message")
	return roleOf(name)
}

// words returns the text of a message, or "" if it is blank.
func (m *chatMessage) words() string {
	text := m.text
	if m.raw != nil {
		read := read(m.raw)
		if text = textOfParts(read.Parts); text == "" {
			text = textOfParts(read.Content)
		}
	}
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return valid(text)
}

// textOfParts returns a text, or the texts in a list of parts, joined by line ends. It ignores thoughts, calls, results and files.
func textOfParts(v jsontext.Value) string {
	if v.Kind() == '"' {
		return ingest.UnquoteText(v)
	}
	var parts []jsontext.Value
	if v.Kind() != '[' || jsonv2.Unmarshal(v, &parts, lenientText()) != nil {
		return ""
	}
	var texts []string
	for _, p := range parts {
		if text := textOfPart(p); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}

func textOfPart(v jsontext.Value) string {
	if v.Kind() == '"' {
		return ingest.UnquoteText(v)
	}
	var part struct {
		Type    jsontext.Value `json:"type"`
		Kind    jsontext.Value `json:"kind"` // the type in early versions of Pydantic AI
		Text    jsontext.Value `json:"text"`
		Content jsontext.Value `json:"content"`
		Thought jsontext.Value `json:"thought"`
	}
	if v.Kind() != '{' || jsonv2.Unmarshal(v, &part, lenientText()) != nil || part.Thought.Kind() == 't' {
		return ""
	}
	switch ingest.UnquoteText(part.Type) + ingest.UnquoteText(part.Kind) {
	case "", "text", "input_text", "output_text":
	default:
		return ""
	}
	if part.Text.Kind() == '"' {
		return ingest.UnquoteText(part.Text)
	}
	return ingest.UnquoteText(part.Content)
}

// answerIn returns the text of the first message with one. The others are other choices.
func answerIn(messages []chatMessage) string {
	for i := range messages {
		author := messages[i].author()
		if text := messages[i].words(); text != "" && author != unloop.RoleUser && author != unloop.RoleSystem {
			return text
		}
	}
	return ""
}

// encodeMessages returns the messages of a model call in the form of trace.Facts: those after the latest answer in the input, and
// the answer of the call.
func encodeMessages(input []chatMessage, answer string) string {
	if len(input) == 0 && answer == "" {
		return ""
	}
	end := len(input)
	for end > 0 && input[end-1].author() == unloop.RoleAssistant { // the beginning of the answer
		end--
	}
	first := end
	for first > 0 && input[first-1].author() != unloop.RoleAssistant {
		first--
	}
	m := trace.Messages{Answer: shorten(answer)}
	for i := range input {
		if input[i].author() != unloop.RoleUser {
			continue
		}
		if text := input[i].words(); text != "" {
			m.Root = trace.RootText(text)
			break
		}
	}
	m.Opens = first == 0 && m.Root != ""
	m.Input = newMessages(input, first, end)
	return m.Encode()
}

// newMessages returns the messages of the input from first to end that a person or the program's author wrote.
func newMessages(input []chatMessage, first, end int) []trace.Message {
	var added []trace.Message
	size := 0
	for i := end - 1; i >= first && len(added) < trace.MaxInput; i-- {
		author, text := input[i].author(), shorten(input[i].words())
		if author == "" || text == "" || author == unloop.RoleUser && isInserted(text) {
			continue
		}
		if size += len(text); size > maxInputText {
			break
		}
		added = append(added, trace.Message{Role: author, Text: text, Nth: equalBefore(input, i)})
	}
	slices.Reverse(added)
	return added
}

// equalBefore returns the number of messages before the one at position i that are equal to it.
func equalBefore(input []chatMessage, i int) (n int) {
	for j := range i {
		if input[j].role == input[i].role && input[j].text == input[i].text && bytes.Equal(input[j].raw, input[i].raw) {
			n++
		}
	}
	return n
}

func shorten(text string) string { return trace.Shorten(text, trace.MaxText) }

// isInserted reports whether a program wrote the message of a user: frameworks send the result of a tool as an observation, and what
// other agents said as context.
func isInserted(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "Observation:") || strings.HasPrefix(text, "For context:") || ingest.IsInserted(text)
}
