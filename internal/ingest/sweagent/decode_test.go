package sweagent

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest/ingesttest"
)

func TestGolden(t *testing.T) { ingesttest.Golden(t, Format(), "*.json") }

func FuzzDecode(f *testing.F) { ingesttest.Fuzz(f, Format(), "*.json") }

func TestDecode(t *testing.T) {
	tests := []struct {
		name, data string
		want       []unloop.Event
	}{
		{
			name: "the same steps in the history count once",
			data: `{"trajectory":[{"action":"ls","observation":"a","thought":"look"}],
				"history":[{"role":"assistant","content":"look","action":"ls"}],"info":{}}`,
			want: []unloop.Event{
				{ID: "e0", Sequence: 1, Type: unloop.MessageSent, Role: "assistant", Text: "look"},
				{
					ID: "e0.1", Sequence: 2, Type: unloop.ToolCallStarted, CallID: "step0", Tool: "bash",
					Input: []byte(`{"command":"ls"}`),
				},
				{
					ID: "e0.2", Sequence: 3, Type: unloop.ToolCallCompleted, CallID: "step0", Tool: "bash",
					Output: []byte(`"a"`),
				},
			},
		},
		{
			name: "an answer that could not be parsed is all text",
			data: `{"trajectory":[{"action":" ","thought":"","response":"hm","observation":""}],"info":{}}`,
			want: []unloop.Event{{ID: "e0", Sequence: 1, Type: unloop.MessageSent, Role: "assistant", Text: "hm"}},
		},
		{
			name: "a step without an observation has no outcome",
			data: `{"trajectory":[{"action":"make","thought":""}],"info":{"exit_status":null}}`,
			want: []unloop.Event{{
				ID: "e0", Sequence: 1, Type: unloop.ToolCallStarted, CallID: "step0", Tool: "bash",
				Input: []byte(`{"command":"make"}`),
			}},
		},
		{
			name: "the step in which the program gives up is no answer of the model",
			data: `{"trajectory":[{"action":"","thought":"Exit due to cost limit","response":"Exit due to cost limit",
				"observation":""}],"info":{"exit_status":"exit_cost"}}`,
			want: []unloop.Event{{
				ID: "e0", Sequence: 1, Type: unloop.RunFailed, Status: "exit_cost",
				Error: []byte(`"Exit due to cost limit"`),
			}},
		},
		{
			name: "a run that ended before its first step has failed",
			data: `{"trajectory":[],"info":{"exit_status":"exit_environment_error"}}`,
			want: []unloop.Event{{
				ID: "e0", Sequence: 1, Type: unloop.RunFailed, Status: "exit_environment_error",
				Error: []byte(`"exit_environment_error"`),
			}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			events, _, err := ingesttest.Decode(Format(), []byte(tt.data))
			if err != nil {
				t.Fatal(err)
			}
			got := []unloop.Event{}
			for _, e := range events {
				if e.RunID != "run" {
					t.Errorf("run = %q, want the input's", e.RunID)
				}
				e.RunID = ""
				got = append(got, *e)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestBadInput(t *testing.T) {
	tests := []struct{ name, data, field, reason string }{
		{"no trajectory", `{"info":{}}`, "trajectory", "missing"},
		{
			"an action of the wrong type", `{"trajectory":[{"action":"ls"},{"action":7}]}`, "trajectory.1.action",
			"a JSON number does not fit here, want a string",
		},
		{"a file that is cut", `{"trajectory":[{"action":"ls"`, "trajectory.0", "not valid JSON"},
		{"no JSON", `trajectory`, "", "not valid JSON"},
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
		{"a trajectory that is cut in its first step", `{"trajectory":[{"action":"ls","observation":"a`, true},
		{"a chosen attempt among several", `{"attempts":[{"trajectory":[{"action":"ls","observation":"a"`, true},
		{"a step in which the response comes first", `{"trajectory":[{"response":"x","observation":"a","action":"`, true},
		{"nothing", ``, false},
		{"a trajectory of another kind", `{"trajectory":[{"state":1,"reward":2}]}`, false},
		{"a list of trajectories", `[{"trajectory":[{"action":"ls","observation":"a"}]}]`, false},
		{"mini-swe-agent", `{"info":{"exit_status":"Submitted"},"messages":[{"role":"system"`, false},
		{"ATIF", `{"schema_version":"ATIF-v1.7","steps":[{"step_id":1`, false},
		{"tau-bench", `[{"task_id":1,"reward":0,"info":{},"traj":[]}]`, false},
		{"OTLP", `{"resourceSpans":[]}`, false},
		{"native events", `{"event_id":"e1","run_id":"r","type":"tool_call_started"}`, false},
		{"labelled runs", `{"id":"x","source":"s","outcome":"success","labels":{},"events":[{"kind":"message"}]}`, false},
		{"chat messages", `{"messages":[{"role":"user","content":"hi"}]}`, false},
		{"no JSON", `trajectory: action observation`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := sniff([]byte(tt.head)); got != tt.want {
				t.Errorf("sniff = %v, want %v", got, tt.want)
			}
		})
	}
}
