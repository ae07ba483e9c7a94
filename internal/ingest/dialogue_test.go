package ingest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

// told returns what Dialogues hands over of an input: "run:index text" for each message, and what was warned of.
func told(input string, replies int) (messages, warnings []string, err error) {
	emit := func(e *unloop.Event) error {
		messages = append(messages, fmt.Sprintf("%s:%d %s", e.RunID, e.Index, e.Text))
		return nil
	}
	in := ingest.NewInput("input", "in", strings.NewReader(input))
	in.Warn = func(b *ingest.BadInput) { warnings = append(warnings, b.Error()) }
	err = in.Dialogues(emit, func(d *ingest.Dialogue) (int, error) {
		for i := d.Emitted; i < len(d.Messages); i++ {
			var m ingest.ChatMessage
			if err := d.Message(i, &m); err != nil {
				return i, err
			}
			if err := d.Builder.Chat(ingest.Location{Index: i}, &m); err != nil {
				return i, err
			}
		}
		return len(d.Messages) + replies, nil
	})
	return messages, warnings, err
}

// says returns messages as JSON: "u" and a text is the user's, all else the assistant's.
func says(texts ...string) string {
	var list []string
	for _, text := range texts {
		role := "assistant"
		if strings.HasPrefix(text, "u") {
			role = "user"
		}
		list = append(list, fmt.Sprintf(`{"role":%q,"content":%q}`, role, text))
	}
	return "[" + strings.Join(list, ",") + "]"
}

func record(more string, texts ...string) string {
	return fmt.Sprintf(`{%s"messages":%s}`, more, says(texts...))
}

func TestDialogueShapes(t *testing.T) {
	want := []string{"in:0 u1", "in:1 a1"}
	for name, input := range map[string]string{
		"a list of messages":             says("u1", "a1"),
		"a list on lines of its own":     strings.ReplaceAll(says("u1", "a1"), ",", ",\n"),
		"an object with messages":        record("", "u1", "a1"),
		"an object over several lines":   strings.ReplaceAll(record(`"model":"m",`, "u1", "a1"), ",", ",\n  "),
		"a list of objects":              "[" + record("", "u1", "a1") + "]",
		"a list of lists":                "[" + says("u1", "a1") + "]",
		"a request":                      `{"request":` + record("", "u1", "a1") + "}",
		"a request's body":               `{"ts":1,"request":{"url":"/v1","body":` + record("", "u1", "a1") + "}}",
		"a body":                         `{"body":` + record("", "u1", "a1") + "}",
		"lines without messages between": `{"x":1}` + "\n\n" + record("", "u1", "a1") + "\n" + `{"messages":null}` + "\n[]\n",
		"no line end":                    `{"x":1}` + "\n" + record("", "u1", "a1"),
		"a request that is only a text":  record(`"request":"POST /v1","id":7,`, "u1", "a1"),
		"a first line longer than a look ahead": fmt.Sprintf(`{"pad":%q}`, strings.Repeat("x", 70<<10)) + "\n" +
			record("", "u1", "a1") + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := told(input, 0)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestDialogueRuns(t *testing.T) {
	for name, tc := range map[string]struct {
		records []string
		replies int // in each record, behind its messages
		want    []string
	}{
		"the ids are the records'": {
			records: []string{
				record(`"id":"x",`, "u1"), record(`"id":"x","conversation_id":"y",`, "u2"),
				record(`"conversation_id":"y","run_id":"z",`, "u3"),
			},
			want: []string{"x:0 u1", "y:0 u2", "z:0 u3"},
		},
		"a record without an id is numbered": {
			records: []string{record("", "u1"), record(`"id":"x",`, "u2"), record(`"id":9,`, "u3")},
			want:    []string{"in:0 u1", "x:0 u2", "in#3:0 u3"},
		},
		"a growing conversation is one run": {
			records: []string{record("", "u1"), record("", "u1", "a1", "u2"), record("", "u1", "a1", "u2", "a2")},
			want:    []string{"in:0 u1", "in:1 a1", "in:2 u2", "in:3 a2"},
		},
		"a reply that was told is not told again": {
			records: []string{record("", "u1"), record("", "u1", "a1", "u2"), record("", "u1", "a1", "u2", "a2", "u3")},
			replies: 1,
			want:    []string{"in:0 u1", "in:2 u2", "in:4 u3"},
		},
		"ids of requests do not part a conversation": {
			records: []string{record(`"id":"q1",`, "u1"), record(`"id":"q2",`, "u1", "a1")},
			want:    []string{"q1:0 u1", "q1:1 a1"},
		},
		"ids of conversations part them": {
			records: []string{record(`"conversation_id":"x",`, "u1"), record(`"conversation_id":"y",`, "u1", "a1")},
			want:    []string{"x:0 u1", "y:0 u1", "y:1 a1"},
		},
		"white space does not part a conversation": {
			records: []string{record("", "u1"), strings.ReplaceAll(record("", "u1", "a1"), `:"`, `: "`)},
			want:    []string{"in:0 u1", "in:1 a1"},
		},
		"a cache mark that moves does not part a conversation": {
			records: []string{
				`[{"role":"user","content":[{"type":"text","text":"u1","cache_control":{"type":"ephemeral"}}]}]`,
				`[{"role":"user","content":[{"type":"text","text":"u1"}]},{"role":"assistant","content":"a1"}]`,
			},
			want: []string{"in:0 u1", "in:1 a1"},
		},
		"a conversation that was rewritten is another run": {
			records: []string{record("", "u1", "a1"), record("", "u1 again", "a1", "u2")},
			want:    []string{"in:0 u1", "in:1 a1", "in#2:0 u1 again", "in#2:1 a1", "in#2:2 u2"},
		},
		"a shorter conversation is another run": {
			records: []string{record("", "u1", "a1"), record("", "u1")},
			want:    []string{"in:0 u1", "in:1 a1", "in#2:0 u1"},
		},
		"the same conversation twice is two runs": {
			records: []string{record("", "u1"), record("", "u1")},
			want:    []string{"in:0 u1", "in#2:0 u1"},
		},
		"the same request twice is a retry": {
			records: []string{record(`"id":"q1",`, "u1"), record(`"id":"q2",`, "u1", "a1"), record(`"id":"q2",`, "u1", "a1")},
			replies: 1,
			want:    []string{"q1:0 u1"},
		},
		"one id for two conversations is told apart": {
			records: []string{record(`"run_id":"x",`, "u1"), record(`"run_id":"x",`, "u2")},
			want:    []string{"x:0 u1", "x#2:0 u2"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := told(strings.Join(tc.records, "\n")+"\n", tc.replies)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestDialogueMistakes(t *testing.T) {
	good := record("", "u1") + "\n"
	for name, tc := range map[string]struct{ input, want string }{
		"a message that is a text":     {good + `{"messages":[{"role":"user"},"hello"]}` + "\n", "input:2: messages.1: a JSON string does not fit here, want an object"},
		"a role that is a number":      {good + `{"messages":[{"role":1}]}` + "\n", "input:2: messages.0.role: a JSON number does not fit here, want a string"},
		"messages that are no list":    {good + `{"request":{"messages":{}}}` + "\n", "input:2: request.messages: a JSON object does not fit here, want an array"},
		"a message of a listed record": {`[{"messages":[{"role":[]}]}]`, "input:1: 0.messages.0.role: a JSON array does not fit here, want a string"},
		"a message of a bare list":     {`[{"role":"user"},{"role":true}]`, "input:1: 1.role: a JSON true does not fit here, want a string"},
		"a line that is a number":      {good + "7\n", "input:2: a JSON number does not fit here, want an object"},
		"a line that is cut":           {good + `{"messages":[` + "\n" + good, "input:2: messages: not valid JSON at byte 13: unexpected EOF"},
		"a document that is cut":       {"{\n" + `"messages":[`, "input: messages: not valid JSON at byte 14: unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := told(tc.input, 0)
			var bad *ingest.BadInput
			if !errors.As(err, &bad) {
				t.Fatalf("got %v, want a BadInput", err)
			}
			if diff := cmp.Diff(tc.want, bad.Error()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	t.Run("a last line that is cut is warned of", func(t *testing.T) {
		messages, warnings, err := told(good+`{"messages":[{"role":"us`, 0)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"in:0 u1"}, messages); diff != "" {
			t.Errorf("messages (-want +got):\n%s", diff)
		}
		want := []string{"input:2: the last line is cut; the events before it were read"}
		if diff := cmp.Diff(want, warnings); diff != "" {
			t.Errorf("warnings (-want +got):\n%s", diff)
		}
	})
}

func TestDialectOf(t *testing.T) {
	for name, tc := range map[string]struct {
		head string
		want ingest.Dialect
	}{
		"mere texts":                     {`[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]`, ingest.OpenAI},
		"mere texts in a record":         {`{"model":"m","messages":[{"role":"user","content":"hi"}]}`, ingest.OpenAI},
		"mere texts, cut":                {`{"messages":[{"role":"system","content":"You are a very lo`, ingest.OpenAI},
		"tool calls":                     {`[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[`, ingest.OpenAI},
		"a tool's answer":                {`[{"role":"tool","content":"x"}]`, ingest.OpenAI},
		"tool calls in a second line":    {`{"messages":[{"role":"user","content":"hi"}]}` + "\n" + `{"messages":[{"role":"assistant","function_call":{`, ingest.OpenAI},
		"a list of records":              {`[{"id":"1","messages":[{"content":"hi","role":"user"}]}]`, ingest.OpenAI},
		"a list of lists":                {`[[{"content":"hi","role":"user"}]]`, ingest.OpenAI},
		"a request in a record":          {`{"request":{"body":{"messages":[{"role":"user","content":[{"type":"image_url"`, ingest.OpenAI},
		"a text that speaks of tool_use": {`[{"role":"user","content":"{\"type\":\"tool_use\"}"}]`, ingest.OpenAI},
		"arguments that look like one":   {`[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[{"function":{"arguments":{"content":[{"type":"tool_use"}]}}}]}]`, ingest.OpenAI},

		"tool use":                     {`[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id"`, ingest.Anthropic},
		"a tool result":                {`{"messages":[{"role":"user","content":[{"tool_use_id":"t","type":"tool_result"}]}]}`, ingest.Anthropic},
		"thinking":                     {`{"request":{"messages":[{"role":"assistant","content":[{"type":"thinking"`, ingest.Anthropic},
		"the API's own search":         {`[{"role":"assistant","content":[{"type":"web_search_tool_result"}]}]`, ingest.Anthropic},
		"a system prompt beside":       {`{"system":"You are.","messages":[{"role":"user","content":"hi"}]}`, ingest.Anthropic},
		"a system prompt in a request": {`{"request":{"system":[],"messages":[{"role":"user","content":"hi"}]}}`, ingest.Anthropic},
		"a tool named system":          {`{"tools":[{"function":{"parameters":{"system":1}}}],"messages":[{"role":"user","content":"hi"}]}`, ingest.OpenAI},
		"a member named system":        {`{"messages":[{"role":"user","content":"hi","meta":{"system":1}}]}`, ingest.OpenAI},

		"an event of unloop's own":    {`{"event_id":"e","run_id":"r","type":"message","role":"user","text":"hi","content":"x"}`, ingest.NoDialect},
		"a labelled run":              {`{"id":"r","source":"s","labels":{},"events":[{"kind":"message","role":"user","content":"hi"}]}`, ingest.NoDialect},
		"a Claude Code session":       {`{"type":"user","message":{"role":"user","content":[{"type":"tool_result"}]},"uuid":"u"}`, ingest.NoDialect},
		"headless Claude Code":        {`{"type":"system","subtype":"init","tools":[]}` + "\n" + `{"type":"assistant","message":{"role":"assistant","content":[]}}`, ingest.NoDialect},
		"a Codex rollout":             {`{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","content":[]}}`, ingest.NoDialect},
		"a Gemini chat":               {`{"sessionId":"s","messages":[{"id":"1","type":"user","content":"hi"}]}`, ingest.NoDialect},
		"a SWE-agent trajectory":      {`{"trajectory":[{"action":"ls"}],"history":[{"role":"user","content":"hi"}]}`, ingest.NoDialect},
		"a mini-swe-agent trajectory": {`{"info":{"exit_status":"Submitted"},"messages":[{"role":"user","content":"hi"}]}`, ingest.NoDialect},
		"one whose info comes last":   {`{"messages":[{"role":"user","content":"hi"}],"trajectory_format":"mini-swe-agent-1","info":{}}`, ingest.NoDialect},
		"an ATIF trajectory":          {`{"schema_version":"ATIF-v1.7","steps":[{"source":"user","message":"hi"}]}`, ingest.NoDialect},
		"tau-bench results":           {`[{"task_id":0,"reward":1,"traj":[{"role":"user","content":"hi"}]}]`, ingest.NoDialect},
		"OTLP":                        {`{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[{"key":"role","value":{}}]}]}]}]}`, ingest.NoDialect},
		"people with roles":           {`[{"role":"admin","content":"x"}]`, ingest.NoDialect},
		"roles without content":       {`[{"role":"user","parts":[]}]`, ingest.NoDialect},
		"a conversation in line two":  {`{"a":1}` + "\n" + `[{"role":"user","content":"hi"}]`, ingest.NoDialect},
		"no JSON":                     {`role,content`, ingest.NoDialect},
		"nothing":                     {``, ingest.NoDialect},
		"brackets without end":        {strings.Repeat("[", 64<<10), ingest.NoDialect},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ingest.DialectOf([]byte(tc.head)); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}
