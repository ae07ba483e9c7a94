package httpd

import (
	"net/http"
	"strings"
	"testing"
)

// TestAServerOfAClusterAnswersWhatItsRolesAllow asks servers that take no events, or answer no queries.
func TestAServerOfAClusterAnswersWhatItsRolesAllow(t *testing.T) {
	const event = `{"event_id":"1","run_id":"r","type":"run_started"}`
	for _, tc := range []struct {
		name                string
		noIngest, noQueries bool
		want                string // statuses of the requests below
	}{
		{"all roles", false, false, "200 201 200 200 200"},
		{"ingest", false, true, "200 201 200 404 404"},
		{"api", true, false, "200 404 404 200 200"},
		{"work", true, true, "200 404 404 404 404"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := newTestServer(t, func(o *Options) { o.NoIngest, o.NoQueries = tc.noIngest, tc.noQueries })
			h.Mount("GET /metrics", Read, http.NotFoundHandler())
			h.Mount("GET /dashboard", Anyone, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			var got []string
			for _, r := range [][3]string{
				{http.MethodGet, "/api/health"},
				{http.MethodPost, "/api/events", event},
				{http.MethodPost, "/v1/traces", "{}"},
				{http.MethodGet, "/api/runs"},
				{http.MethodGet, "/dashboard"},
			} {
				w := h.do(r[0], r[1], r[2], "Content-Type", "application/json")
				if w.Code == http.StatusNotFound && !strings.Contains(w.Body.String(), "cluster.roles") {
					t.Errorf("%s %s: %s", r[0], r[1], w.Body)
				}
				got = append(got, http.StatusText(w.Code))
			}
			want := strings.NewReplacer("200", http.StatusText(200), "201", http.StatusText(201), "404", http.StatusText(404), " ", ", ").Replace(tc.want)
			if text := strings.Join(got, ", "); text != want {
				t.Errorf("%s, want %s", text, want)
			}
		})
	}
}
