package atif

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/ingest/ingesttest"
)

func TestGolden(t *testing.T) { ingesttest.Golden(t, Format(), "*.json") }

func FuzzDecode(f *testing.F) { ingesttest.Fuzz(f, Format(), "*.json") }

const calls = `"tool_calls":[{"tool_call_id":"a","function_name":"x"},{"tool_call_id":"b","function_name":"y"}]`

var decodeTests = []struct {
	name, steps string
	want        []string // each event in short
}{
	{
		name: "copied steps do not count",
		steps: `{"source":"agent","message":"old","is_copied_context":true,"metrics":{"prompt_tokens":9}},
			{"source":"agent","message":"new"}`,
		want: []string{"1 message assistant new"},
	},
	{
		name:  "a step's usage counts once, and its cached tokens are among the prompt's",
		steps: `{"source":"agent","message":"","metrics":{"prompt_tokens":7,"completion_tokens":2,"cached_tokens":5}}`,
		want:  []string{"0 llm_call_started", "0 llm_call_completed tokens=9"},
	},
	{
		name:  "a step that no model decided is no model call",
		steps: `{"source":"agent","message":"","llm_call_count":0,"model_name":"m","metrics":{"prompt_tokens":0}}`,
	},
	{
		name:  "results without the call's name answer the calls in order",
		steps: `{"source":"agent","message":"",` + calls + `,"observation":{"results":[{"content":"1"},{"content":"2"}]}}`,
		want: []string{
			"0 tool_call_started a x", "0 tool_call_started b y",
			`0 tool_call_completed a x "1"`, `0 tool_call_completed b y "2"`,
		},
	},
	{
		name:  "one observation after several calls is the result of all",
		steps: `{"source":"agent","message":"",` + calls + `,"observation":{"results":[{"content":"$"}]}}`,
		want: []string{
			"0 tool_call_started a x", "0 tool_call_started b y",
			`0 tool_call_completed a x "$"`, `0 tool_call_completed b y "$"`,
		},
	},
	{
		name: "a result with a name leaves the one without to the other call",
		steps: `{"source":"agent","message":"",` + calls +
			`,"observation":{"results":[{"content":"$"},{"source_call_id":"a","content":"1"}]}}`,
		want: []string{
			"0 tool_call_started a x", "0 tool_call_started b y",
			`0 tool_call_completed a x "1"`, `0 tool_call_completed b y "$"`,
		},
	},
	{
		name:  "an observation without a call answers nothing",
		steps: `{"source":"agent","message":"ls","observation":{"results":[{"content":"a.txt"}]}}`,
		want:  []string{"0 message assistant ls"},
	},
	{
		name: "an exit code other than 0 is a failure",
		steps: `{"source":"agent","message":"","tool_calls":[{"tool_call_id":"a","function_name":"x"}],
			"observation":{"results":[{"source_call_id":"a","content":"no","extra":{"exit_code":2}}]}}`,
		want: []string{"0 tool_call_started a x", `0 tool_call_failed a x "no"`},
	},
	{
		name: "free members may be of any type",
		steps: `{"source":"agent","message":"","tool_calls":[{"tool_call_id":"a","function_name":"x"}],"extra":7,
			"observation":{"results":[{"source_call_id":"a","content":"ok","extra":{"is_error":"perhaps"}}]}}`,
		want: []string{"0 tool_call_started a x", `0 tool_call_completed a x "ok"`},
	},
	{
		name:  "a source that is not known is passed over",
		steps: `{"source":"oracle","message":"hm"},{"source":"user","message":" "},{"source":"user","message":"hi"}`,
		want:  []string{"2 message user hi"},
	},
}

func TestDecode(t *testing.T) {
	for _, tt := range decodeTests {
		t.Run(tt.name, func(t *testing.T) {
			events, _, err := ingesttest.Decode(Format(), fmt.Appendf(nil,
				`{"schema_version":"ATIF-v1.4","session_id":"s","steps":[%s],"final_metrics":{"total_cost_usd":9}}`, tt.steps))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range events {
				if e.RunID != "s" {
					t.Errorf("run = %q, want the session's", e.RunID)
				}
				line := fmt.Sprintln(e.Index, e.Type, e.CallID, e.Tool, e.Role, e.Text, string(e.Output))
				if e.Tokens != 0 {
					line += fmt.Sprintf("tokens=%d", e.Tokens)
				}
				got = append(got, strings.Join(strings.Fields(line), " "))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestSubagentsAreRunsOfTheirOwn(t *testing.T) {
	const steps = `"agent":{},"steps":[{"source":"user","message":"hi"}]`
	events, _, err := ingesttest.Decode(Format(), []byte(`{"schema_version":"ATIF-v1.7","trajectory_id":"top",`+steps+`,
		"subagent_trajectories":[
			{"trajectory_id":"a",`+steps+`,"subagent_trajectories":[{`+steps+`}]},
			{"trajectory_id":"b",`+steps+`}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range events {
		got = append(got, fmt.Sprintf("%s %s %d", e.RunID, e.ID, e.Sequence))
	}
	want := []string{"top e0 1", "top/a e0 1", "top/b e0 1", "top/a/0 e0 1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestBadInput(t *testing.T) {
	tests := []struct{ name, data, field, reason string }{
		{"no version", `{"steps":[]}`, "schema_version", "not ATIF-v1.x"},
		{"a version to come", `{"schema_version":"ATIF-v2.0","steps":[]}`, "schema_version", "not ATIF-v1.x"},
		{"no steps", `{"schema_version":"ATIF-v1.2"}`, "steps", "missing"},
		{
			"calls of the wrong type", `{"schema_version":"ATIF-v1.2","steps":[{"tool_calls":"x"}]}`, "steps.0.tool_calls",
			"a JSON string does not fit here, want an array",
		},
		{"a file that is cut", `{"schema_version":"ATIF-v1.2","steps":[`, "steps", "not valid JSON"},
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
		{"a document that is cut in its steps", `{"schema_version":"ATIF-v1.2","session_id":"s","steps":[{"st`, true},
		{"a version that comes late", `{"agent":{"name":"a"},"schema_version":"ATIF-v1.7"`, true},
		{"nothing", ``, false},
		{"another schema", `{"schema_version":"1.0","steps":[]}`, false},
		{"a list", `[{"schema_version":"ATIF-v1.2"}]`, false},
		{"SWE-agent", `{"trajectory":[{"action":"ls","observation":"a"}]}`, false},
		{"mini-swe-agent", `{"info":{"model_stats":{}},"messages":[]}`, false},
		{"native events", `{"event_id":"e1","run_id":"r","type":"tool_call_started"}`, false},
		{"OTLP", `{"resourceSpans":[]}`, false},
		{"no JSON", `ATIF-v1.2`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := sniff([]byte(tt.head)); got != tt.want {
				t.Errorf("sniff = %v, want %v", got, tt.want)
			}
		})
	}
}
