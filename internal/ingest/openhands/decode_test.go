package openhands

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/ingest/ingesttest"
)

func TestGolden(t *testing.T) { ingesttest.Golden(t, Format(), "*.jsonl") }

func FuzzDecode(f *testing.F) { ingesttest.Fuzz(f, Format(), "*.jsonl") }

func TestDecode(t *testing.T) {
	const result = `{"kind":"ObservationEvent","tool_name":"x","tool_call_id":"c","observation":%s}`
	for _, tc := range []struct {
		name, input string
		want        []string // each event in short
	}{
		{"a list of events", `[{"kind":"MessageEvent","source":"user","llm_message":{"content":[{"type":"text","text":"hi"}]}}]`, []string{"0 message user hi"}},
		{
			"events of joined files", `{"kind":"MessageEvent","source":"user","llm_message":{"content":"hi"}}{"kind":"MessageEvent","source":"agent","llm_message":{"content":"ho"}}`,
			[]string{"0 message user hi", "1 message assistant ho"},
		},
		{
			"what the environment says starts no turn", `{"kind":"MessageEvent","source":"environment","llm_message":{"content":"Go on."}}`,
			[]string{"0 message system Go on."},
		},
		{"an error is a failure", fmt.Sprintf(result, `{"content":[{"type":"text","text":"no"}],"is_error":true}`), []string{`0 tool_call_failed c x "no"`}},
		{"a command that still runs has not failed", fmt.Sprintf(result, `{"content":[{"type":"text","text":"…"}],"exit_code":-1}`), []string{`0 tool_call_completed c x "…"`}},
		{"an observation without content is the result", fmt.Sprintf(result, `{"diff":"+1"}`), []string{`0 tool_call_completed c x {"diff":"+1"}`}},
		{"a kind that is not known is passed over", `{"kind":"PauseEvent","source":"user"}`, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			events, _, err := ingesttest.Decode(Format(), []byte(tc.input))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range events {
				line := fmt.Sprintln(e.Index, e.Type, e.CallID, e.Tool, e.Role, e.Text, string(e.Output))
				got = append(got, strings.Join(strings.Fields(line), " "))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestBadInput(t *testing.T) {
	ingesttest.Refused(t, Format(), `[{"kind":"MessageEvent"},{"kind":1}]`, "kind", "a JSON number")
	ingesttest.Refused(t, Format(), `{"kind":"ObservationEvent","observation":{"is_error":"no"}}`, "is_error", "a JSON string")
}

func TestSniff(t *testing.T) {
	for name, tc := range map[string]struct {
		head string
		want bool
	}{
		"the prompt of the system, cut":  {`{"id":"a","timestamp":"2026-09-21T14:13:20","source":"agent","system_prompt":{"type":"text","text":"You are`, true},
		"a list that begins with a call": {`[{"kind":"ActionEvent","timestamp":"t","source":"agent","tool_name":"x","tool_call_id":"c"}]`, true},
		"an event of unloop":             {`{"type":"message","timestamp":"t","source":"agent","role":"user"}`, false},
		"another source":                 {`{"timestamp":"t","source":"cron","llm_message":{}}`, false},
		"a step of ATIF":                 {`{"timestamp":"t","source":"agent","message":"hi"}`, false},
		"nothing":                        {``, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := sniff([]byte(tc.head)); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}
