package scan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/profile"
)

// said is a message of a conversation: of the user, or of the assistant, who may call a tool that answers.
type said struct{ role, text, tool, args, result string }

// openAI returns the conversation as messages of OpenAI.
func openAI(t *testing.T, conversation []said) string {
	t.Helper()
	var messages []any
	for i, m := range conversation {
		if m.tool == "" {
			messages = append(messages, map[string]any{"role": m.role, "content": m.text})
			continue
		}
		id := fmt.Sprint("call", i)
		call := map[string]any{"id": id, "type": "function", "function": map[string]any{"name": m.tool, "arguments": m.args}}
		messages = append(messages, map[string]any{"role": "assistant", "content": m.text, "tool_calls": []any{call}},
			map[string]any{"role": "tool", "tool_call_id": id, "content": m.result})
	}
	return asJSON(t, messages)
}

// genAISpans returns the conversation as spans of the GenAI conventions. Each message of the user begins a trace.
func genAISpans(t *testing.T, conversation []said) string {
	t.Helper()
	var spans, history []any
	trace, at := 0, 1_700_000_000
	parts := func(role string, parts ...any) any { return map[string]any{"role": role, "parts": parts} }
	add := func(name string, attributes map[string]string) {
		at++
		spans = append(spans, otlpSpan(trace, len(spans)+1, at, name, attributes))
	}
	for i, m := range conversation {
		words := map[string]any{"type": "text", "content": m.text}
		if m.role != "assistant" {
			if m.role == "user" {
				trace++
			}
			history = append(history, parts(m.role, words))
			continue
		}
		id := fmt.Sprint("call", i)
		answer := parts("assistant", words)
		if m.tool != "" {
			answer = parts("assistant", words, map[string]any{"type": "tool_call", "id": id, "name": m.tool, "arguments": m.args})
		}
		add("chat m", map[string]string{
			"gen_ai.operation.name": "chat", "gen_ai.request.model": "m",
			"gen_ai.input.messages": asJSON(t, history), "gen_ai.output.messages": asJSON(t, []any{answer}),
		})
		history = append(history, answer)
		if m.tool != "" {
			add("execute_tool "+m.tool, map[string]string{
				"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": m.tool, "gen_ai.tool.call.id": id,
				"gen_ai.tool.call.arguments": m.args, "gen_ai.tool.call.result": m.result,
			})
			history = append(history, parts("tool", map[string]any{"type": "tool_call_response", "id": id, "response": m.result}))
		}
	}
	return asJSON(t, map[string]any{"resourceSpans": []any{map[string]any{"scopeSpans": []any{map[string]any{"spans": spans}}}}})
}

// otlpSpan returns a span of half a second below an unknown parent.
func otlpSpan(trace, id, at int, name string, attributes map[string]string) any {
	attributes["gen_ai.conversation.id"] = "conversation"
	var list []any
	for key, value := range attributes {
		list = append(list, map[string]any{"key": key, "value": map[string]any{"stringValue": value}})
	}
	return map[string]any{
		"traceId": fmt.Sprintf("%032x", trace), "spanId": fmt.Sprintf("%016x", id), "parentSpanId": "00000000000000ff", "name": name,
		"startTimeUnixNano": fmt.Sprintf("%d000000000", at), "endTimeUnixNano": fmt.Sprintf("%d500000000", at), "attributes": list,
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// conversations are a stuck agent of two kinds, and honest work.
func conversations() map[string][]said {
	user := func(text string) said { return said{role: "user", text: text} }
	says := func(text string) said { return said{role: "assistant", text: text} }
	call := func(text, tool, args, result string) said { return said{"assistant", text, tool, args, result} }
	stuck := []said{{role: "system", text: "You are a clerk."}, user("When does order 31 arrive?")}
	talk := slices.Clone(stuck)
	for range 7 {
		stuck = append(stuck, call("I will look that up.", "find_order", `{"order":31}`, "Order 31 is on its way."))
		talk = append(talk, says("I am sorry, I cannot find your order. Could you please give me the number of your order, so that I can look it up?"),
			user("It is order 31, as I said."))
	}
	honest := []said{{role: "system", text: "You are a clerk."}}
	for i, city := range []string{"Oslo", "Lima", "Cairo", "Quito", "Hanoi"} {
		honest = append(honest, user("How many shops are in "+city+"?"),
			call("", "count_shops", `{"city":"`+city+`"}`, fmt.Sprintf("%d shops in %s", 17*i+3, city)),
			says(fmt.Sprintf("%s has %d shops.", city, 17*i+3)))
	}
	return map[string][]said{"a repeated call": append(stuck, says("I give up.")), "a repeated answer": append(talk, says("I am sorry.")), "honest": honest}
}

func TestAConversationInSpansHasTheVerdictOfItsMessages(t *testing.T) {
	judge := func(t *testing.T, profileName, name, text string) []string {
		t.Helper()
		p, err := profile.New(profileName)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, r := range scanAll(t, p, name, []byte(text)) {
			all = append(all, fmt.Sprintf("%d steps, %s", r.Steps, r.Worst()))
			for _, w := range r.Warnings {
				all = append(all, fmt.Sprintf("%s %s %d", w.Rule, w.Subject, w.Count))
			}
		}
		return all
	}
	for name, conversation := range conversations() {
		for _, profileName := range []string{profile.Default, "attocode", "loopguard"} {
			t.Run(name+", "+profileName, func(t *testing.T) {
				want := judge(t, profileName, "messages.json", openAI(t, conversation))
				if diff := cmp.Diff(want, judge(t, profileName, "spans.json", genAISpans(t, conversation))); diff != "" {
					t.Errorf("-messages +spans:\n%s", diff)
				}
				if quiet := len(want) == 1; profileName == profile.Default && quiet != (name == "honest") {
					t.Errorf("the verdict is %s", strings.Join(want, ", "))
				}
			})
		}
	}
}
