package app

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/config"
)

// told are the type, the level and the run of a message that a webhook gets.
type told struct {
	Type  string
	Level string
	Run   struct{ ID string }
}

// hook serves an endpoint that passes on what it is told.
func hook(t *testing.T) (url string, messages <-chan told) {
	t.Helper()
	all := make(chan told, 100) // tests send far fewer
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var m told
		body, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(body, &m) != nil {
			t.Errorf("%v, message %s", err, body)
		}
		all <- m
	}))
	t.Cleanup(server.Close)
	return server.URL, all
}

func TestAnAlertIsAddedTestedChangedAndDeleted(t *testing.T) {
	address, messages := hook(t)
	db := filepath.Join(t.TempDir(), "test.db")
	url := serve(t, func(c *config.Config) {
		c.DB = db
		c.Webhooks = []config.Webhook{{URL: address + "/file-secret", Rules: []string{"cycle"}}}
	})
	var added api.Alert
	unmarshal(t, post(t, url+"/api/alerts", "application/json", fmt.Appendf(nil, `{"url":"%s/page-secret","secret":"key","projects":["loud"]}`, address)), &added)
	want := api.Alert{
		ID: "1", Endpoint: address, Signed: true, Format: "json", Severity: "info", Level: "raised", Rules: []string{}, Projects: []string{"loud"},
	}
	if diff := cmp.Diff(want, added); diff != "" {
		t.Errorf("added (-want +got):\n%s", diff)
	}
	var tested api.AlertTest
	unmarshal(t, post(t, url+"/api/alerts/1/test", "application/json", nil), &tested)
	if m := <-messages; !tested.Delivered || m.Type != "test" {
		t.Errorf("tested %+v, told %+v", tested, m)
	}
	for _, project := range []string{"quiet", "loud"} {
		post(t, url+"/api/events", "application/x-ndjson", fmt.Appendf(nil, `{"event_id":"b-%s","run_id":%q,"sequence":1,"type":"run_started","project":%q}`, project, project, project))
		failing(t, url, project, "loop", 6)
	}
	if m := <-messages; m.Run.ID != "loud" || m.Type != "warning" {
		t.Errorf("told first of %+v", m)
	}
	var changed api.Alert
	unmarshal(t, post(t, url+"/api/alerts/1", "application/json",
		[]byte(`{"secret":"","level":"halt","quiet_hours":{"from":"22:00","until":"07:00","time_zone":"Europe/Berlin"}}`)), &changed)
	want.Signed, want.Level, want.Quiet = false, "halt", &api.Quiet{From: "22:00", Until: "07:00", Zone: "Europe/Berlin"}
	if diff := cmp.Diff(want, changed); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	list := get(t, url+"/api/alerts")
	if strings.Contains(string(list), "secret\"") || strings.Contains(string(list), "key\"") || strings.Contains(string(list), "-secret") {
		t.Errorf("the list has a secret: %s", list)
	}
	var all []api.Alert
	unmarshal(t, list, &all)
	if len(all) != 2 || !all[0].InFile || all[0].ID != "file-1" || all[0].Rules[0] != "cycle" || all[1].ID != "1" {
		t.Errorf("list %+v", all)
	}
	send(t, http.MethodDelete, url+"/api/alerts/1", "", http.StatusNoContent)
	send(t, http.MethodDelete, url+"/api/alerts/1", "", http.StatusNotFound)
	send(t, http.MethodDelete, url+"/api/alerts/file-1", "", http.StatusUnprocessableEntity)
	var acts []api.Act
	unmarshal(t, get(t, url+"/api/acts"), &acts)
	var log []string
	for _, a := range acts {
		if a.Action == "label" {
			continue // of the runs
		}
		log = append(log, a.Action+" "+a.Value)
	}
	if diff := cmp.Diff([]string{"delete_alert " + address, "change_alert " + address, "add_alert " + address}, log); diff != "" {
		t.Errorf("audit log (-want +got):\n%s", diff)
	}
}

// send sends a request and expects a status.
func send(t *testing.T, method, url, body string, want int, header ...string) []byte {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for k := 0; k+1 < len(header); k += 2 {
		r.Header.Set(header[k], header[k+1])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != want {
		t.Errorf("%s %s: %s %s, want %d (%v)", method, url, answer.Status, text, want, err)
	}
	return text
}

func TestAnAlertOutlivesTheServer(t *testing.T) {
	address, messages := hook(t)
	db := filepath.Join(t.TempDir(), "test.db")
	t.Run("added", func(t *testing.T) {
		url := serve(t, func(c *config.Config) { c.DB = db })
		post(t, url+"/api/alerts", "application/json", fmt.Appendf(nil, `{"url":%q}`, address))
	})
	t.Run("after a restart", func(t *testing.T) {
		url := serve(t, func(c *config.Config) { c.DB = db })
		failing(t, url, "r", "loop", 6)
		if m := <-messages; m.Run.ID != "r" || m.Level == "" {
			t.Errorf("told of %+v", m)
		}
	})
}

func TestAnAlertOfAServerWithTokensReachesOnlyPublicAddresses(t *testing.T) {
	address, messages := hook(t)
	sum := sha256.Sum256([]byte("admin"))
	url := serve(t, func(c *config.Config) {
		c.Tokens = []config.Token{{Name: "ada", Scope: "admin", SHA256: hex.EncodeToString(sum[:])}}
	})
	as := []string{"Authorization", "Bearer admin"}
	send(t, http.MethodPost, url+"/api/alerts", fmt.Sprintf(`{"url":%q}`, address), http.StatusOK, as...)
	var tested api.AlertTest
	unmarshal(t, send(t, http.MethodPost, url+"/api/alerts/1/test", "", http.StatusOK, as...), &tested)
	if tested.Delivered || !strings.Contains(tested.Reason, "not a public address") {
		t.Errorf("tested %+v", tested)
	}
	if len(messages) != 0 {
		t.Error("the endpoint was told")
	}
}

func TestAnAlertThatCannotBeIsRefused(t *testing.T) {
	url := serve(t, nil)
	for name, c := range map[string]struct{ body, field string }{
		"a URL without a host":   {`{"url":"https://"}`, "url"},
		"another scheme":         {`{"url":"file:///etc/passwd"}`, "url"},
		"no URL":                 {`{}`, "url"},
		"equal times":            {`{"url":"https://a.test","quiet_hours":{"from":"22:00","until":"22:00","time_zone":"UTC"}}`, "quiet_hours"},
		"no time of day":         {`{"url":"https://a.test","quiet_hours":{"from":"25:00","until":"07:00","time_zone":"UTC"}}`, "quiet_hours"},
		"a missing time":         {`{"url":"https://a.test","quiet_hours":{"from":"22:00","until":"","time_zone":"UTC"}}`, "quiet_hours"},
		"an unknown time zone":   {`{"url":"https://a.test","quiet_hours":{"from":"22:00","until":"07:00","time_zone":"Europe/Atlantis"}}`, "quiet_hours.time_zone"},
		"the server's time zone": {`{"url":"https://a.test","quiet_hours":{"from":"22:00","until":"07:00","time_zone":""}}`, "quiet_hours.time_zone"},
	} {
		t.Run(name, func(t *testing.T) {
			var p api.Problem
			unmarshal(t, send(t, http.MethodPost, url+"/api/alerts", c.body, http.StatusUnprocessableEntity), &p)
			if p.Field != c.field {
				t.Errorf("a problem of %q: %s", p.Field, p.Detail)
			}
		})
	}
	var all []api.Alert
	unmarshal(t, get(t, url+"/api/alerts"), &all)
	if len(all) != 0 {
		t.Errorf("alerts %+v", all)
	}
}
