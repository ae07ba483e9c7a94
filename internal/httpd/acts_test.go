package httpd

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/unloop-ai/unloop/internal/api"
)

// act sends an act and returns it as it was done.
func act(h *testServer, body string, header ...string) (done api.Act) {
	h.t.Helper()
	w := h.do(http.MethodPost, "/api/acts", body, append([]string{"Content-Type", "application/json"}, header...)...)
	if err := json.Unmarshal(w.Body.Bytes(), &done); err != nil || w.Code != http.StatusOK {
		h.t.Fatalf("POST /api/acts %s: %d %s", body, w.Code, w.Body)
	}
	return done
}

var withoutTimes = cmpopts.IgnoreFields(api.Act{}, "At")

func TestLabelsAndAcknowledgementsAreTheReviewOfARun(t *testing.T) {
	h := newTestServer(t, nil)
	h.send(looping("r", 6)...)
	warning := get[[]api.Warning](h, "/api/runs/r/warnings")[0]
	act(h, `{"action":"label","run_id":"r","value":"not_a_loop","note":"it waits for CI"}`)
	act(h, fmt.Sprintf(`{"action":"acknowledge","run_id":"r","warning_id":%q}`, warning.ID))
	act(h, `{"action":"mute","rule":"same_call_same_result","tool":"search","project":"lab"}`)
	act(h, `{"action":"mute","rule":"same_call_same_result","project":"another"}`)
	got := get[api.Review](h, "/api/runs/r/review")
	want := api.Review{
		Label:        &api.Label{RunID: "r", Label: "not_a_loop", Note: "it waits for CI", Who: "local"},
		Acknowledged: []api.Acknowledgement{{Warning: warning.ID, Who: "local"}},
		Mutes:        []api.Act{{Number: 3, Who: "local", Action: "mute", Rule: "same_call_same_result", Tool: "search", Project: "lab"}},
	}
	if diff := cmp.Diff(want, got, withoutTimes, cmpopts.IgnoreFields(api.Label{}, "At"), cmpopts.IgnoreFields(api.Acknowledgement{}, "At")); diff != "" {
		t.Errorf("review (-want +got):\n%s", diff)
	}
	if labels := get[[]api.Label](h, "/api/labels"); len(labels) != 1 || labels[0].RunID != "r" {
		t.Errorf("labels %+v", labels)
	}
	act(h, `{"action":"unmute","value":"4"}`)
	act(h, `{"action":"label","run_id":"r"}`)
	act(h, fmt.Sprintf(`{"action":"unacknowledge","run_id":"r","warning_id":%q}`, warning.ID))
	if after := get[api.Review](h, "/api/runs/r/review"); after.Label != nil || len(after.Acknowledged) != 0 {
		t.Errorf("review %+v", after)
	}
	if mutes := get[[]api.Act](h, "/api/mutes"); len(mutes) != 1 || mutes[0].Number != 3 {
		t.Errorf("mutes %+v", mutes)
	}
}

func TestNamesInActsAndAlertsAreMasked(t *testing.T) {
	alerts := &fakeAlerts{}
	h := newTestServer(t, func(o *Options) {
		o.Name = func(text string) string { return strings.ReplaceAll(text, "sesame", "[masked]") }
		o.Alerts = alerts
	})
	got := act(h, `{"action":"mute","rule":"r sesame","tool":"t sesame","project":"p sesame","value":"v sesame","note":"n sesame"}`)
	want := api.Act{Number: 1, Who: "local", Action: "mute", Rule: "r [masked]", Tool: "t [masked]", Project: "p [masked]", Value: "v [masked]", Note: "n [masked]"}
	if diff := cmp.Diff(want, got, withoutTimes); diff != "" {
		t.Errorf("the act (-want +got):\n%s", diff)
	}
	for _, path := range []string{"/api/alerts", "/api/alerts/1"} {
		h.do(http.MethodPost, path, `{"url":"https://example.com","projects":["p sesame"]}`, "Content-Type", "application/json")
		if n := len(alerts.projects); n == 0 || alerts.projects[n-1] != "p [masked]" {
			t.Errorf("%s: projects %q, want p [masked]", path, alerts.projects)
		}
	}
}

func TestTheAuditLogNamesTheTokenOfEachAct(t *testing.T) {
	hash := func(secret string) string { sum := sha256.Sum256([]byte(secret)); return hex.EncodeToString(sum[:]) }
	h := newTestServer(t, func(o *Options) {
		o.Tokens = []Token{{Name: "ada", Scope: Admin, SHA256: hash("a")}, {Name: "ben", Scope: Admin, SHA256: hash("b")}, {Name: "eve", Scope: Read, SHA256: hash("e")}}
	})
	as := func(secret string) []string { return []string{"Authorization", "Bearer " + secret} }
	w := h.do(http.MethodPost, "/api/events", strings.Join(looping("r", 6), "\n"), append(as("a"), "Content-Type", "application/x-ndjson")...)
	if w.Code != http.StatusCreated {
		t.Fatal(w.Code, w.Body)
	}
	act(h, `{"action":"label","run_id":"r","value":"loop"}`, as("a")...)
	act(h, `{"action":"mute","rule":"cycle"}`, as("b")...)
	if w := h.do(http.MethodPost, "/api/acts", `{"action":"mute","rule":"cycle"}`, append(as("e"), "Content-Type", "application/json")...); w.Code != http.StatusForbidden {
		t.Errorf("who may only read mutes: %d", w.Code)
	}
	if w := h.do(http.MethodDelete, "/api/runs/r", "", as("b")...); w.Code != http.StatusNoContent {
		t.Fatal(w.Code, w.Body)
	}
	w = h.do(http.MethodGet, "/api/acts", "", as("e")...)
	var got []api.Act
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := []api.Act{
		{Number: 3, Who: "ben", Action: "delete", RunID: "r", Project: "lab"},
		{Number: 2, Who: "ben", Action: "mute", Rule: "cycle"},
		{Number: 1, Who: "ada", Action: "label", RunID: "r", Project: "lab", Value: "loop"},
	}
	if diff := cmp.Diff(want, got, withoutTimes); diff != "" {
		t.Errorf("audit log (-want +got):\n%s", diff)
	}
}

func TestAnInvalidActIsRejected(t *testing.T) {
	h := newTestServer(t, nil)
	h.send(looping("r", 6)...)
	for name, c := range map[string]struct {
		body, field string
		status      int
	}{
		"a label of no run":        {`{"action":"label","run_id":"nobody","value":"loop"}`, "run_id", 404},
		"an unknown label":         {`{"action":"label","run_id":"r","value":"maybe"}`, "value", 422},
		"an unknown action":        {`{"action":"delete","run_id":"r"}`, "action", 422},
		"a warning of another run": {`{"action":"acknowledge","run_id":"r","warning_id":"wrn_x"}`, "warning_id", 404},
		"a mute of no rule":        {`{"action":"mute","tool":"search"}`, "rule", 422},
		"the end of no mute":       {`{"action":"unmute","value":"7"}`, "value", 404},
		"a note without end":       {`{"action":"mute","rule":"cycle","note":"` + strings.Repeat("x", 1001) + `"}`, "note", 422},
	} {
		t.Run(name, func(t *testing.T) {
			w := h.do(http.MethodPost, "/api/acts", c.body, "Content-Type", "application/json")
			var p api.Problem
			if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != c.status || !strings.HasSuffix(p.Field, c.field) {
				t.Errorf("%d %s, want %d about %s", w.Code, w.Body, c.status, c.field)
			}
		})
	}
	if acts := get[[]api.Act](h, "/api/acts"); len(acts) != 0 {
		t.Errorf("the audit log has %+v", acts)
	}
}
