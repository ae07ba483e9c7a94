package gemini

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/ingest/ingesttest"
)

func TestGolden(t *testing.T) {
	ingesttest.Golden(t, Format(), "*.jsonl")
	ingesttest.Golden(t, Format(), "*.json")
}

func FuzzDecode(f *testing.F) {
	ingesttest.Fuzz(f, Format(), "*.json*")
}

// brief tells an event in a line, with what these tests are about.
func brief(e *unloop.Event) string {
	s := fmt.Sprintf("%d %s", e.Index, e.Type)
	for _, part := range []string{e.Tool, e.CallID, e.Role, e.Text, string(e.Output), string(e.Error)} {
		if part != "" {
			s += " " + part
		}
	}
	if e.Tokens != 0 {
		s += fmt.Sprintf(" %d tokens", e.Tokens)
	}
	return s
}

func play(t *testing.T, data string) []string {
	t.Helper()
	events, _, err := ingesttest.Decode(Format(), []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range events {
		got = append(got, brief(e))
	}
	return got
}

func TestRecords(t *testing.T) {
	const (
		meta = `{"sessionId":"s","projectHash":"h"}`
		a    = `{"id":"a","type":"user","content":"first"}`
		b    = `{"id":"b","type":"user","content":"second"}`
		c    = `{"id":"c","type":"user","content":"third"}`
	)
	tests := []struct {
		name  string
		lines []string
		want  []string
	}{
		{"a rewritten record counts once, with its last content at its first place", []string{
			meta, a, b, `{"id":"a","type":"user","content":"first, better"}`,
		}, []string{"1 message user first, better", "2 message user second"}},
		{"records without an id are no doubles", []string{
			`{"messages":[{"type":"user","content":"x"},{"type":"user","content":"x"}]}`,
		}, []string{"0 message user x", "1 message user x"}},
		{"a rewind takes back the record and what came after it", []string{
			meta, a, b, c, `{"$rewindTo":"b"}`, `{"id":"d","type":"user","content":"fourth"}`,
		}, []string{"1 message user first", "5 message user fourth"}},
		{"a rewind to an unknown record takes back all", []string{
			meta, a, b, `{"$rewindTo":"z"}`, c,
		}, []string{"4 message user third"}},
		{"a record that was taken back may come again", []string{
			meta, a, b, `{"$rewindTo":"a"}`, b,
		}, []string{"4 message user second"}},
		{"changed metadata is not told, nor the messages in it", []string{
			meta, a, `{"$set":{"sessionId":"t","messages":[{"id":"a","type":"user","content":"compressed"}]}}`,
		}, []string{"1 message user first"}},
		{"thoughts are no message", []string{
			`{"id":"a","type":"gemini","content":[{"text":"hm","thought":true},{"text":"yes"},{"functionCall":{}}],"thoughts":[{"subject":"x"}]}`,
			`{"id":"b","type":"gemini","content":[{"text":"hm","thought":true}]}`,
			`{"id":"c","type":"user","content":{"text":"one part"}}`,
		}, []string{"0 message assistant yes", "2 message user one part"}},
		{"infos, warnings and errors are skipped", []string{
			`{"id":"a","type":"info","content":"x"}`, `{"id":"b","type":"warning","content":"x"}`,
			`{"id":"c","type":"error","content":"x"}`, `{"id":"d","content":"x"}`, `{}`,
		}, nil},
		{"tokens are the total, or else the sum", []string{
			`{"id":"a","type":"gemini","tokens":{"input":10,"output":2,"cached":8,"total":13}}`,
			`{"id":"b","type":"gemini","tokens":{"input":10,"output":2,"cached":8,"thoughts":4,"tool":1}}`,
			`{"id":"c","type":"gemini","model":"g","tokens":null}`,
		}, []string{
			"0 llm_call_started", "0 llm_call_completed 13 tokens", "1 llm_call_started", "1 llm_call_completed 17 tokens",
			"2 llm_call_started", "2 llm_call_completed",
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, play(t, strings.Join(test.lines, "\n"))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestCalls(t *testing.T) {
	const started = "0 tool_call_started f 1"
	tests := []struct {
		name, call string // the rest of the call
		want       []string
	}{
		{
			"an output", `"status":"success","result":[{"functionResponse":{"response":{"output":"ok"}}}]`,
			[]string{`0 tool_call_completed f 1 "ok"`},
		},
		{
			"a response of another shape is the output", `"status":"success","result":[{"functionResponse":{"response":{"rows":[]}}}]`,
			[]string{`0 tool_call_completed f 1 {"rows":[]}`},
		},
		{
			"a part before the response", `"status":"success","result":[{"text":"x"},{"functionResponse":{"response":{"output":""}}}]`,
			[]string{`0 tool_call_completed f 1 ""`},
		},
		{
			"parts without a response are the output", `"status":"success","result":[{"inlineData":{}}]`,
			[]string{`0 tool_call_completed f 1 [{"inlineData":{}}]`},
		},
		{"a text is the output", `"status":"success","result":"ok"`, []string{`0 tool_call_completed f 1 "ok"`}},
		{
			"an error is kept and told", `"status":"error","result":[{"functionResponse":{"response":{"error":"no"}}}]`,
			[]string{`0 tool_call_failed f 1 "no" "no"`},
		},
		{
			"an error that is an object", `"status":"error","result":[{"functionResponse":{"response":{"error":{"code":5}}}}]`,
			[]string{`0 tool_call_failed f 1 {"code":5} "{\"code\":5}"`},
		},
		{
			"a null error is no error", `"status":"success","result":[{"functionResponse":{"response":{"error":null}}}]`,
			[]string{`0 tool_call_completed f 1 {"error":null}`},
		},
		{
			"a failure with an output", `"status":"error","result":[{"functionResponse":{"response":{"output":"half"}}}]`,
			[]string{`0 tool_call_failed f 1 "half"`},
		},
		{"a failure without a result", `"status":"error"`, []string{`0 tool_call_failed f 1`}},
		{"cancelled without a word", `"status":"cancelled","result":null`, []string{`0 tool_call_failed f 1 "cancelled"`}},
		{"a call that still runs has no outcome", `"status":"executing","result":[{"functionResponse":{"response":{"output":"half"}}}]`, nil},
		{"a call without status and result has none either", `"x":1`, nil},
		{
			"a result without a status is an outcome", `"result":[{"functionResponse":{"response":{"output":"ok"}}}]`,
			[]string{`0 tool_call_completed f 1 "ok"`},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := play(t, `{"id":"a","type":"gemini","toolCalls":[{"id":"1","name":"f",`+test.call+`}]}`)
			if diff := cmp.Diff(append([]string{started}, test.want...), got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	t.Run("each call is followed by its own result", func(t *testing.T) {
		want := []string{started, `0 tool_call_completed f 1 "x"`, "0 tool_call_started f 2", `0 tool_call_completed f 2 "y"`}
		got := play(t, `{"id":"a","type":"gemini","toolCalls":[{"id":"1","name":"f","status":"success","result":"x"},`+
			`{"id":"2","name":"f","status":"success","result":"y"}]}`)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

func TestARecordSurvivesItsLine(t *testing.T) {
	filler := "\n" + `{"$set":{"summary":"` + strings.Repeat("x", 100_000) + `"}}`
	want := []string{"0 message assistant held", "0 tool_call_started f 1", `0 tool_call_completed f 1 {"held":1}`}
	got := play(t, `{"id":"a","type":"gemini","content":[{"text":"held"}],"toolCalls":[{"id":"1","name":"f","result":`+
		`[{"functionResponse":{"response":{"held":1}}}]}]}`+filler+filler)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestRun(t *testing.T) {
	for data, want := range map[string]string{
		`{"sessionId":"s"}` + "\n" + `{"id":"a","type":"user","content":"x"}`:                                        "s",
		`{"id":"a","type":"user","content":"x"}`:                                                                     "run",
		`{"sessionId":"s","messages":[{"id":"a","type":"user","content":1},{"id":"b","type":"user","content":"x"}]}`: "s",
	} {
		events, _, err := ingesttest.Decode(Format(), []byte(data))
		if err != nil || len(events) != 1 || events[0].RunID != want {
			t.Errorf("%s: %v, %v, want one event of run %s", data, events, err, want)
		}
	}
}

func TestBadInput(t *testing.T) {
	tests := []struct {
		name, data, want string
	}{
		{"a line that is no object", "{}\n7\n", "input:2: a JSON number does not fit here, want an object"},
		{"an id that is no string", `{"id":7}` + "\n", "input:1: id: a JSON number does not fit here, want a string"},
		{"calls that are no list", `{"id":"a","toolCalls":{}}` + "\n", "input:1: toolCalls: a JSON object does not fit here, want an array"},
		{"a call's name", `{"id":"a","toolCalls":[{},{"name":7}]}` + "\n", "input:1: toolCalls.1.name: a JSON number does not fit here, want a string"},
		{"a message in a document", `{"messages":[{},{"tokens":{"input":"9"}}]}`, "input: messages.1.tokens.input: a JSON string does not fit here, want a whole number"},
		{"a document that ends too early", `{"messages":[{}`, "input: messages: not valid JSON at byte 15: unexpected EOF"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			events, _, err := ingesttest.Decode(Format(), []byte(test.data))
			var bad *ingest.BadInput
			if !errors.As(err, &bad) {
				t.Fatalf("got %v, want a BadInput", err)
			}
			if bad.Error() != test.want {
				t.Errorf("got %q, want %q", bad, test.want)
			}
			if len(events) > 0 {
				t.Errorf("%d events before the error", len(events))
			}
		})
	}
	t.Run("a cut last line is a warning, and complete records are sent", func(t *testing.T) {
		events, warnings, err := ingesttest.Decode(Format(), []byte(`{"id":"a","type":"user","content":"x"}`+"\n"+`{"id":"b`))
		if err != nil || len(events) != 1 || len(warnings) != 1 {
			t.Errorf("%d events, warnings %v, error %v", len(events), warnings, err)
		}
	})
}

func TestSniff(t *testing.T) {
	tests := []struct {
		name, head string
		want       bool
	}{
		{"a chat", `{"sessionId":"s","projectHash":"h","startTime":"t"}` + "\n", true},
		{"a document that is cut", `{"sessionId":"s","projectHash":"h","messages":[{"id":"a","con`, true},
		{"a Claude Code session", `{"type":"user","uuid":"u","sessionId":"s","message":{}}`, false},
		{"a session without a project", `{"sessionId":"s","messages":[]}`, false},
		{"a log of prompts", `[{"sessionId":"s","projectHash":"h","messageId":0,"type":"user","message":"x"}]`, false},
		{"native events", `{"event_id":"e","run_id":"r","type":"tool_call_started"}`, false},
		{"an ATIF trajectory", `{"schema_version":"ATIF-v1.7","session_id":"s","agent":{},"steps":[]}`, false},
		{"nothing", "", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := sniff([]byte(test.head)); got != test.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestAResultOmitsTheNumberOfTheProcessGroup(t *testing.T) {
	for response, want := range map[string]string{
		`{"output":"Output: a\nExit Code: 1\nProcess Group PGID: 77"}`: `"Output: a\nExit Code: 1"`,
		`{"output":"<x>\nOutput: a\nProcess Group PGID: 1456\n</x>"}`:  `"<x>\nOutput: a\n</x>"`,
		`{"output":"Process Group PGID: none"}`:                        `"Process Group PGID: none"`,
		`{"output":{"text":"\nProcess Group PGID: 77"}}`:               `{"text":"\nProcess Group PGID: 77"}`,
	} {
		if got, reason := Respond(jsontext.Value(response)); string(got) != want || reason != "" {
			t.Errorf("%s gives %s, %q", response, got, reason)
		}
	}
}
