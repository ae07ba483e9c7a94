package claudecode

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/ingest/ingesttest"
)

func TestGolden(t *testing.T) {
	ingesttest.Golden(t, Sessions(), "session*.jsonl")
	ingesttest.Golden(t, Stream(), "stream*.jsonl")
}

func FuzzDecode(f *testing.F) {
	format := Sessions()
	format.Sniff = func(head []byte) bool { return sniffSession(head) || sniffStream(head) }
	ingesttest.Fuzz(f, format, "*.jsonl")
}

// brief tells an event in a line, with what these tests are about.
func brief(e *unloop.Event) string {
	s := fmt.Sprintf("%d %s", e.Index, e.Type)
	for _, part := range []string{
		e.Agent, e.Tool, e.CallID, e.Role, e.Text, string(e.Output), string(e.Error), e.Status,
	} {
		if part != "" {
			s += " " + part
		}
	}
	if e.Tokens != 0 {
		s += fmt.Sprintf(" %d tokens", e.Tokens)
	}
	if e.Cost != 0 {
		s += fmt.Sprintf(" $%.2f", e.Cost)
	}
	return s
}

func play(t *testing.T, lines ...string) []string {
	t.Helper()
	events, warnings, err := ingesttest.Decode(Sessions(), []byte(strings.Join(lines, "\n")+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(warnings) > 0 {
		t.Errorf("warned: %v", warnings)
	}
	var got []string
	for _, e := range events {
		got = append(got, brief(e))
	}
	return got
}

func TestMessages(t *testing.T) {
	tests := []struct {
		name  string
		lines []string
		want  []string
	}{
		{"a usage that grows over a message's lines adds up to the largest", []string{
			`{"type":"assistant","uuid":"1","message":{"id":"m","model":"s","usage":{"input_tokens":10,"output_tokens":1}}}`,
			`{"type":"assistant","uuid":"2","message":{"id":"m","model":"s","usage":{"input_tokens":10,"output_tokens":1}}}`,
			`{"type":"assistant","uuid":"3","message":{"id":"m","model":"s","usage":{"input_tokens":10,"output_tokens":30}}}`,
		}, []string{"0 llm_call_started", "0 llm_call_completed 11 tokens", "2 llm_call_completed 29 tokens"}},
		{"a line that tells less takes nothing away", []string{
			`{"type":"assistant","uuid":"1","message":{"id":"m","model":"s","usage":{"output_tokens":30}}}`,
			`{"type":"assistant","uuid":"2","message":{"id":"m","model":"s","usage":{"output_tokens":4}}}`,
			`{"type":"assistant","uuid":"3","message":{"id":"m","model":"s","usage":{"output_tokens":30}}}`,
		}, []string{"0 llm_call_started", "0 llm_call_completed 30 tokens"}},
		{"messages without an id are a call each", []string{
			`{"type":"assistant","uuid":"1","message":{"usage":{"output_tokens":3}},"costUSD":0.5}`,
			`{"type":"assistant","uuid":"2","message":{"usage":{"output_tokens":3}}}`,
		}, []string{
			"0 llm_call_started", "0 llm_call_completed 3 tokens $0.50",
			"1 llm_call_started", "1 llm_call_completed 3 tokens",
		}},
		{"a doubled uuid counts once", []string{
			`{"type":"user","uuid":"1","message":{"role":"user","content":"go"}}`,
			`{"type":"user","uuid":"1","message":{"role":"user","content":"go"}}`,
		}, []string{"0 message user go"}},
		{"a call that comes twice under one id before its result is one call", []string{
			`{"type":"assistant","uuid":"1","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}]}}`,
			`{"type":"assistant","uuid":"2","message":{"id":"n","content":[{"type":"tool_use","id":"t","name":"Bash","input":{}},{"type":"tool_use","id":"u","name":"Read","input":{}}]}}`,
			`{"type":"user","uuid":"3","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"4"}]}}`,
			`{"type":"assistant","uuid":"4","message":{"id":"o","content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}]}}`,
		}, []string{"0 tool_call_started Bash t", "1 tool_call_started Read u", `2 tool_call_completed t "4"`, "3 tool_call_started Bash t"}},
		{"lines without a uuid are no double", []string{
			`{"type":"user","message":{"role":"user","content":"go"}}`,
			`{"type":"user","message":{"role":"user","content":"go"}}`,
		}, []string{"0 message user go", "1 message user go"}},
		{"a result is no user message, and its mirror is not read", []string{
			`{"type":"user","uuid":"1","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"4"}]},"toolUseResult":{"stdout":"4"}}`,
		}, []string{`0 tool_call_completed t "4"`}},
		{"a text beside a result comes after it", []string{
			`{"type":"user","uuid":"1","message":{"content":[{"type":"text","text":"stop"},{"type":"tool_result","tool_use_id":"t","content":"4"}]}}`,
		}, []string{`0 tool_call_completed t "4"`, "0 message user stop"}},
		{"a result without content says nothing", []string{
			`{"type":"user","uuid":"1","message":{"content":[{"type":"tool_result","tool_use_id":"t"}]}}`,
		}, []string{"0 tool_call_completed t null"}},
		{"a result with an image keeps its blocks", []string{
			`{"type":"user","uuid":"1","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"image","source":{}}]}]}}`,
		}, []string{`0 tool_call_completed t [{"type":"image","source":{}}]`}},
		{"an interruption is the user's word", []string{
			`{"type":"user","uuid":"1","message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}}`,
		}, []string{"0 message user [Request interrupted by user]"}},
		{"inserted messages are not the user's", []string{
			`{"type":"user","uuid":"1","isMeta":true,"message":{"content":"caveat"}}`,
			`{"type":"user","uuid":"2","isCompactSummary":true,"message":{"content":"summary"}}`,
			`{"type":"user","uuid":"3","isSynthetic":true,"message":{"content":"summary"}}`,
			`{"type":"user","uuid":"4","message":{"content":"<local-command-stdout>ok</local-command-stdout>"}}`,
			`{"type":"user","uuid":"5","message":{"content":"  "}}`,
			`{"type":"user","uuid":"6"}`,
		}, nil},
		{"a tool that runs at the API has call and result in one message", []string{
			`{"type":"assistant","uuid":"1","message":{"content":[{"type":"server_tool_use","id":"w","name":"web_search","input":{"query":"q"}},{"type":"web_search_tool_result","tool_use_id":"w","content":[]}]}}`,
		}, []string{"0 tool_call_started web_search w", "0 tool_call_completed w []"}},
		{"a failed API call is no assistant message", []string{
			`{"type":"assistant","uuid":"1","isApiErrorMessage":true,"message":{"model":"<synthetic>","content":"Overloaded"}}`,
			`{"type":"assistant","uuid":"2","error":"rate_limit","message":{"model":"<synthetic>","content":"Slow down"}}`,
			`{"type":"assistant","uuid":"3","message":{"model":"<synthetic>","content":"No response requested."}}`,
		}, []string{`0 llm_call_failed "Overloaded"`, `1 llm_call_failed "Slow down"`}},
		{"blank lines do not count and unknown lines do", []string{
			``, `{"type":"progress","message":7,"uuid":7}`, `{"no":"type"}`,
			`{"type":"user","uuid":"1","message":{"content":"go"}}`,
		}, []string{"2 message user go"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, play(t, test.lines...)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestAgents(t *testing.T) {
	const main = `{"type":"user","uuid":"0","sessionId":"s","message":{"content":"go"}}`
	t.Run("a sidechain is a sub-agent, and its prompt is not the user's", func(t *testing.T) {
		want := []string{"0 message user go", "2 message sidechain assistant a", "3 message a7 assistant b"}
		got := play(t, main,
			`{"type":"user","uuid":"1","isSidechain":true,"message":{"content":"look"}}`,
			`{"type":"assistant","uuid":"2","isSidechain":true,"message":{"content":"a"}}`,
			`{"type":"assistant","uuid":"3","isSidechain":true,"agentId":"a7","message":{"content":"b"}}`)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
	t.Run("in a stream the call that started it names the sub-agent", func(t *testing.T) {
		got := play(t, `{"type":"assistant","session_id":"s","parent_tool_use_id":"toolu_1","message":{"content":"a"}}`)
		if diff := cmp.Diff([]string{"0 message toolu_1 assistant a"}, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

func TestRuns(t *testing.T) {
	tests := []struct {
		name  string
		lines []string
		want  []string
	}{
		{"the session is the run, whichever way it is written", []string{
			`{"type":"user","uuid":"1","sessionId":"s","message":{"content":"a"}}`,
			`{"type":"user","uuid":"2","session_id":"s","message":{"content":"b"}}`,
		}, []string{"s", "s"}},
		{"another session is another run", []string{
			`{"type":"user","uuid":"1","sessionId":"s","message":{"content":"a"}}`,
			`{"type":"user","uuid":"2","sessionId":"t","message":{"content":"b"}}`,
		}, []string{"s", "t"}},
		{"a line without a session belongs to the input's run", []string{
			`{"type":"user","uuid":"1","message":{"content":"a"}}`,
		}, []string{"run"}},
		{"a sub-agent's own file is a run beside its session's", []string{
			`{"type":"user","uuid":"1","isSidechain":true,"agentId":"a7","sessionId":"s","message":{"content":"a"}}`,
			`{"type":"assistant","uuid":"2","isSidechain":true,"agentId":"a7","sessionId":"s","message":{"content":"b"}}`,
		}, []string{"s/a7"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			events, _, err := ingesttest.Decode(Sessions(), []byte(strings.Join(test.lines, "\n")))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range events {
				got = append(got, e.RunID)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestResult(t *testing.T) {
	const said = `{"type":"assistant","message":{"id":"m","model":"s","usage":{"input_tokens":10,"output_tokens":1}}}`
	tests := []struct {
		name  string
		lines []string
		want  []string
	}{
		{"a success completes the run, with the cost and the tokens that no message told", []string{
			said, `{"type":"result","subtype":"success","result":"done","total_cost_usd":0.25,"usage":{"input_tokens":10,"output_tokens":40}}`,
		}, []string{"1 run_completed success 39 tokens $0.25"}},
		{"the usage per model counts before the turn's", []string{
			said, `{"type":"result","subtype":"success","usage":{"output_tokens":40},"modelUsage":{"s":{"inputTokens":10,"outputTokens":40},"t":{"cacheReadInputTokens":5}}}`,
		}, []string{"1 run_completed success 44 tokens"}},
		{"the second result of a process repeats the first one's cost, which counts once", []string{
			said,
			`{"type":"result","subtype":"success","total_cost_usd":0.25,"modelUsage":{"s":{"outputTokens":50}}}`,
			`{"type":"result","subtype":"success","total_cost_usd":0.75,"modelUsage":{"s":{"outputTokens":70}}}`,
		}, []string{"1 run_completed success 39 tokens $0.25", "2 run_completed success 20 tokens $0.50"}},
		{"the usage of a turn begins with the turn", []string{
			said,
			`{"type":"result","subtype":"success","usage":{"output_tokens":50}}`,
			`{"type":"result","subtype":"success","usage":{"output_tokens":7}}`,
		}, []string{"1 run_completed success 39 tokens", "2 run_completed success 7 tokens"}},
		{"another process counts its cost from zero", []string{
			said,
			`{"type":"result","subtype":"success","total_cost_usd":0.25}`,
			`{"type":"result","subtype":"success","total_cost_usd":0.1}`,
		}, []string{"1 run_completed success $0.25", "2 run_completed success $0.10"}},
		{"too many turns fail the run", []string{
			said, `{"type":"result","subtype":"error_max_turns","is_error":false}`,
		}, []string{`1 run_failed "error_max_turns" error_max_turns`}},
		{"a success with an error failed, and says why", []string{
			said, `{"type":"result","subtype":"success","is_error":true,"result":"Invalid key"}`,
		}, []string{`1 run_failed "Invalid key" success`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := play(t, test.lines...)
			if diff := cmp.Diff(test.want, got[2:]); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestBadInput(t *testing.T) {
	tests := []struct {
		name, data, want string
	}{
		{"a line that is no object", "\n7\n", "input:2: a JSON number does not fit here, want an object"},
		{"a line that is no JSON", "{\"type\":\n", "input:1: type: not valid JSON at byte 8: unexpected EOF"},
		{"a type that is no string", `{"type":7}` + "\n", "input:1: type: a JSON number does not fit here, want a string"},
		{"a message that is no object", `{"type":"user","message":"hi"}` + "\n", "input:1: message: a JSON string does not fit here, want an object"},
		{
			"a content of the wrong kind", `{"type":"user","message":{"content":{}}}` + "\n",
			"input:1: message.content: neither a string nor a list of blocks",
		},
		{
			"a block with a name of the wrong kind", `{"type":"assistant","message":{"content":[{"type":"text"},{"name":7}]}}` + "\n",
			"input:1: message.content.1.name: a JSON number does not fit here, want a string",
		},
		{
			"a usage of the wrong kind", `{"type":"assistant","message":{"usage":{"input_tokens":"9"}}}` + "\n",
			"input:1: message.usage.input_tokens: a JSON string does not fit here, want a whole number",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := ingesttest.Decode(Sessions(), []byte(test.data))
			var bad *ingest.BadInput
			if !errors.As(err, &bad) {
				t.Fatalf("got %v, want a BadInput", err)
			}
			if bad.Error() != test.want {
				t.Errorf("got %q, want %q", bad, test.want)
			}
		})
	}
	t.Run("a cut last line is a warning", func(t *testing.T) {
		data := `{"type":"user","uuid":"1","message":{"content":"go"}}` + "\n" + `{"type":"user","mess`
		events, warnings, err := ingesttest.Decode(Sessions(), []byte(data))
		if err != nil || len(events) != 1 || len(warnings) != 1 {
			t.Errorf("%d events, warnings %v, error %v", len(events), warnings, err)
		}
	})
}

func TestSniff(t *testing.T) {
	const snapshot = `{"type":"file-history-snapshot","messageId":"m","snapshot":{}}` + "\n"
	tests := []struct {
		name, head      string
		session, stream bool
	}{
		{"a session that begins with bookkeeping", snapshot + `{"type":"queue-operation","sessionId":"s"}` + "\n" +
			`{"parentUuid":null,"sessionId":"s","type":"user","message":{"content":"a`, true, false},
		{"nothing but bookkeeping", snapshot, true, false},
		{"a stream", `{"type":"system","subtype":"init","cwd":"/","session_id":"s","tools":["Ba`, false, true},
		{"a stream without its beginning", `{"type":"result","subtype":"success","session_id":"s"}`, false, true},
		{"an Anthropic message", `{"role":"user","content":"hi"}`, false, false},
		{"an Anthropic response", `{"id":"msg_1","type":"message","role":"assistant","content":[]}`, false, false},
		{"a list", `[{"type":"user","uuid":"1","sessionId":"s","session_id":"s","message":{}}]`, false, false},
		{"native events", `{"event_id":"e","run_id":"r","type":"tool_call_started","session_id":"s","subtype":"x"}`, false, false},
		{"a labelled run", `{"id":"a","source":"s","outcome":"ok","labels":[],"events":[{"kind":"call"}]}`, false, false},
		{"a Codex rollout", `{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"x","session_id":"y"}}`, false, false},
		{"a Gemini chat", `{"sessionId":"s","projectHash":"h","startTime":"t","lastUpdated":"t","kind":"main"}`, false, false},
		{"a trajectory", `{"trajectory":[],"history":[],"info":{}}`, false, false},
		{"OTLP", `{"resourceSpans":[{}]}`, false, false},
		{"nothing", "", false, false},
		{"no JSON", "session s began\n", false, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := sniffSession([]byte(test.head)); got != test.session {
				t.Errorf("session: %v", got)
			}
			if got := sniffStream([]byte(test.head)); got != test.stream {
				t.Errorf("stream: %v", got)
			}
		})
	}
}
