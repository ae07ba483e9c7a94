package langfuse

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/ingest/ingesttest"
)

// TestGolden has the same rows as CSV and as JSON Lines, which must give the same events.
func TestGolden(t *testing.T) { ingesttest.Golden(t, Format(), "*.[jc]s*") }

func FuzzDecode(f *testing.F) { ingesttest.Fuzz(f, Format(), "*.[jc]s*") }

func TestDecode(t *testing.T) {
	const (
		start = `{"id":"a","traceId":"t","parentObservationId":"p","startTime":"2026-09-01T06:00:00Z","endTime":"2026-09-01T06:00:01Z",`
		end   = "0 run_completed"
	)
	for _, tc := range []struct {
		name, input string
		want        []string // each event in short
	}{
		{
			"texts that contain JSON are that JSON",
			start + `"type":"TOOL","name":"x","input":"{\"a\":1}","output":"[1,2]"}`,
			[]string{`0 tool_call_started a x {"a":1}`, "0 tool_call_completed a x [1,2]", end},
		},
		{
			"an observation without an end is a call that waits, and its trace has not ended",
			`{"id":"a","traceId":"t","type":"TOOL","name":"x","startTime":"2026-09-01T06:00:00Z","endTime":null,"input":{}}`,
			[]string{"0 tool_call_started a x {}"},
		},
		{
			"kinds of tokens that exclude each other",
			start + `"type":"GENERATION","model":"m","usageDetails":{"input":10,"cache_read_input_tokens":80,"cache_creation_input_tokens":10,"output":5,"output_reasoning":2,"total":107}}`,
			[]string{"0 llm_call_started m", "0 llm_call_completed m tokens=107 {Input:100 Output:7 CachedInput:80 CacheWrite:10 Reasoning:2}", end},
		},
		{
			"kinds of tokens that include each other, which the total tells",
			start + `"type":"GENERATION","usageDetails":{"input":100,"input_cached_tokens":80,"output":7,"reasoning_tokens":2,"total":107}}`,
			[]string{"0 llm_call_started", "0 llm_call_completed tokens=107 {Input:100 Output:7 CachedInput:80 CacheWrite:0 Reasoning:2}", end},
		},
		{
			"the tokens of old observations",
			start + `"type":"GENERATION","input":"9","promptTokens":3,"completionTokens":4,"costDetails":{"input":0.1,"total":0.25}}`,
			[]string{"0 llm_call_started", "0 llm_call_completed tokens=7 {Input:3 Output:4 CachedInput:0 CacheWrite:0 Reasoning:0} cost=0.25", end},
		},
		{
			"a trace beside its observations, as the page downloads it",
			`{"trace":{"id":"t","name":"night watch","sessionId":"s"},"observations":[` + start + `"type":"TOOL","name":"x"}]}`,
			[]string{"0 tool_call_started a x", "0 tool_call_completed a x", end},
		},
		{"a list of traces, whose observations are only ids", `{"data":[{"id":"t","name":"n","observations":["a","b"]}],"meta":{}}`, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, ingesttest.Short(t, Format(), tc.input)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestBadInput(t *testing.T) {
	ingesttest.Refused(t, Format(), `{"data":[{"id":"a"},7]}`, "data.1", "a JSON number")
	ingesttest.Refused(t, Format(), `{"id":"t","observations":[{"type":"TOOL"}]}`, "observations.0.id", "missing")
	ingesttest.Refused(t, Format(), "id,trace_id\na,b,c\n", "", "not valid CSV: wrong number of fields")
	ingesttest.Refused(t, Format(), "id,trace_id\n\"a", "", "not valid CSV: extraneous or missing")
}

func TestSniff(t *testing.T) {
	for name, tc := range map[string]struct {
		head string
		want bool
	}{
		"the columns of the page's CSV":        {"\"id\",\"traceId\",\"type\",\"startTime\",\"parentObservationId\"\n", true},
		"a CSV with a byte order mark":         {"\ufeffid,trace_id,type,parent_observation_id,start_time\r\n", true},
		"another CSV":                          {"id,name,start_time\n", false},
		"a trace of the API":                   {`{"id":"t","observations":[{"id":"a","traceId":"t","type":"SPAN","startTime":"x"}]}`, true},
		"a score":                              {`{"id":"s","traceId":"t","name":"good","value":1}`, false},
		"another record with a trace and type": {`{"id":"a","trace_id":"t","type":"tool_call_started","start_time":1}`, false},
		"nothing":                              {``, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := sniff([]byte(tc.head)); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}
