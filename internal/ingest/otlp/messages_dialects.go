package otlp

import (
	"slices"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

// genAIMessages reads the messages of a model call in the GenAI conventions: the attributes since 1.37, those of OpenLLMetry, the events
// of the span in 1.36 and before, the list of such events in an attribute of Pydantic AI and Logfire, and the request and response
// of ADK.
func genAIMessages(s *span) string {
	input, answer := s.messages("gen_ai.input.messages"), answerIn(s.messages("gen_ai.output.messages"))
	if system := s.systemInstructions(); system.raw != nil {
		input = append([]chatMessage{system}, input...)
	}
	if len(input) == 0 && answer == "" {
		input, answer = s.numberedMessages()
	}
	if len(input) == 0 && answer == "" {
		input, answer = s.messageEvents()
	}
	if len(input) == 0 && answer == "" {
		input, answer = splitChoice(s.messages("events"))
	}
	if len(input) == 0 && answer == "" {
		input, answer = s.adkMessages()
	}
	return encodeMessages(input, answer)
}

// systemInstructions returns the instructions as a message. Its raw is nil for none.
func (s *span) systemInstructions() chatMessage {
	v, ok := s.byKey["gen_ai.system_instructions"]
	if !ok {
		return chatMessage{}
	}
	return chatMessage{role: unloop.RoleSystem, raw: jsontext.Value(`{"parts":` + asJSON(v) + `}`)}
}

// numberedMessages reads the attributes of OpenLLMetry.
func (s *span) numberedMessages() (input []chatMessage, answer string) {
	if !s.hasAny("gen_ai.prompt.0.role", "gen_ai.prompt.0.content", "gen_ai.completion.0.role", "gen_ai.completion.0.content") {
		return nil, ""
	}
	return s.numbered("gen_ai.prompt.", ".", ""), answerIn(s.numbered("gen_ai.completion.", ".", ""))
}

// openInferenceMessages reads the messages of a model call in OpenInference.
func openInferenceMessages(s *span) string {
	const infix = ".message."
	return encodeMessages(s.numbered("llm.input_messages.", infix, infix+"contents."),
		answerIn(s.numbered("llm.output_messages.", infix, infix+"contents.")))
}

// numbered returns messages whose members are attributes: prefix, number, infix and member. If contents is not "", the parts of a message
// are attributes, too.
func (s *span) numbered(prefix, infix, contents string) (messages []chatMessage) {
	first := 0
	if !s.hasAny(prefix+"0"+infix+"role", prefix+"0"+infix+"content") {
		if first = s.leastNumber(prefix); first < 0 {
			return nil
		}
		messages = []chatMessage{{role: unloop.RoleAssistant}} // stands for the missing beginning
	}
	for n := first; ; n++ {
		at := prefix + strconv.Itoa(n)
		if !s.hasAny(at+infix+"role", at+infix+"content") {
			return messages
		}
		m := chatMessage{role: roleOf(s.text(at + infix + "role")), text: s.text(at + infix + "content")}
		if strings.HasPrefix(m.text, "[") { // OpenLLMetry writes parts as JSON
			if list := textOfParts(jsontext.Value(m.text)); list != "" {
				m.text = list
			}
		}
		for k := 0; m.text == "" && contents != ""; k++ {
			part := at + contents + strconv.Itoa(k) + ".message_content."
			if !s.hasAny(part+"type", part+"text") {
				break
			}
			m.text = s.text(part + "text")
		}
		messages = append(messages, m)
	}
}

// leastNumber returns the least number after the prefix of a key, or -1. SDKs keep 128 attributes of a span and drop the oldest, so the
// first messages of a long conversation may be missing.
func (a attributes) leastNumber(prefix string) int {
	least := -1
	for key := range a.byKey {
		if rest, ok := strings.CutPrefix(key, prefix); ok {
			digits, _, _ := strings.Cut(rest, ".")
			if n, err := strconv.Atoi(digits); err == nil && n >= 0 && (least < 0 || n < least) {
				least = n
			}
		}
	}
	return least
}

func (a attributes) hasAny(keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool {
		_, ok := a.byKey[key]
		return ok
	})
}

// messageEvents reads the events of a span, whose attributes have the members of a message.
func (s *span) messageEvents() (input []chatMessage, answer string) {
	var all []chatMessage
	for _, event := range s.Events().All() {
		role := roleOfEvent(event.Name())
		if role == "" && event.Name() != "gen_ai.tool.message" {
			continue
		}
		m := chatMessage{role: role}
		for _, key := range []string{"content", "message"} {
			if v, ok := event.Attributes().Get(key); ok && m.raw == nil {
				m.raw = asMessage(v.AsString())
			}
		}
		all = append(all, m)
		if event.Name() == choice {
			return all[:len(all)-1], answerIn(all[len(all)-1:])
		}
	}
	return all, ""
}

// asMessage returns the content of a message as a message: a text, a list of parts as JSON, or a message as JSON.
func asMessage(content string) jsontext.Value {
	raw := jsontext.Value(textAsJSON(content))
	if raw.Kind() == '{' {
		return raw
	}
	return jsontext.Value(`{"content":` + string(raw) + `}`)
}

// splitChoice separates a list of events into the input and the answer, which is the first of the choices at its end.
func splitChoice(events []chatMessage) (input []chatMessage, answer string) {
	end := len(events)
	for end > 0 && ingest.UnquoteText(read(events[end-1].raw).Event) == choice {
		end--
	}
	return events[:end], answerIn(events[end:])
}

// adkMessages reads the request and the response in attributes of Google's ADK.
func (s *span) adkMessages() (input []chatMessage, answer string) {
	if !s.has("gcp.") {
		return nil, ""
	}
	var request struct {
		Contents []jsontext.Value `json:"contents"`
		Config   struct {
			System jsontext.Value `json:"system_instruction"`
		} `json:"config"`
	}
	if jsonv2.Unmarshal([]byte(s.text("gcp.vertex.agent.llm_request")), &request, lenientText()) == nil {
		input = messagesIn(request.Contents)
		if request.Config.System.Kind() == '"' {
			input = append([]chatMessage{{role: unloop.RoleSystem, text: ingest.UnquoteText(request.Config.System)}}, input...)
		}
	}
	var response struct {
		Content jsontext.Value `json:"content"`
	}
	if jsonv2.Unmarshal([]byte(s.text("gcp.vertex.agent.llm_response")), &response, lenientText()) == nil && response.Content.Kind() == '{' {
		answer = answerIn(messagesIn([]jsontext.Value{response.Content}))
	}
	return input, answer
}
