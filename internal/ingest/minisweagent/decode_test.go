package minisweagent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/ingest/ingesttest"
)

func TestGolden(t *testing.T) { ingesttest.Golden(t, Format(), "*.json") }

func FuzzDecode(f *testing.F) { ingesttest.Fuzz(f, Format(), "*.json") }

const (
	v1 = `{"info":{},"trajectory_format":"mini-swe-agent-1","messages":[%s]}`
	v2 = `{"info":{},"trajectory_format":"mini-swe-agent-1.1","messages":[%s]}`
)

var decodeTests = []struct {
	name, format, messages string
	want                   []string // each event in short
}{
	{
		name:   "an observation is not a user's message",
		format: v1,
		messages: `{"role":"user","content":"fix it"},
			{"role":"assistant","content":"look\n` + "```bash\\nls\\n```" + `"},
			{"role":"user","content":"<returncode>0</returncode>\n<output>\na\n</output>"}`,
		want: []string{
			"0 message user fix it",
			"1 message assistant look",
			`1 tool_call_started m1.0 {"command":"ls"}`,
			`2 tool_call_completed m1.0 "<returncode>0</returncode>\n<output>\na\n</output>"`,
		},
	},
	{
		name:   "the newer name of the fence is a command too",
		format: v1,
		messages: `{"role":"assistant","content":"` + "```mswea_bash_command\\nls\\n```" + `"},
			{"role":"user","content":"a"}`,
		want: []string{`0 tool_call_started m0.0 {"command":"ls"}`, `1 tool_call_completed m0.0 "a"`},
	},
	{
		name:   "two commands in one answer are refused by the program, and no call",
		format: v1,
		messages: `{"role":"assistant","content":"` + "```bash\\nls\\n```\\n```bash\\npwd\\n```" + `"},
			{"role":"user","content":"EXACTLY ONE action"}`,
		want: []string{
			"0 message assistant ```bash\nls\n```\n```bash\npwd\n```",
			"1 message system EXACTLY ONE action",
		},
	},
	{
		name:   "a return code other than 0 is a failure",
		format: v1,
		messages: `{"role":"assistant","content":"` + "```bash\\nls x\\n```" + `"},
			{"role":"user","content":"<returncode>2</returncode>"}`,
		want: []string{
			`0 tool_call_started m0.0 {"command":"ls x"}`,
			`1 tool_call_failed m0.0 "<returncode>2</returncode>"`,
		},
	},
	{
		name:   "a user who rejects a command speaks, and the command has no outcome",
		format: v1,
		messages: `{"role":"assistant","content":"` + "```bash\\nrm x\\n```" + `"},
			{"role":"user","content":"Command not executed. The user rejected your command with the following message: no"}`,
		want: []string{
			`0 tool_call_started m0.0 {"command":"rm x"}`,
			"1 message user Command not executed. The user rejected your command with the following message: no",
		},
	},
	{
		name:   "in the text of version 2 the program tells the commands and the return codes",
		format: v2,
		messages: `{"role":"assistant","content":"do","extra":{"actions":[{"command":"a"},{"command":"b"}]}},
			{"role":"user","content":"A","extra":{"returncode":0}},
			{"role":"user","content":"B","extra":{"returncode":1,"exception_info":"broken"}}`,
		want: []string{
			"0 message assistant do",
			`0 tool_call_started m0.0 {"command":"a"}`,
			`0 tool_call_started m0.1 {"command":"b"}`,
			`1 tool_call_completed m0.0 "A"`,
			`2 tool_call_failed m0.1 "B" "broken"`,
		},
	},
	{
		name:   "a command of the user's own is no call",
		format: v2,
		messages: `{"role":"user","content":"User command: ls","extra":{"actions":[{"command":"ls"}]}},
			{"role":"user","content":"a","extra":{"returncode":0}}`,
		want: []string{"0 message user User command: ls"},
	},
	{
		name:   "a call that was not run has no outcome",
		format: v2,
		messages: `{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"bash","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"c","content":"","extra":{"returncode":-1,"exception_info":"action was not executed"}}`,
		want: []string{"0 tool_call_started c {}"},
	},
	{
		name:     "a usage without a price counts its tokens",
		format:   v2,
		messages: `{"role":"assistant","content":"hm","extra":{"response":{"model":"m","usage":{"prompt_tokens":2,"completion_tokens":3}}}}`,
		want:     []string{"0 llm_call_started", "0 llm_call_completed tokens=5", "0 message assistant hm"},
	},
}

func TestDecode(t *testing.T) {
	for _, tt := range decodeTests {
		t.Run(tt.name, func(t *testing.T) {
			events, _, err := ingesttest.Decode(Format(), fmt.Appendf(nil, tt.format, tt.messages))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range events {
				parts := []string{
					fmt.Sprint(e.Index), string(e.Type), e.CallID, e.Role, e.Text,
					string(e.Input), string(e.Output), string(e.Error),
				}
				if e.Tokens != 0 {
					parts = append(parts, fmt.Sprintf("tokens=%d", e.Tokens))
				}
				got = append(got, join(parts))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func join(parts []string) string {
	var told []string
	for _, p := range parts {
		if p != "" {
			told = append(told, p)
		}
	}
	return strings.Join(told, " ")
}

func TestBadInput(t *testing.T) {
	tests := []struct{ name, data, field, reason string }{
		{"no messages", `{"info":{}}`, "messages", "missing"},
		{
			"a role of the wrong type", `{"messages":[{"role":"user"},{"role":7}]}`, "messages.1.role",
			"a JSON number does not fit here, want a string",
		},
		{
			"a response whose output is no list", `{"messages":[{"object":"response","output":"x"}]}`, "messages.0.output",
			"not a list of items",
		},
		{"a file that is cut", `{"messages":[{"role":"user"`, "messages.0", "not valid JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ingesttest.Refused(t, Format(), tt.data, tt.field, tt.reason)
		})
	}
}

func TestSniff(t *testing.T) {
	tests := []struct {
		name, head string
		want       bool
	}{
		{
			"an info that counts calls, then messages that are cut",
			`{"info":{"model_stats":{"api_calls":1}},"messages":[{"role":"sys`, true,
		},
		{
			"an info that is cut in a long submission",
			`{"info":{"model_stats":{},"mini_version":"2.0.0","submission":"diff`, true,
		},
		{"the format's name before all else", `{"trajectory_format":"mini-swe-agent-1.1","info"`, true},
		{"the format's name after messages without an info", `{"messages":[],"trajectory_format":"mini-swe-agent-1"}`, true},
		{"nothing", ``, false},
		{"an info of another program", `{"info":{"id":"ses_1"},"messages":[{"info":{}}]}`, false},
		{"chat messages", `{"messages":[{"role":"user","content":"mini-swe-agent-1"}]}`, false},
		{"SWE-agent", `{"trajectory":[{"action":"ls","observation":"a"}],"info":{"model_stats":{}}}`, false},
		{"SWE-agent with its members sorted", `{"environment":"main","info":{"model_stats":{}},"trajectory":[{"action":"ls`, false},
		{"ATIF", `{"schema_version":"ATIF-v1.7","steps":[]}`, false},
		{"tau-bench", `[{"task_id":1,"reward":0,"info":{"model_stats":{}},"traj":[]}]`, false},
		{"OTLP", `{"resourceSpans":[]}`, false},
		{"no JSON", `mini-swe-agent-1`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := sniff([]byte(tt.head)); got != tt.want {
				t.Errorf("sniff = %v, want %v", got, tt.want)
			}
		})
	}
}
