package copilot

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/ingest/ingesttest"
)

func TestGolden(t *testing.T) { ingesttest.Golden(t, Format(), "*.jsonl") }

func FuzzDecode(f *testing.F) { ingesttest.Fuzz(f, Format(), "*.jsonl") }

func TestDecode(t *testing.T) {
	const (
		answer = `{"type":"assistant.message","data":{"content":"","outputTokens":5}}` + "\n"
		used   = `{"type":"assistant.usage","data":{"model":"m","inputTokens":10,"outputTokens":5,"cacheReadTokens":8}}` + "\n"
	)
	for _, tc := range []struct {
		name, input string
		want        []string // each event in short
	}{
		{
			"a usage before its answer is the model call", used + answer + answer,
			[]string{
				"0 llm_call_started m", "0 llm_call_completed m tokens=15 {Input:10 Output:5 CachedInput:8 CacheWrite:0 Reasoning:0}",
				"2 llm_call_started", "2 llm_call_completed tokens=5 {Input:0 Output:5 CachedInput:0 CacheWrite:0 Reasoning:0}",
			},
		},
		{
			"a usage after its answer adds what the answer does not have", answer + used,
			[]string{
				"0 llm_call_started", "0 llm_call_completed tokens=5 {Input:0 Output:5 CachedInput:0 CacheWrite:0 Reasoning:0}",
				"1 llm_call_completed m tokens=10 {Input:10 Output:0 CachedInput:8 CacheWrite:0 Reasoning:0}",
			},
		},
		{
			"the end has the tokens that no event had",
			answer + `{"type":"session.shutdown","data":{"shutdownType":"routine","modelMetrics":{"m":{"usage":{"inputTokens":100,"outputTokens":5,"cacheReadTokens":60}}}}}`,
			[]string{
				"0 llm_call_started", "0 llm_call_completed tokens=5 {Input:0 Output:5 CachedInput:0 CacheWrite:0 Reasoning:0}",
				"1 run_completed tokens=100 {Input:100 Output:0 CachedInput:60 CacheWrite:0 Reasoning:0}",
			},
		},
		{
			"a sub-agent of an older version is known by the call that started it",
			`{"type":"subagent.started","data":{"toolCallId":"t","agentName":"clerk"}}` + "\n" +
				`{"type":"tool.execution_start","data":{"toolCallId":"u","toolName":"ls","arguments":{},"parentToolCallId":"t"}}`,
			[]string{"1 tool_call_started clerk u ls {}"},
		},
		{
			"what a program inserted begins no turn",
			`{"type":"user.message","data":{"content":"<system-reminder>Go on.</system-reminder>"}}`,
			[]string{"0 message system <system-reminder>Go on.</system-reminder>"},
		},
		{
			"what a skill inserted begins no turn", `{"type":"user.message","data":{"content":"Read PDFs so.","source":"skill-pdf"}}`,
			[]string{"0 message system Read PDFs so."},
		},
		{
			"a result may be a text",
			`{"type":"tool.execution_complete","data":{"toolCallId":"c","toolName":"ls","success":true,"result":"a b"}}`,
			[]string{`0 tool_call_completed c ls "a b"`},
		},
		{
			"the output of the program ends with its exit code",
			`{"type":"result","sessionId":"s","exitCode":0,"usage":{"premiumRequests":1}}` + "\n" + `{"type":"result","sessionId":"s","exitCode":2}`,
			[]string{"0 run_completed", `1 run_failed "exit code 2"`},
		},
		{"an event of another type may have data of any form", `{"type":"hook.end","data":{"content":[7],"message":{},"error":1}}`, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, ingesttest.Short(t, Format(), tc.input)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestBadInput(t *testing.T) {
	ingesttest.Refused(t, Format(), `{"type":"tool.execution_start","data":{"toolName":7}}`, "data.toolName", "a JSON number")
}

func TestSniff(t *testing.T) {
	for name, tc := range map[string]struct {
		head string
		want bool
	}{
		"the start of a session, cut":    {`{"type":"session.start","data":{"sessionId":"s","context":{"cw`, true},
		"an event of its --output-json":  {`{"type":"assistant.turn_start","data":{},"id":"a","timestamp":"t"}`, true},
		"an event of another product":    {`{"type":"order.created","data":{},"id":"a","timestamp":"t"}`, false},
		"an event of Codex":              {`{"timestamp":"t","type":"session_meta","payload":{}}`, false},
		"a session event without its id": {`{"type":"session.updated","data":{}}`, false},
		"nothing":                        {``, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := sniff([]byte(tc.head)); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}
