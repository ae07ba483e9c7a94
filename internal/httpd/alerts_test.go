package httpd

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/store"
)

// fakeAlerts records who did what. It has the alert 1.
type fakeAlerts struct{ did, projects []string }

func (f *fakeAlerts) do(by store.Act, what, id string) (*api.Alert, error) {
	if id != "1" {
		return nil, store.ErrNoAlert
	}
	f.did = append(f.did, by.Who+" "+what)
	return &api.Alert{ID: id}, nil
}

func (f *fakeAlerts) note(a *api.NewAlert) {
	if a.Projects != nil {
		f.projects = append(f.projects, *a.Projects...)
	}
}

func (f *fakeAlerts) List(context.Context) ([]api.Alert, error) { return nil, nil }

func (f *fakeAlerts) Add(_ context.Context, by store.Act, a *api.NewAlert) (*api.Alert, error) {
	if a.URL == nil {
		return nil, &BadAlert{"url", "it is required"}
	}
	f.note(a)
	return f.do(by, "adds "+*a.URL, "1")
}

func (f *fakeAlerts) Change(_ context.Context, by store.Act, id string, a *api.NewAlert) (*api.Alert, error) {
	f.note(a)
	return f.do(by, "changes", id)
}

func (f *fakeAlerts) Delete(_ context.Context, by store.Act, id string) error {
	_, err := f.do(by, "deletes", id)
	return err
}

func (f *fakeAlerts) Test(_ context.Context, id string) (api.AlertTest, error) {
	_, err := f.do(store.Act{Who: "nobody"}, "tests", id)
	return api.AlertTest{Delivered: true}, err
}

func TestAlertsAreChangedByAdministratorsOnly(t *testing.T) {
	alerts := &fakeAlerts{}
	h := newTestServer(t, func(o *Options) {
		o.Alerts, o.Tokens = alerts, []Token{hashed("ada", Admin, "a"), hashed("eve", Read, "e")}
	})
	for _, c := range []struct {
		token, method, path, body string
		want                      int
	}{
		{"e", http.MethodGet, "/api/alerts", "", 200},
		{"e", http.MethodPost, "/api/alerts", `{"url":"https://hooks.test"}`, 403},
		{"e", http.MethodPost, "/api/alerts/1", `{}`, 403},
		{"e", http.MethodDelete, "/api/alerts/1", "", 403},
		{"e", http.MethodPost, "/api/alerts/1/test", "", 403},
		{"a", http.MethodPost, "/api/alerts", `{"url":"https://hooks.test"}`, 200},
		{"a", http.MethodPost, "/api/alerts/1", `{"level":"halt"}`, 200},
		{"a", http.MethodPost, "/api/alerts/1/test", "", 200},
		{"a", http.MethodDelete, "/api/alerts/1", "", 204},
	} {
		w := h.do(c.method, c.path, c.body, "Content-Type", "application/json", "Authorization", "Bearer "+c.token)
		if w.Code != c.want {
			t.Errorf("%s %s with token %s: %d %s, want %d", c.method, c.path, c.token, w.Code, w.Body, c.want)
		}
	}
	if diff := cmp.Diff([]string{"ada adds https://hooks.test", "ada changes", "nobody tests", "ada deletes"}, alerts.did); diff != "" {
		t.Errorf("done (-want +got):\n%s", diff)
	}
}

func TestAnAlertThatCannotBeIsRefused(t *testing.T) {
	h := newTestServer(t, nil)
	for name, c := range map[string]struct {
		method, path, body, field string
		want                      int
	}{
		"without a URL":         {http.MethodPost, "/api/alerts", `{}`, "url", 422},
		"an unknown level":      {http.MethodPost, "/api/alerts", `{"url":"https://a","level":"grown"}`, "level", 422},
		"an unknown member":     {http.MethodPost, "/api/alerts", `{"url":"https://a","rule":"cycle"}`, "rule", 422},
		"a change of no alert":  {http.MethodPost, "/api/alerts/2", `{}`, "id", 404},
		"a test of no alert":    {http.MethodPost, "/api/alerts/2/test", "", "id", 404},
		"the end of no alert":   {http.MethodDelete, "/api/alerts/2", "", "id", 404},
		"an id that is no path": {http.MethodDelete, "/api/alerts/" + strings.Repeat("1", 33), "", "id", 422},
	} {
		t.Run(name, func(t *testing.T) {
			w := h.do(c.method, c.path, c.body, "Content-Type", "application/json")
			var p api.Problem
			if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != c.want || !strings.HasSuffix(p.Field, c.field) {
				t.Errorf("%d %s, want %d about %s", w.Code, w.Body, c.want, c.field)
			}
		})
	}
}
