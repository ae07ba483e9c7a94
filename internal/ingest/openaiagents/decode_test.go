package openaiagents

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/ingest/ingesttest"
)

func TestGolden(t *testing.T) { ingesttest.Golden(t, Format(), "*.json*") }

func FuzzDecode(f *testing.F) { ingesttest.Fuzz(f, Format(), "*.json*") }

func TestDecode(t *testing.T) {
	const (
		trace = `{"object":"trace","id":"t","workflow_name":"w","group_id":null}`
		start = `{"object":"trace.span","id":"a","trace_id":"t","parent_id":null,"started_at":"2026-09-01T06:00:00+00:00","ended_at":"2026-09-01T06:00:01+00:00",`
	)
	for _, tc := range []struct {
		name, input string
		want        []string // each event in short
	}{
		{
			"a trace after its spans",
			start + `"span_data":{"type":"function","name":"x","input":"{}","output":"b"},"error":null}` + trace,
			[]string{"0 tool_call_started a x {}", `0 tool_call_completed a x "b"`, "0 run_completed"},
		},
		{
			"a span without its trace",
			start + `"span_data":{"type":"function","name":"x","input":"{}","output":"b"}}`,
			[]string{"0 tool_call_started a x {}", `0 tool_call_completed a x "b"`, "0 run_completed"},
		},
		{
			"usage as a processor of one's own sees it",
			start + `"span_data":{"type":"generation","model":"m","usage":{"input_tokens":9,"output_tokens":4,"total_tokens":13,"input_tokens_details":{"cached_tokens":5}}}}`,
			[]string{"0 llm_call_started m", "0 llm_call_completed m tokens=13 {Input:9 Output:4 CachedInput:5 CacheWrite:0 Reasoning:0}", "0 run_completed"},
		},
		{
			"the run fails with its last agent, not with a tool",
			start + `"span_data":{"type":"agent","name":"g"},"error":{"message":"Max turns exceeded","data":{"max_turns":3}}}`,
			[]string{`0 run_failed "Max turns exceeded"`},
		},
		{"a trace without spans gives nothing", trace, nil},
		{"a handoff without a receiver is none", start + `"span_data":{"type":"handoff","from_agent":"g","to_agent":null}}`, []string{"0 run_completed"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, ingesttest.Short(t, Format(), tc.input)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestBadInput(t *testing.T) {
	ingesttest.Refused(t, Format(), `{"data":[{"object":"trace"},{"object":"trace.span","span_data":[]}]}`, "data.1.span_data", "a JSON array")
}

func TestSniff(t *testing.T) {
	for name, tc := range map[string]struct {
		head string
		want bool
	}{
		"a request of the exporter": {`{"data":[{"object":"trace","id":"t"`, true},
		"a span in a line":          {`{"object":"trace.span","id":"a"}`, true},
		"another object of the API": {`{"object":"chat.completion","id":"a"}`, false},
		"nothing":                   {``, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := sniff([]byte(tc.head)); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}
