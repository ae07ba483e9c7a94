package langsmith

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/ingest/ingesttest"
)

func TestGolden(t *testing.T) { ingesttest.Golden(t, Format(), "*.json*") }

func FuzzDecode(f *testing.F) { ingesttest.Fuzz(f, Format(), "*.json*") }

func TestDecode(t *testing.T) {
	const (
		tool = `{"id":"a","name":"x","run_type":"tool","start_time":"2026-09-01T06:00:00","end_time":"2026-09-01T06:00:01","trace_id":"t","parent_run_id":"r",`
		llm  = `{"id":"a","name":"chat","run_type":"llm","start_time":"2026-09-01T06:00:00","end_time":"2026-09-01T06:00:01","trace_id":"t","parent_run_id":"r",`
	)
	for _, tc := range []struct {
		name, input string
		want        []string // each event in short
	}{
		{
			"arguments of LangChain that are JSON in a text",
			tool + `"inputs":{"input":"{\"a\": 1}"},"outputs":{"output":"b"}}`,
			[]string{`0 tool_call_started a x {"a": 1}`, `0 tool_call_completed a x "b"`},
		},
		{
			"a tool message names its call, and may be serialized",
			tool + `"inputs":{"q":1},"outputs":{"output":{"lc":1,"kwargs":{"content":"b","tool_call_id":"c"}}}}`,
			[]string{`0 tool_call_started c x {"q":1}`, `0 tool_call_completed c x "b"`},
		},
		{
			"a run that is pending has no end",
			`{"id":"a","name":"x","run_type":"tool","start_time":"2026-09-01T06:00:00","trace_id":"t","parent_run_id":"r","inputs":{},"outputs":null,"status":"pending"}`,
			[]string{"0 tool_call_started a x {}"},
		},
		{
			"an error without an end ends the call",
			`{"id":"a","name":"x","run_type":"tool","start_time":"2026-09-01T06:00:00","trace_id":"t","parent_run_id":"r","inputs":{},"error":"ValueError('q')","status":"error"}`,
			[]string{"0 tool_call_started a x {}", `0 tool_call_failed a x "ValueError('q')"`},
		},
		{
			"cached tokens beside the prompt are added to it",
			llm + `"prompt_tokens":10,"completion_tokens":5,"prompt_token_details":{"cache_read":90},"total_cost":0.5}`,
			[]string{"0 llm_call_started", "0 llm_call_completed tokens=15 {Input:100 Output:5 CachedInput:90 CacheWrite:0 Reasoning:0} cost=0.5"},
		},
		{
			"the usage of a wrapped client",
			llm + `"outputs":{"usage_metadata":{"input_tokens":10,"output_tokens":5,"total_tokens":15,"output_token_details":{"reasoning":3}}}}`,
			[]string{"0 llm_call_started", "0 llm_call_completed tokens=15 {Input:10 Output:5 CachedInput:0 CacheWrite:0 Reasoning:3}"},
		},
		{
			"times in milliseconds, as the JavaScript SDK has them",
			`{"runs":[{"id":"b","name":"y","run_type":"tool","start_time":1788242401000,"end_time":1788242402000,"trace_id":"t","parent_run_id":"r"},
				{"id":"a","name":"x","run_type":"tool","start_time":1788242400000,"end_time":1788242401000,"trace_id":"t","parent_run_id":"r"}]}`,
			[]string{"1 tool_call_started a x", "1 tool_call_completed a x", "0 tool_call_started b y", "0 tool_call_completed b y"},
		},
		{"a run of an unknown type gives nothing", `{"id":"a","run_type":"sandbox","trace_id":"t"}`, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, ingesttest.Short(t, Format(), tc.input)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestTheRunIsTheThreadElseTheTrace(t *testing.T) {
	const run = `{"id":"a","name":"x","run_type":"tool","trace_id":"t","session_id":"project","extra":{"metadata":{%s}}}`
	for metadata, want := range map[string]string{``: "t", `"thread_id":"th"`: "th", `"session_id":"s","thread_id":"th"`: "s"} {
		events, _, err := ingesttest.Decode(Format(), []byte(run[:len(run)-len("%s}}}")]+metadata+"}}}"))
		if err != nil || len(events) == 0 || events[0].RunID != want {
			t.Errorf("metadata {%s}: %v, %v; want the run %s", metadata, events, err, want)
		}
	}
}

func TestBadInput(t *testing.T) {
	ingesttest.Refused(t, Format(), `{"runs":[{"id":"a"},{"id":"b","run_type":1}]}`, "runs.1.run_type", "a JSON number")
	ingesttest.Refused(t, Format(), "{\"id\":\"a\"}\n[", "", "not valid JSON")
}

func TestSniff(t *testing.T) {
	for name, tc := range map[string]struct {
		head string
		want bool
	}{
		"a run whose inputs are cut":    {`{"id":"a","name":"x","start_time":"t","run_type":"chain","inputs":{"messa`, true},
		"an answer of the API":          {`{"runs":[{"id":"a","run_type":"llm","trace_id":"t"}],"cursors":{}}`, true},
		"an unknown type":               {`{"id":"a","run_type":"scheduled","start_time":"t"}`, false},
		"a run of unloop's own":         {`{"run_id":"a","type":"tool_call_started","run_type":"x"}`, false},
		"a type without any other sign": {`{"run_type":"llm"}`, false},
		"nothing":                       {``, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := sniff([]byte(tc.head)); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}
