package anthropic

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/ingest/ingesttest"
)

func TestGolden(t *testing.T) { ingesttest.Golden(t, Format(), "*.json*") }

func FuzzDecode(f *testing.F) { ingesttest.Fuzz(f, Format(), "*.json*") }

// events decodes data, and leaves out of the events what is the same in all: run, id and sequence.
func events(t *testing.T, data string) []unloop.Event {
	t.Helper()
	decoded, _, err := ingesttest.Decode(Format(), []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	var got []unloop.Event
	for _, e := range decoded {
		e.RunID, e.ID, e.Sequence = "", "", 0
		got = append(got, *e)
	}
	return got
}

func TestMessages(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	for name, tc := range map[string]struct {
		message string
		want    []unloop.Event
	}{
		"thinking is no message": {
			`{"role":"assistant","content":[{"type":"thinking","thinking":"x"},{"type":"redacted_thinking","data":"y"}]}`, nil,
		},
		"a text comes before the calls it announces": {
			`{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}},{"type":"text","text":"x"}]}`,
			[]unloop.Event{
				{Type: unloop.MessageSent, Role: "assistant", Text: "x"},
				{Type: unloop.ToolCallStarted, CallID: "t", Tool: "f", Input: raw(`{}`)},
			},
		},
		"a user's text comes after the results it is sent with": {
			`{"role":"user","content":[{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"t","content":"y"}]}`,
			[]unloop.Event{
				{Type: unloop.ToolCallCompleted, CallID: "t", Output: raw(`"y"`)},
				{Type: unloop.MessageSent, Role: "user", Text: "x"},
			},
		},
		"a failure keeps what the tool said": {
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":[{"type":"text","text":"y"}]}]}`,
			[]unloop.Event{{Type: unloop.ToolCallFailed, CallID: "t", Output: raw(`"y"`)}},
		},
		"the API's own tools tell a failure in their content": {
			`{"role":"assistant","content":[{"type":"web_fetch_tool_result","tool_use_id":"t","content":` +
				`{"type":"web_fetch_tool_result_error","error_code":"unavailable"}}]}`,
			[]unloop.Event{{
				Type: unloop.ToolCallFailed, CallID: "t", Error: raw(`"unavailable"`),
				Output: raw(`{"type":"web_fetch_tool_result_error","error_code":"unavailable"}`),
			}},
		},
		"cached tokens count": {
			`{"role":"assistant","content":[],"usage":{"input_tokens":1,"cache_creation_input_tokens":20,` +
				`"cache_read_input_tokens":300,"output_tokens":4000}}`,
			[]unloop.Event{{Type: unloop.LLMCallStarted}, {
				Type: unloop.LLMCallCompleted, Tokens: 4321,
				Usage: &unloop.Usage{Input: 321, Output: 4000, CachedInput: 300, CacheWrite: 20},
			}},
		},
		"a role that is not known says nothing": {`{"role":"critic","content":"x"}`, nil},
		"a message without content":             {`{"role":"assistant"}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := events(t, `{"messages":[`+tc.message+`]}`)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestRecords(t *testing.T) {
	user := unloop.Event{Type: unloop.MessageSent, Role: "user", Text: "hi"}
	system := unloop.Event{Type: unloop.MessageSent, Role: "system", Text: "Be kind."}
	reply := unloop.Event{Type: unloop.MessageSent, Role: "assistant", Text: "hello", Index: 1}
	const (
		request  = `"system":"Be kind.","messages":[{"role":"user","content":"hi"}]`
		response = `{"type":"message","role":"assistant","content":[{"type":"text","text":"hello"}]}`
	)
	for name, tc := range map[string]struct {
		record string
		want   []unloop.Event
	}{
		"a request":                   {`{` + request + `}`, []unloop.Event{system, user}},
		"a request and its response":  {`{"request":{` + request + `},"response":` + response + `}`, []unloop.Event{system, user, reply}},
		"bodies":                      {`{"request":{"body":{` + request + `}},"response":{"body":` + response + `}}`, []unloop.Event{system, user, reply}},
		"a response that is an error": {`{` + request + `,"response":{"type":"error","error":{}}}`, []unloop.Event{system, user}},
		"the system prompt is told once": {
			`{` + request + `}` + "\n" + `{"system":"Be kind.","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]}`,
			[]unloop.Event{system, user, reply},
		},
		"a list has no system prompt": {`[{"role":"user","content":"hi"}]`, []unloop.Event{user}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, events(t, tc.record)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestBadInput(t *testing.T) {
	for name, tc := range map[string]struct{ line, want string }{
		"a block's name that is a number": {
			`{"messages":[{"role":"user"},{"role":"assistant","content":[{"type":"text"},{"type":"tool_use","name":5}]}]}`,
			"input:2: messages.1.content.1.name: a JSON number does not fit here, want a string",
		},
		"a content that is a number": {
			`[{"role":"user","content":5}]`,
			"input:2: 0.content: neither a string nor a list of blocks",
		},
		"a reply's content that is an object": {
			`{"messages":[{"role":"user"}],"response":{"role":"assistant","content":{}}}`,
			"input:2: response.content: neither a string nor a list of blocks",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := ingesttest.Decode(Format(), []byte("{}\n"+tc.line+"\n"))
			var bad *ingest.BadInput
			if !errors.As(err, &bad) {
				t.Fatalf("got %v, want a BadInput", err)
			}
			if diff := cmp.Diff(tc.want, bad.Error()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestSniff(t *testing.T) {
	for name, tc := range map[string]struct {
		head string
		want bool
	}{
		"tool blocks":           {`[{"role":"assistant","content":[{"type":"tool_use"`, true},
		"mere texts":            {`{"messages":[{"role":"user","content":"hi"}]}`, false},
		"tool calls":            {`[{"role":"assistant","content":null,"tool_calls":[`, false},
		"a Claude Code session": {`{"type":"user","message":{"role":"user","content":[{"type":"tool_result"}]}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Format().Sniff([]byte(tc.head)); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}
