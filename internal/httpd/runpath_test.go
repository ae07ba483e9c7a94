package httpd

import (
	"net/http"
	"strings"
	"testing"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/store"
)

func TestRunsWithIDsLikePathStepsAreRead(t *testing.T) {
	h := newTestServer(t, nil)
	ids := []string{".", "..", ".~", "..~", "...", "%2E", "/", "/~", "a//b", "https://x/../y?z#"}
	for _, id := range ids {
		h.send(looping(id, 6)...)
	}
	path := func(id, below string) string { return "/api/runs/" + store.PathOf(id) + below }
	for _, id := range ids {
		if run := get[api.RunDetails](h, path(id, "")); run.ID != id {
			t.Errorf("run %q under the path of %q", run.ID, id)
		}
		for below, want := range map[string]int{"/events": 13, "/warnings": 1, "/decisions": 1} {
			if got := get[[]any](h, path(id, below)); len(got) < want {
				t.Errorf("%s of %q: %v", below, id, got)
			}
		}
		if again := h.do(http.MethodPost, path(id, "/replay"), "{}"); again.Code != http.StatusOK && again.Code != http.StatusNotImplemented {
			t.Errorf("replay of %q: %d %s", id, again.Code, again.Body)
		}
		next := h.do(http.MethodGet, path(id, "/events?limit=2"), "").Header().Get("Link")
		if !strings.HasPrefix(next, "<"+path(id, "/events?")) {
			t.Errorf("the next page of %q: %s", id, next)
		}
	}
	// As curl --path-as-is asks and as clients do that escape what they need not.
	for asked, id := range map[string]string{"/api/runs/%2E/metrics": ".", "/api/runs/%2e%2E": "..", "/api/runs/%2E.": ".."} {
		answer := get[struct {
			ID    string `json:"id"`
			RunID string `json:"run_id"`
		}](h, asked)
		if answer.ID+answer.RunID != id {
			t.Errorf("%s returns run %q, want %q", asked, answer.ID+answer.RunID, id)
		}
	}
	w := watch(t, h.listen().URL+path("..", "/stream"))
	if update := as[api.RunUpdate](t, w.next()); update.RunID != ".." || len(update.Events) != 13 {
		t.Errorf("the stream is of %q, with %d events", update.RunID, len(update.Events))
	}
	if w := h.do(http.MethodDelete, path("..", ""), ""); w.Code != http.StatusNoContent {
		t.Errorf("delete: %d %s", w.Code, w.Body)
	}
	if w := h.do(http.MethodGet, path("..", ""), ""); w.Code != http.StatusNotFound {
		t.Errorf("deleted: %d", w.Code)
	}
}
