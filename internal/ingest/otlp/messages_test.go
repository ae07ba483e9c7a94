package otlp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/trace"
)

// talk returns the messages of the spans, in order: id, agent, role and text.
func talk(t *testing.T, td ptrace.Traces) []string {
	t.Helper()
	var lines []string
	err := send(td, func(e *unloop.Event) error {
		if e.Type == unloop.MessageSent {
			line := fmt.Sprintln(strings.Replace(e.ID, "00000000000000", "", 1), e.Agent, e.Role+":", e.Text)
			lines = append(lines, strings.Join(strings.Fields(line), " "))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// inJSON returns a value as JSON.
func inJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// The second call of a conversation in each dialect: a person has asked, a tool was called and has answered, and the person adds
// something.
const (
	genAIInput = `[{"role":"system","parts":[{"type":"text","content":"Be brief."}]},
		{"role":"user","parts":[{"type":"text","content":"Where is order 31?"}]},
		{"role":"assistant","parts":[{"type":"reasoning","content":"Hm."},{"type":"tool_call","id":"c","name":"find","arguments":{"id":31}}]},
		{"role":"tool","parts":[{"type":"tool_call_response","id":"c","response":"lost"}]},
		{"role":"user","parts":[{"type":"text","content":"It is a book."},{"type":"blob","content":"AAAA"},{"type":"text","content":"Two, to be exact."}]}]`
	genAIOutput = `[{"role":"assistant","parts":[{"type":"reasoning","content":"Hm."},{"type":"text","content":"It is lost."}],"finish_reason":"stop"},
		{"role":"assistant","parts":[{"type":"text","content":"Another choice"}]}]`
	chatInput = `[{"role":"system","content":"Be brief."},{"role":"user","content":[{"type":"text","text":"Where is order 31?"}]},
		{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c","toolName":"find","input":{"id":31}}]},
		{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","output":"lost"}]},
		{"role":"user","content":[{"type":"text","text":"It is a book.\nTwo, to be exact."}]}]`
	eventList = `[{"event.name":"gen_ai.system.message","content":"Be brief.","role":"system","gen_ai.message.index":0},
		{"event.name":"gen_ai.user.message","content":"Where is order 31?","role":"user","gen_ai.message.index":0},
		{"event.name":"gen_ai.assistant.message","role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"find"}}]},
		{"event.name":"gen_ai.tool.message","content":"lost","role":"tool","id":"c"},
		{"event.name":"gen_ai.user.message","content":["It is a book.",{"kind":"text","text":"Two, to be exact."}],"role":"user"},
		{"event.name":"gen_ai.choice","index":0,"message":{"role":"assistant","content":"It is lost."}}]`
	adkRequest = `{"model":"gemini","config":{"system_instruction":"Be brief."},"contents":[{"parts":[{"text":"Where is order 31?"}],"role":"user"},
		{"parts":[{"function_call":{"name":"find","args":{"id":31}}}],"role":"model"},
		{"parts":[{"function_response":{"name":"find","response":{"result":"lost"}}}],"role":"user"},
		{"parts":[{"text":"It is a book.\nTwo, to be exact."}],"role":"user"}]}`
	adkResponse = `{"content":{"parts":[{"text":"Hm.","thought":true},{"text":"It is lost."}],"role":"model"}}`
)

func TestMessagesOfDialects(t *testing.T) {
	structured := func(text string) (v any) {
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	for name, attributes := range map[string]kv{
		"GenAI, as JSON": {"gen_ai.operation.name": "chat", "gen_ai.input.messages": genAIInput, "gen_ai.output.messages": genAIOutput},
		"GenAI, structured": {
			"gen_ai.operation.name": "chat", "gen_ai.input.messages": structured(genAIInput), "gen_ai.output.messages": structured(genAIOutput),
		},
		"Pydantic AI and Logfire with events": {"gen_ai.operation.name": "chat", "events": eventList},
		"ADK": {
			"gen_ai.operation.name": "generate_content", "gcp.vertex.agent.llm_request": adkRequest, "gcp.vertex.agent.llm_response": adkResponse,
		},
		"the Vercel AI SDK": {
			"ai.operationId": "ai.streamText.doStream", "ai.prompt.messages": chatInput, "ai.response.text": "It is lost.",
		},
		"OpenInference": {
			"openinference.span.kind":           "LLM",
			"llm.input_messages.0.message.role": "system", "llm.input_messages.0.message.content": "Be brief.",
			"llm.input_messages.1.message.role": "user", "llm.input_messages.1.message.content": "Where is order 31?",
			"llm.input_messages.2.message.role": "assistant", "llm.input_messages.2.message.tool_calls.0.tool_call.function.name": "find",
			"llm.input_messages.3.message.role": "tool", "llm.input_messages.3.message.content": "lost",
			"llm.input_messages.4.message.role":                                    "user",
			"llm.input_messages.4.message.contents.0.message_content.type":         "image",
			"llm.input_messages.4.message.contents.1.message_content.type":         "text",
			"llm.input_messages.4.message.contents.1.message_content.text":         "It is a book.\nTwo, to be exact.",
			"llm.output_messages.0.message.role":                                   "assistant",
			"llm.output_messages.0.message.content":                                "It is lost.",
			"llm.output_messages.0.message.tool_calls.0.tool_call.function.name":   "find",
			"llm.output_messages.0.message.tool_calls.0.tool_call.id":              "d",
			"llm.output_messages.0.message.contents.0.message_content.type":        "text",
			"llm.output_messages.0.message.contents.0.message_content.text":        "not read",
			"llm.input_messages.3.message.tool_call_id":                            "c",
			"llm.input_messages.2.message.tool_calls.0.tool_call.function.args":    "{}",
			"llm.input_messages.99.message.role":                                   "user",
			"llm.input_messages.99.message.content":                                "not in the list",
			"llm.input_messages.4.message.contents.1.message_content.extra.member": "x",
		},
		"OpenLLMetry": {
			"llm.request.type": "chat", "gen_ai.request.model": "m", "gen_ai.prompt.0.role": "system", "gen_ai.prompt.0.content": "Be brief.",
			"gen_ai.prompt.1.role": "user", "gen_ai.prompt.1.content": `[{"type":"text","text":"Where is order 31?"}]`,
			"gen_ai.prompt.2.role": "assistant", "gen_ai.prompt.2.tool_calls.0.name": "find",
			"gen_ai.prompt.3.role": "tool", "gen_ai.prompt.3.content": "lost",
			"gen_ai.prompt.4.role": "user", "gen_ai.prompt.4.content": "It is a book.\nTwo, to be exact.",
			"gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": "It is lost.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			attributes["gen_ai.agent.name"] = "clerk"
			check(t, talk(t, traces(t, given{id: 2, parent: 1, name: "chat", start: 1, end: 2, attributes: attributes})),
				"02.input0 user: It is a book. Two, to be exact.", "02.answer clerk assistant: It is lost.")
		})
	}
}

func TestMessagesInEventsOfASpan(t *testing.T) {
	td := traces(t, given{id: 2, parent: 1, name: "chat", start: 1, end: 2, attributes: kv{"gen_ai.operation.name": "chat"}})
	span := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
	for _, e := range [][3]string{
		{"gen_ai.system.message", "content", `[{"text":"Be brief."}]`},
		{"gen_ai.user.message", "content", `[{"text":"Where is order 31?"}]`},
		{"gen_ai.assistant.message", "content", `[{"toolUse":{"name":"find","toolUseId":"c","input":{}}}]`},
		{"gen_ai.tool.message", "content", `[{"toolResult":{"content":[{"text":"lost"}],"toolUseId":"c"}}]`},
		{"gen_ai.user.message", "content", `It is a book.`},
		{"exception", "exception.message", "broken"},
		{"gen_ai.choice", "message", `[{"text":"It is lost."}]`},
		{"gen_ai.choice", "message", `another choice`},
	} {
		event := span.Events().AppendEmpty()
		event.SetName(e[0])
		event.Attributes().PutStr(e[1], e[2])
	}
	check(t, talk(t, td), "02.input0 user: It is a book.", "02.answer assistant: It is lost.")
}

// chat is the span of a model call with its messages: the input's are alternately of the user and of the assistant.
func chat(id byte, start int64, answer string, input ...string) given {
	role := []string{"user", "assistant"}
	var messages []any
	for i, text := range input {
		messages = append(messages, kv{"role": role[i%2], "parts": []any{kv{"type": "text", "content": text}}})
	}
	return given{id: id, parent: 1, name: "chat m", start: start, end: start + 1, attributes: kv{
		"gen_ai.operation.name": "chat", "gen_ai.input.messages": inJSON(messages),
		"gen_ai.output.messages": inJSON([]any{kv{"role": "assistant", "parts": []any{kv{"type": "text", "content": answer}}}}),
	}}
}

func TestOnlyNewMessagesCount(t *testing.T) {
	first := []string{"02.input0 user: a", "02.answer assistant: b"}
	tests := []struct {
		name  string
		spans []given
		want  []string
	}{
		{
			"a call repeats the conversation",
			[]given{chat(2, 1, "b", "a"), chat(3, 5, "d", "a", "b", "c")},
			append(first, "03.input0 user: c", "03.answer assistant: d"),
		},
		{
			"a call that is tried again has the same input",
			[]given{chat(2, 1, "b", "a"), chat(3, 5, "c", "a")},
			append(first, "03.answer assistant: c"),
		},
		{
			"a person may say the same twice",
			[]given{chat(2, 1, "b", "a"), chat(3, 5, "d", "a", "b", "a")},
			append(first, "03.input0 user: a", "03.answer assistant: d"),
		},
		{
			"another conversation in the trace is a sub-agent's",
			[]given{chat(2, 1, "b", "a"), chat(3, 3, "y", "x"), chat(4, 5, "w", "x", "y", "z"), chat(5, 7, "d", "a", "b", "c")},
			append(first, "05.input0 user: c", "05.answer assistant: d"),
		},
		{
			"a history may lose its beginning",
			[]given{chat(2, 1, "b", "a"), chat(3, 5, "d", "summary", "b", "c")},
			append(first, "03.input0 user: c", "03.answer assistant: d"),
		},
		{
			"a conversation may have begun in another trace",
			[]given{chat(3, 5, "d", "a", "b", "c")},
			[]string{"03.input0 user: c", "03.answer assistant: d"},
		},
		{
			"a program may begin the answer", []given{chat(2, 1, "b", "a", "The answer is")}, first,
		},
		{
			"results and context in messages of the user are not from a person",
			[]given{chat(2, 1, "b", "a"), chat(3, 5, "d", "a", "b", "Observation: 5 rows"), chat(4, 7, "", "a", "b", "c", "d", "For context:")},
			append(first, "03.answer assistant: d"),
		},
		{"a call without texts says nothing", []given{chat(2, 1, " ", "\n")}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { check(t, talk(t, traces(t, tt.spans...)), tt.want...) })
	}
}

func TestAttributesThatAreNoMessagesAreIgnored(t *testing.T) {
	for name, value := range map[string]any{
		"a text": "hello", "a number": 5.0, "an object": `{"role":"user","content":"x"}`, "a list of numbers": `[1,2]`, "a list of lists": `[[[]]]`,
		"a role that is a number": `[{"role":5,"content":"x"}]`, "a content that is a number": `[{"role":"user","content":5}]`,
		"half of a list": `[{"role":"user","content":"x"}`, "an unknown role": `[{"role":"moderator","content":"x"}]`, "bytes": []byte("[]"),
	} {
		t.Run(name, func(t *testing.T) {
			check(t, talk(t, traces(t, given{id: 2, parent: 1, name: "chat", start: 1, end: 2, attributes: kv{
				"gen_ai.operation.name": "chat", "gen_ai.input.messages": value, "events": value,
			}})))
		})
	}
}

// TestALongHistoryIsStoredOnce reads 50 calls, each with a history of up to 1 MB. What is kept grows with the conversation.
func TestALongHistoryIsStoredOnce(t *testing.T) {
	const calls, size = 50, 20 << 10
	read, stored := 0, 0
	var history []any
	for i := range calls {
		history = append(history, kv{"role": "user", "content": fmt.Sprint(i) + strings.Repeat(" word", size/5)})
		td := traces(t, given{id: byte(i + 2), parent: 1, name: "chat", start: int64(i + 1), end: int64(i + 2), attributes: kv{
			"gen_ai.operation.name": "chat", "gen_ai.input.messages": inJSON(history),
		}})
		spans, _, _ := allSpans(td)
		read += len(inJSON(history))
		stored += len(spans[0].Messages)
		history = append(history, kv{"role": "assistant", "content": "yes"})
	}
	if read < 25_000_000 || stored > calls*(size+1024) {
		t.Errorf("of %d bytes, %d are kept", read, stored)
	}
}

func TestLongTextsAreShortened(t *testing.T) {
	long := strings.Repeat("word ", trace.MaxText)
	td := traces(t, chat(2, 1, long, long))
	spans, _, _ := allSpans(td)
	if n := len(spans[0].Messages); n < 2*trace.MaxText-100 || n > 3*trace.MaxText {
		t.Errorf("%d bytes are kept", n)
	}
	many := kv{"gen_ai.operation.name": "chat", "gen_ai.input.messages": inJSON(func() (all []any) {
		for i := range 1000 {
			all = append(all, kv{"role": "user", "content": fmt.Sprint(i)})
		}
		return all
	}())}
	lines := talk(t, traces(t, given{id: 2, parent: 1, name: "chat", start: 1, end: 2, attributes: many}))
	if len(lines) != trace.MaxInput || lines[len(lines)-1] != "02.input255 user: 999" || lines[0] != "02.input0 user: 744" {
		t.Errorf("%d messages, from %s to %s", len(lines), lines[0], lines[len(lines)-1])
	}
}

func TestMessagesOfOneCallInTwoSpansCountOnce(t *testing.T) {
	inner := chat(3, 1, "b", "a")
	inner.parent = 2
	check(t, talk(t, traces(t, chat(2, 1, "b", "a"), inner)), "02.input0 user: a", "02.answer assistant: b")
	outer := given{id: 2, parent: 1, name: "chat", start: 1, end: 3, attributes: kv{"gen_ai.operation.name": "chat"}}
	check(t, talk(t, traces(t, inner, outer)), "02.input0 user: a", "02.answer assistant: b")
}

func TestTheFirstMessagesOfAListOfAttributesMayBeMissing(t *testing.T) {
	check(t, talk(t, traces(t, chat(2, 1, "b", "a"), given{id: 3, parent: 1, name: "chat", start: 5, end: 6, attributes: kv{
		"openinference.span.kind": "LLM", "llm.input_messages.40.message.content": "its role is missing",
		"llm.input_messages.41.message.role": "assistant", "llm.input_messages.41.message.content": "b",
		"llm.input_messages.42.message.role": "user", "llm.input_messages.42.message.content": "c",
		"llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.content": "d",
	}})), "02.input0 user: a", "02.answer assistant: b", "03.input0 user: c", "03.answer assistant: d")
}

func TestMessagesOfProgramsThatLogThemAreNotRead(t *testing.T) {
	gemini, claude := chat(2, 1, "b", "a"), chat(3, 5, "d", "c")
	gemini.scope, claude.name = "gemini-cli", "claude_code.llm_request"
	check(t, talk(t, traces(t, gemini, claude)))
}

func TestInvalidTextsInMessagesAreReplaced(t *testing.T) {
	v := pcommon.NewValueStr("[{\"role\":\"user\",\"content\":\"a\xffb\"}]")
	messages := messagesIn(listOf(v))
	if diff := cmp.Diff("a\ufffdb", messages[0].words()); diff != "" {
		t.Error(diff)
	}
}
