package httpd

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/api"
)

// names returns the ids of the runs that a path lists.
func listedRuns(t *testServer, path string) []string {
	ids := []string{}
	for _, run := range get[[]api.RunSummary](t, path) {
		ids = append(ids, run.ID)
	}
	return ids
}

func TestRunsAreFilteredAndSorted(t *testing.T) {
	h := newTestServer(t, nil)
	h.send(looping("loops", 6)...)
	h.send(event("works", 1, "run_started", `"project":"shop","metadata":{"prompt":"v2"}`), event("works", 2, "llm_call_started", `"agent":"coder","model":"m-1"`),
		event("works", 3, "run_completed", ""))
	h.send(event("told", 1, "tool_call_started", `"tool":"search","metadata":{"guard":{"by":"Go","action":"block","code":"x","message":"stop"}}`))
	for _, c := range []struct {
		query string
		want  []string
	}{
		{"decision=warn,block,halt", []string{"told", "loops"}},
		{"decision=allow&sort=events", []string{"works"}},
		{"health=healthy&sort=events&order=asc", []string{"told", "works"}},
		{"guard=guarded", []string{"told"}},
		{"guard=observed&sort=name&order=asc", []string{"loops", "works"}},
		{"agent=coder", []string{"works"}},
		{"model=m-1", []string{"works"}},
		{"text=Same+call", []string{"loops"}},
		{"sort=events", []string{"loops", "works", "told"}},
	} {
		t.Run(c.query, func(t *testing.T) {
			if diff := cmp.Diff(c.want, listedRuns(h, "/api/runs?"+c.query)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAPageOfRunsHasTheTotalAndTheNextPage(t *testing.T) {
	h := newTestServer(t, nil)
	for k := range 5 {
		h.send(event(fmt.Sprint("r", k), 1, "llm_call_started", `"agent":"coder","cost":`+fmt.Sprint(k%2)))
	}
	path, totals, got := "/api/runs?agent=coder&health=healthy,stuck&decision=allow&sort=cost&limit=2", []string{}, 0
	for path != "" {
		w := h.do(http.MethodGet, path, "")
		if w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		got += strings.Count(w.Body.String(), `"worst_decision"`)
		totals = append(totals, w.Header().Get("X-Total-Count"))
		path, _, _ = strings.Cut(strings.TrimPrefix(w.Header().Get("Link"), "<"), ">")
	}
	if diff := cmp.Diff([]string{"5", "", ""}, totals); diff != "" || got != 5 {
		t.Errorf("%d runs, totals (-want +got):\n%s", got, diff)
	}
	if total := h.do(http.MethodGet, "/api/runs?agent=nobody", "").Header().Get("X-Total-Count"); total != "0" {
		t.Errorf("the total without runs is %q", total)
	}
}

func TestAnOverviewIsGroupedAndFiltered(t *testing.T) {
	h := newTestServer(t, nil)
	h.send(looping("r", 6)...)
	h.send(event("s", 1, "run_started", `"project":"shop"`), event("s", 2, "run_completed", ""))
	period := "/api/overview?since=2026-05-01T12:00:00Z&until=2026-05-01T13:00:00Z"
	f := get[api.Overview](h, period+"&by=project")
	if len(f.Groups) != 2 || f.Groups[0].Name != "lab" || f.Groups[0].Looping != 1 || f.Groups[1].Name != "shop" || f.Groups[1].Looping != 0 {
		t.Errorf("groups %+v", f.Groups)
	}
	f = get[api.Overview](h, period+"&project=shop")
	if f.Runs != 1 || f.Looping != 0 || len(f.Rules) != 0 || f.Groups == nil || len(f.Groups) != 0 {
		t.Errorf("of shop %+v", f)
	}
	if f = get[api.Overview](h, "/api/overview?since=2026-05-01T13:00:00Z&until=2026-05-01T14:00:00Z"); f.Runs != 0 || f.Previous.Runs != 2 || f.Previous.Looping != 1 {
		t.Errorf("an hour later %+v", f)
	}
}
