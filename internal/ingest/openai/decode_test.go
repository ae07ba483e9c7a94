package openai

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
	text := func(s string) json.RawMessage { return json.RawMessage(s) }
	for name, tc := range map[string]struct {
		message string
		want    []unloop.Event
	}{
		"a developer speaks as the system": {
			`{"role":"developer","content":"x"}`,
			[]unloop.Event{{Type: unloop.MessageSent, Role: "system", Text: "x"}},
		},
		"a blank text is no message": {`{"role":"assistant","content":" "}`, nil},
		"an assistant's name is the agent": {
			`{"role":"assistant","name":"planner","content":"x"}`,
			[]unloop.Event{{Type: unloop.MessageSent, Role: "assistant", Agent: "planner", Text: "x"}},
		},
		"a tool's name is not an agent": {
			`{"role":"tool","name":"grep","tool_call_id":"c","content":"x"}`,
			[]unloop.Event{{Type: unloop.ToolCallCompleted, Tool: "grep", CallID: "c", Output: text(`"x"`)}},
		},
		"a result in text parts is their text": {
			`{"role":"tool","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`,
			[]unloop.Event{{Type: unloop.ToolCallCompleted, Output: text(`"a\nb"`)}},
		},
		"a result with an image stays as it is": {
			`{"role":"tool","content":[{"type":"text","text":"a"},{"type":"image_url"}]}`,
			[]unloop.Event{{Type: unloop.ToolCallCompleted, Output: text(`[{"type":"text","text":"a"},{"type":"image_url"}]`)}},
		},
		"arguments in a string are the JSON in it": {
			`{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":" {\"a\": 1} "}}]}`,
			[]unloop.Event{{Type: unloop.ToolCallStarted, Tool: "f", CallID: "c", Input: text(`{"a": 1}`)}},
		},
		"a custom tool's input stays text, even if it is JSON": {
			`{"role":"assistant","tool_calls":[{"id":"c","type":"custom","custom":{"name":"f","input":"{\"a\":1}"}}]}`,
			[]unloop.Event{{Type: unloop.ToolCallStarted, Tool: "f", CallID: "c", Input: text(`"{\"a\":1}"`)}},
		},
		"tokens are input and output together, and by kind": {
			`{"role":"assistant","content":"","usage":{"prompt_tokens":5,"completion_tokens":2,` +
				`"prompt_tokens_details":{"cached_tokens":3},"completion_tokens_details":{"reasoning_tokens":1}}}`,
			[]unloop.Event{{Type: unloop.LLMCallStarted}, {
				Type: unloop.LLMCallCompleted, Tokens: 7, Usage: &unloop.Usage{Input: 5, Output: 2, CachedInput: 3, Reasoning: 1},
			}},
		},
		"a total alone has no kinds": {
			`{"role":"assistant","content":"","usage":{"total_tokens":7}}`,
			[]unloop.Event{{Type: unloop.LLMCallStarted}, {Type: unloop.LLMCallCompleted, Tokens: 7}},
		},
		"a call of no known kind says nothing": {`{"role":"assistant","tool_calls":[{"id":"c","type":"new"}]}`, nil},
		"null says nothing":                    {`null`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := events(t, `{"messages":[`+tc.message+`]}`)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestReplies(t *testing.T) {
	want := []unloop.Event{
		{Type: unloop.MessageSent, Role: "user", Text: "hi"},
		{Type: unloop.LLMCallStarted, Model: "m", Index: 1},
		{Type: unloop.LLMCallCompleted, Model: "m", Tokens: 9, Index: 1},
		{Type: unloop.MessageSent, Role: "assistant", Text: "hello", Index: 1},
	}
	const (
		messages = `"messages":[{"role":"user","content":"hi"}]`
		response = `"model":"m","usage":{"total_tokens":9},` +
			`"choices":[{"message":{"role":"assistant","content":"hello"}},{"message":{"role":"assistant","content":"or"}}]`
	)
	for name, record := range map[string]string{
		"beside the messages":                `{` + messages + `,` + response + `}`,
		"in a response":                      `{` + messages + `,"response":{` + response + `}}`,
		"in the body of a response":          `{"body":{` + messages + `},"response":{"status_code":200,"body":{` + response + `}}}`,
		"beside a request":                   `{"request":{"model":"other",` + messages + `},"response":{` + response + `}}`,
		"a response text is no conversation": `{` + messages + `,"response":"hello"}`,
	} {
		t.Run(name, func(t *testing.T) {
			want := want
			if name == "a response text is no conversation" {
				want = want[:1]
			}
			if diff := cmp.Diff(want, events(t, record)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestBadInput(t *testing.T) {
	for name, tc := range map[string]struct{ line, want string }{
		"a tool's name that is a number": {
			`{"messages":[{"role":"user"},{"role":"assistant","tool_calls":[{"function":{"name":5}}]}]}`,
			"input:2: messages.1.tool_calls.0.function.name: a JSON number does not fit here, want a string",
		},
		"tool calls that are no list": {
			`{"request":{"messages":[{"role":"assistant","tool_calls":{}}]}}`,
			"input:2: request.messages.0.tool_calls: a JSON object does not fit here, want an array",
		},
		"a reply that is a text": {
			`{"messages":[{"role":"user"}],"response":{"choices":[{"message":"hello"}]}}`,
			"input:2: response.choices.0.message: a JSON string does not fit here, want an object",
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
		"tool calls":  {`[{"role":"assistant","content":null,"tool_calls":[`, true},
		"mere texts":  {`{"messages":[{"role":"user","content":"hi"}]}`, true},
		"tool blocks": {`[{"role":"assistant","content":[{"type":"tool_use"}]}]`, false},
		"tau-bench":   {`[{"task_id":0,"traj":[{"role":"user","content":"hi"}]}]`, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Format().Sniff([]byte(tc.head)); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}
