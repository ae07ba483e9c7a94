package opencode

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/ingest/ingesttest"
)

func TestGolden(t *testing.T) { ingesttest.Golden(t, Format(), "*.json") }

func FuzzDecode(f *testing.F) { ingesttest.Fuzz(f, Format(), "*.json") }

func TestDecode(t *testing.T) {
	const tokens = `{"input":5,"output":3,"reasoning":2,"cache":{"read":10,"write":1}`
	for _, tc := range []struct {
		name, messages string
		want           []string // each event in short
	}{
		{
			"each step is a model call, and the message's own usage counts for nothing",
			`{"info":{"role":"assistant","modelID":"m","tokens":` + tokens + `}},"parts":[
				{"type":"step-start"},{"type":"step-finish","tokens":` + tokens + `}},
				{"type":"step-start"},{"type":"text","text":"Done."},{"type":"step-finish","tokens":` + tokens + `}}]}`,
			[]string{
				"0 llm_call_started", "0 llm_call_completed tokens=19 output=3",
				"0 llm_call_started", "0 llm_call_completed tokens=19 output=3", "0 message assistant Done.",
			},
		},
		{
			"a message without steps is one model call",
			`{"info":{"role":"assistant","tokens":` + tokens + `}},"parts":[{"type":"text","text":"Hi."}]}`,
			[]string{"0 llm_call_started", "0 llm_call_completed tokens=19 output=3", "0 message assistant Hi."},
		},
		{
			"reasoning that the total counts beside the output is part of it",
			`{"info":{"role":"assistant","tokens":` + tokens + `,"total":21}},"parts":[]}`,
			[]string{"0 llm_call_started", "0 llm_call_completed tokens=21 output=5"},
		},
		{
			"a step that was cut off is a failed model call, with the error of the message",
			`{"info":{"role":"assistant","error":{"name":"MessageAbortedError","data":{"message":"stop"}}},"parts":[{"type":"step-start"}]}`,
			[]string{"0 llm_call_started", `0 llm_call_failed "MessageAbortedError: stop"`},
		},
		{
			"what the program inserted starts no turn, and what the model does not see is left out",
			`{"info":{"role":"user"},"parts":[{"type":"text","text":"a","synthetic":true},{"type":"text","text":"b","ignored":true},{"type":"text","text":"c"}]}`,
			[]string{"0 message system a", "0 message user c"},
		},
		{
			"a command that was killed has no exit code, and did not fail by itself",
			`{"info":{"role":"assistant"},"parts":[{"type":"tool","callID":"c","tool":"bash","state":{"status":"completed","input":{},"output":"…","metadata":{"exit":null}}}]}`,
			[]string{"0 tool_call_started c bash", `0 tool_call_completed c bash "…"`},
		},
		{
			"a call that waits has no outcome",
			`{"info":{"role":"assistant"},"parts":[{"type":"tool","callID":"c","tool":"bash","state":{"status":"pending","input":{},"raw":""}}]}`,
			[]string{"0 tool_call_started c bash"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			events, _, err := ingesttest.Decode(Format(), []byte(`{"info":{"id":"ses_1"},"messages":[`+tc.messages+`]}`))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range events {
				if e.RunID != "ses_1" {
					t.Errorf("run = %q, want the session's", e.RunID)
				}
				line := fmt.Sprintln(e.Index, e.Type, e.CallID, e.Tool, e.Role, e.Text, string(e.Output), string(e.Error))
				if e.Usage != nil {
					line += fmt.Sprintf("tokens=%d output=%d", e.Tokens, e.Usage.Output)
				}
				got = append(got, strings.Join(strings.Fields(line), " "))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestBadInput(t *testing.T) {
	ingesttest.Refused(t, Format(), `{"info":{"id":"ses_1"}}`, "messages", "missing")
	ingesttest.Refused(t, Format(), `{"info":{"id":"ses_1"},"messages":[{"info":{"role":1}}]}`, "messages.0.info.role", "a JSON number")
}

func TestSniff(t *testing.T) {
	for name, tc := range map[string]struct {
		head string
		want bool
	}{
		"a session":                      {"{\n  \"info\": {\n    \"id\": \"ses_1\",\n    \"ti", true},
		"a trajectory of mini-swe-agent": {`{"info":{"exit_status":"Submitted"},"messages":[]}`, false},
		"an info that is deeper":         {`{"run":{"info":{"id":"ses_1"}}}`, false},
		"an info with an id of its own":  {`{"info":{"id":"r1"},"messages":[]}`, false},
		"an info that is a list":         {`{"info":[{"id":"ses_1"}]}`, false},
		"nothing":                        {``, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := sniff([]byte(tc.head)); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}
