package cursor

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/ingest/ingesttest"
)

func TestGolden(t *testing.T) {
	ingesttest.Golden(t, Stream(), "stream_*.jsonl")
	ingesttest.Golden(t, Transcript(), "transcript.jsonl")
}

func FuzzStream(f *testing.F) { ingesttest.Fuzz(f, Stream(), "stream_*.jsonl") }

func FuzzTranscript(f *testing.F) { ingesttest.Fuzz(f, Transcript(), "transcript.jsonl") }

func TestDecode(t *testing.T) {
	for _, tc := range []struct {
		name   string
		format ingest.Format
		input  string
		want   []string // each event in short
	}{
		{
			"a sentence that is said twice counts twice", Stream(),
			`{"type":"assistant","message":{"content":[{"type":"text","text":"Again."}]}}` + "\n" +
				`{"type":"assistant","message":{"content":[{"type":"text","text":"Again."}]}}`,
			[]string{"0 message assistant Again.", "1 message assistant Again."},
		},
		{
			"a tool of MCP fails by its result", Stream(),
			`{"type":"tool_call","subtype":"completed","call_id":"c","tool_call":{"mcpToolCall":{"args":{"toolName":"x","args":{}},"result":{"success":{"isError":true}}}}}`,
			[]string{`0 tool_call_failed c x {"isError":true}`},
		},
		{
			"a result in a form that is not known is kept", Stream(),
			`{"type":"tool_call","subtype":"completed","call_id":"c","tool_call":{"lsToolCall":{"result":{"files":["a"]}}}}`,
			[]string{`0 tool_call_completed c ls {"files":["a"]}`},
		},
		{
			"a run that fails", Stream(), `{"type":"result","subtype":"error","is_error":true,"result":"no credit"}`,
			[]string{`0 run_failed "no credit"`},
		},
		{
			"cached tokens beside the input are added to it", Stream(),
			`{"type":"result","subtype":"success","usage":{"inputTokens":10,"outputTokens":5,"cacheReadTokens":80,"cacheWriteTokens":10}}`,
			[]string{"0 run_completed tokens=105 {Input:100 Output:5 CachedInput:80 CacheWrite:10 Reasoning:0}"},
		},
		{
			"a transcript with results by id", Transcript(),
			`{"role":"assistant","message":{"content":[{"type":"tool_use","id":"c","name":"ls","input":{}}]}}` + "\n" +
				`{"role":"user","message":{"content":[{"type":"tool_result","tool_use_id":"c","content":"a","is_error":true}]}}`,
			[]string{"0 tool_call_started c ls {}", `1 tool_call_failed c "a"`},
		},
		{
			"the end of a turn is no message", Transcript(),
			`{"role":"assistant","message":{"content":[{"type":"text","text":"Done."}]}}` + "\n" + `{"type":"turn_ended","status":"success"}`,
			[]string{"0 message assistant Done."},
		},
		{
			"what the editor puts around a question is not the user's", Transcript(),
			`{"role":"user","message":{"content":[{"type":"text","text":"<attached_files>\na\n</attached_files>\n<user_query>\nWhy?\n</user_query>"}]}}`,
			[]string{"0 message user Why?"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, ingesttest.Short(t, tc.format, tc.input)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestBadInput(t *testing.T) {
	ingesttest.Refused(t, Stream(), `{"type":"tool_call","tool_call":{"readToolCall":7}}`, "tool_call.readToolCall", "a JSON number")
	ingesttest.Refused(t, Transcript(), `{"role":"user","message":{"content":7}}`, "message.content", "neither a string")
}

func TestSniff(t *testing.T) {
	for name, tc := range map[string]struct {
		head               string
		stream, transcript bool
	}{
		"the start of a stream":         {`{"type":"system","subtype":"init","apiKeySource":"env","cwd":"/","session_id":"s","model":"m","permissionMode":"default"}`, true, false},
		"the start of Claude Code's":    {`{"type":"system","subtype":"init","cwd":"/","session_id":"s","tools":["Bash"],"permissionMode":"default"`, false, false},
		"a stream that begins later":    {`{"type":"tool_call","subtype":"started","call_id":"c","tool_call":{},"session_id":"s"}`, true, false},
		"a transcript":                  {`{"role":"user","message":{"content":[{"type":"text","text":"`, false, true},
		"a session of Claude Code":      {`{"type":"user","uuid":"u","sessionId":"s","message":{"role":"user","content":"a"}}`, false, false},
		"a message of a chat":           {`{"role":"user","content":"a"}`, false, false},
		"a message with a text message": {`{"role":"user","message":"a"}`, false, false},
		"nothing":                       {``, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := sniffStream([]byte(tc.head)); got != tc.stream {
				t.Errorf("stream: got %v, want %v", got, tc.stream)
			}
			if got := sniffTranscript([]byte(tc.head)); got != tc.transcript {
				t.Errorf("transcript: got %v, want %v", got, tc.transcript)
			}
		})
	}
}
