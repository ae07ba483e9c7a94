package httpd

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAServerOfAClusterAnswersWhatItsRolesAllow asks servers that take no events, or answer no queries.
func TestAServerOfAClusterAnswersWhatItsRolesAllow(t *testing.T) {
	const event = `{"event_id":"1","run_id":"r","type":"run_started"}`
	for _, tc := range []struct {
		name                string
		noIngest, noQueries bool
		want                []int // statuses of the requests below
	}{
		{"all roles", false, false, []int{http.StatusOK, http.StatusCreated, http.StatusOK, http.StatusOK, http.StatusOK}},
		{"ingest", false, true, []int{http.StatusOK, http.StatusCreated, http.StatusOK, http.StatusNotFound, http.StatusNotFound}},
		{"api", true, false, []int{http.StatusOK, http.StatusNotFound, http.StatusNotFound, http.StatusOK, http.StatusOK}},
		{"work", true, true, []int{http.StatusOK, http.StatusNotFound, http.StatusNotFound, http.StatusNotFound, http.StatusNotFound}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := newTestServer(t, func(o *Options) { o.NoIngest, o.NoQueries = tc.noIngest, tc.noQueries })
			h.Mount("GET /metrics", Read, http.NotFoundHandler())
			h.Mount("GET /dashboard", Anyone, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			var got []int
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
				got = append(got, w.Code)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("statuses (-want +got):\n%s", diff)
			}
		})
	}
}
