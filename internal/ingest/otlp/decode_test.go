package otlp

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

func TestGolden(t *testing.T) { ingesttest.Golden(t, Format(), "*.json*") }

func FuzzDecode(f *testing.F) { ingesttest.Fuzz(f, Format(), "*.json*") }

// request returns an OTLP request with the spans, which are JSON.
func request(spans ...string) string {
	return `{"resourceSpans":[{"scopeSpans":[{"spans":[` + strings.Join(spans, ",") + `]}]}]}`
}

// toolSpan returns a span of a tool call; more are further members, which begin with a comma.
func toolSpan(id, parent, tool, more string) string {
	return fmt.Sprintf(`{"traceId":"5b000000000000000000000000000001","spanId":"%s","parentSpanId":"%s","name":"execute_tool %s"%s}`, id, parent, tool, more)
}

const agentSpan = `{"traceId":"5b000000000000000000000000000001","spanId":"a000000000000001","name":"invoke_agent clerk"}`

func short(events []*unloop.Event) []string {
	var told []string
	for _, e := range events {
		line := fmt.Sprintln(e.Index, e.Type, e.ID, e.Agent, e.Tool, string(e.Input), string(e.Output), string(e.Error))
		told = append(told, strings.Join(strings.Fields(line), " "))
	}
	return told
}

var one = request(toolSpan("a000000000000002", "a000000000000001", "ls", ""))

var decodeTests = []struct {
	name, data string
	want       []string
}{
	{
		name: "a child finds its parent in a later request",
		data: one + "\n" + request(agentSpan) + "\n",
		want: []string{
			"0 tool_call_started a000000000000002.start clerk ls",
			"0 tool_call_completed a000000000000002.end clerk ls",
			"1 run_completed a000000000000001.end clerk",
		},
	},
	{
		name: "a request that was sent twice counts once",
		data: one + "\n" + one + "\n",
		want: []string{
			"0 tool_call_started a000000000000002.start ls",
			"0 tool_call_completed a000000000000002.end ls",
		},
	},
	{
		name: "a file without a last line end is whole",
		data: one,
		want: []string{
			"0 tool_call_started a000000000000002.start ls",
			"0 tool_call_completed a000000000000002.end ls",
		},
	},
	{
		name: "an indented document is one request",
		data: "{\n\"resourceSpans\": [{\"scopeSpans\": [{\"spans\": [" + toolSpan("a000000000000002", "", "ls", "") + "]}]}]}",
		want: []string{
			"0 tool_call_started a000000000000002.start ls",
			"0 tool_call_completed a000000000000002.end ls",
		},
	},
	{
		name: "requests of logs among the traces say nothing",
		data: `{"resourceLogs":[]}` + "\n" + one + "\n",
		want: []string{
			"0 tool_call_started a000000000000002.start ls",
			"0 tool_call_completed a000000000000002.end ls",
		},
	},
	{
		name: "times come as strings or numbers, and tokens as both",
		data: request(
			`{"traceId":"5b000000000000000000000000000001","spanId":"a000000000000003","parentSpanId":"a000000000000009",
			"startTimeUnixNano":1770112800000000000,"endTimeUnixNano":"1770112800500000000","attributes":[
			{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},
			{"key":"gen_ai.usage.input_tokens","value":{"intValue":"7"}},
			{"key":"gen_ai.usage.output_tokens","value":{"intValue":5}}]}`),
		want: []string{"0 llm_call_started a000000000000003.start", "0 llm_call_completed a000000000000003.end"},
	},
}

func TestDecode(t *testing.T) {
	for _, tt := range decodeTests {
		t.Run(tt.name, func(t *testing.T) {
			events, warnings, err := ingesttest.Decode(Format(), []byte(tt.data))
			if err != nil || len(warnings) > 0 {
				t.Fatal(err, warnings)
			}
			if diff := cmp.Diff(tt.want, short(events)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if last := events[len(events)-1]; last.Type == unloop.LLMCallCompleted && (last.Tokens != 12 || *last.Latency != 500) {
				t.Errorf("tokens = %d, latency = %v; want 12, 500", last.Tokens, *last.Latency)
			}
		})
	}
}

func TestACutLastLineIsAWarning(t *testing.T) {
	data := request(toolSpan("a000000000000002", "", "ls", "")) + "\n" + `{"resourceSpans":[{"scope`
	events, warnings, err := ingesttest.Decode(Format(), []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	if len(events) != 2 || len(warnings) != 1 {
		t.Errorf("got %d events, warnings %q; want 2 events and one warning", len(events), warnings)
	}
}

func TestBadInput(t *testing.T) {
	good := request(agentSpan) + "\n"
	tests := []struct{ name, data, want string }{
		{
			"JSON that is cut before the last line", good + `{"resourceSpans":[` + "\n" + good,
			"input:2: resourceSpans: not valid JSON",
		},
		{
			"an id that is not hexadecimal", good + request(`{"spanId":"xyz"}`) + "\n",
			"input:2: resourceSpans: valid JSON, but no OTLP trace request",
		},
		{
			"spans that are no list", good + `{"resourceSpans":7}` + "\n",
			"input:2: resourceSpans: valid JSON, but no OTLP trace request",
		},
		{"a document that is cut", "{\n\"resourceSpans\": [{", "input: resourceSpans.0: not valid JSON"},
		{"no JSON", "spans\n", "input: not valid JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := ingesttest.Decode(Format(), []byte(tt.data))
			var bad *ingest.BadInput
			if !errors.As(err, &bad) {
				t.Fatalf("err = %v, want a BadInput", err)
			}
			if !strings.HasPrefix(bad.Error(), tt.want) {
				t.Errorf("err = %q, want %q", bad, tt.want)
			}
		})
	}
}

func TestSniff(t *testing.T) {
	tests := []struct {
		name, head string
		want       bool
	}{
		{"a request that is cut", `{"resourceSpans":[{"resource":{"attri`, true},
		{"an indented document", "{\n  \"resourceSpans\": [", true},
		{"an empty request", `{"resourceSpans":[]}`, true},
		{"nothing", ``, false},
		{"logs", `{"resourceLogs":[]}`, true},
		{"metrics", `{"resourceMetrics":[]}`, false},
		{"a list", `[{"resourceSpans":[]}]`, false},
		{"native events", `{"event_id":"e1","run_id":"r","type":"tool_call_started"}`, false},
		{"chat messages", `{"messages":[{"role":"user","content":"resourceSpans"}]}`, false},
		{"ATIF", `{"schema_version":"ATIF-v1.7","steps":[]}`, false},
		{"SWE-agent", `{"trajectory":[{"action":"ls","observation":"a"}]}`, false},
		{"no JSON", `resourceSpans`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := sniff([]byte(tt.head)); got != tt.want {
				t.Errorf("sniff = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestASpanWithoutATraceBelongsToTheFile(t *testing.T) {
	const span = `{"name":"execute_tool x","attributes":[{"key":"gen_ai.tool.name","value":{"stringValue":"x"}}]}`
	events, _, err := ingesttest.Decode(Format(), []byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[`+span+`,`+span+`]}]}]}`))
	if err != nil || len(events) != 4 {
		t.Fatalf("%d events (%v), want 4", len(events), err)
	}
	for _, e := range events {
		if e.RunID != "run" {
			t.Errorf("%s is of the run %q", e.ID, e.RunID)
		}
	}
}
