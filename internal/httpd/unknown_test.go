package httpd

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/api"
)

func TestUnknownTypesAndFieldsAreWarnedAbout(t *testing.T) {
	for _, tc := range []struct {
		name, body string
		want       []api.EventError
	}{
		{"known names are not told", `[{"run_id":"r","type":"tool_call_started","tool":"a","content":"none","usage":{"input_tokens":1}}]`, nil},
		{"a misspelt type", `[{"run_id":"r","type":"tool_call_start"}]`, []api.EventError{{
			Field: "type", Reason: `unknown event type "tool_call_start" (did you mean "tool_call_started"?); rules ignore it`,
		}}},
		{"a custom type", `[{"run_id":"r","type":"checkpoint"}]`, []api.EventError{{
			Field: "type", Reason: `unknown event type "checkpoint"; rules ignore it`,
		}}},
		{
			"a misspelt field, told once", `[{"run_id":"r","type":"message"},{"run_id":"r","type":"message","txet":"a"},{"run_id":"r","type":"message","txet":"b"}]`,
			[]api.EventError{{Index: 1, Field: "txet", Reason: `unknown field "txet" (did you mean "text"?); rules ignore it`}},
		},
		{"names of other APIs", `[{"run_id":"r","type":"llm_call_completed","usage":{"prompt_tokens":1},"tool_call_id":"c"}]`, []api.EventError{
			{Field: "usage.prompt_tokens", Reason: `unknown field of usage "prompt_tokens" (did you mean "input_tokens"?); rules ignore it`},
			{Field: "tool_call_id", Reason: `unknown field "tool_call_id" (did you mean "call_id"?); rules ignore it`},
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := newTestServer(t, nil)
			answer := h.do(http.MethodPost, "/api/events", tc.body)
			var batch api.Batch
			if err := json.Unmarshal(answer.Body.Bytes(), &batch); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, batch.Warnings); diff != "" || batch.Rejected > 0 {
				t.Errorf("%s\n%s", diff, answer.Body)
			}
			run := get[api.RunDetails](h, "/api/runs/r")
			if len(run.Hints) != len(tc.want) || len(tc.want) > 0 && run.Hints[0] != tc.want[0].Reason {
				t.Errorf("hints %q", run.Hints)
			}
		})
	}
}

func TestUnknownQueryParametersAreRejected(t *testing.T) {
	h := newTestServer(t, nil)
	for path, want := range map[string]string{
		"/api/runs?staus=failed":   `"reason":"unknown parameter (did you mean \"status\"?); allowed: agent, cursor, `,
		"/api/rules?x=1":           `"reason":"unknown parameter; it takes none"`,
		"/api/overview?since=24h&": "",
		"/api/runs?status=failed":  "",
	} {
		answer := h.do(http.MethodGet, path, "")
		if refused := answer.Code == http.StatusUnprocessableEntity; refused != (want != "") || !strings.Contains(answer.Body.String(), want) {
			t.Errorf("%s: %d %s, want %s", path, answer.Code, answer.Body, want)
		}
	}
}

func TestARunIsCompletedWhenAllEventsWereSent(t *testing.T) {
	h := newTestServer(t, nil)
	h.do(http.MethodPost, "/api/events", `[{"run_id":"r","type":"message","role":"user","text":"a"},{"run_id":"f","type":"run_failed"}]`)
	for _, id := range []string{"r", "f"} {
		h.do(http.MethodPost, "/api/runs", `{"id":"`+id+`","ended":true}`)
	}
	r := get[api.RunSummary](h, "/api/runs/r")
	if r.Status != "completed" || r.EndedAt == nil || !r.Untimed || r.Name != "a" {
		t.Errorf("run %+v, want completed, named after its message, with unknown times", r)
	}
	if f := get[api.RunSummary](h, "/api/runs/f"); f.Status != "failed" {
		t.Errorf("the failed run is %s", f.Status)
	}
	h.do(http.MethodPost, "/api/events", `{"run_id":"r","type":"message","role":"user","text":"b"}`)
	if r := get[api.RunSummary](h, "/api/runs/r"); r.Status != "running" {
		t.Errorf("a later event leaves it %s", r.Status)
	}
}
