package httpd

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/api"
)

func namesOf(t *testing.T, object string) []string {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(object), &m); err != nil {
		t.Fatalf("%v in %s", err, object)
	}
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// What clients read stands first, ours behind it.
func TestResponsesHaveTheMembersThatClientsRead(t *testing.T) {
	h := newTestServer(t, nil)
	h.send(looping("r", 6)...)
	run := "id name project status started_at ended_at total_cost total_tokens metadata"
	summary := run + " event_count warning_count health_score loop_health_status"
	ours := "worst_decision profile warned_at updated_at arrival calls_after_warning tokens_after_warning cost_after_warning refolding duration_sec agents models " +
		"tools novelty mean_novelty worst_warning guarded_by shadowed_by stopped stopped_after avoided wasted"
	for _, tc := range []struct {
		path, list, theirs, ours string
	}{
		{"/api/runs", "[]", summary, ours},
		{"/api/runs/r", "", summary, ours + " health hints"},
		{"/api/runs/r/warnings", "[]", "warning_id run_id event_id type severity message details created_at", "updated_at subject tool count"},
		{
			"/api/runs/r/metrics", "", "run_id total_events total_duration_sec total_llm_calls total_tool_calls total_retries total_handoffs total_errors " +
				"total_tokens estimated_cost average_latency_ms max_latency_ms most_used_tool most_active_agent warnings_count health_score loop_health_status",
			"total_failed_steps worst_decision guarded_by",
		},
		{
			"/api/runs/r/events", "[]", "event_id run_id sequence timestamp type agent name status model tool input output error tokens cost latency_ms " +
				"parent_event_id span_id trace_id metadata", "call_id role text usage annotations content analysis",
		},
		{"/api/runs/r/decisions", "[]", "", "run_id event_id event_number action by_guard code message"},
		{"/api/health", "", "status service version refolding_runs unreadable_events", "grpc"},
	} {
		t.Run(tc.path, func(t *testing.T) {
			body := h.do(http.MethodGet, tc.path, "").Body.String()
			if tc.list != "" {
				var list []json.RawMessage
				if err := json.Unmarshal([]byte(body), &list); err != nil || len(list) == 0 {
					t.Fatalf("no list: %s", body)
				}
				body = string(list[0])
			}
			want := strings.Fields(tc.theirs + " " + tc.ours)
			slices.Sort(want)
			if diff := cmp.Diff(want, namesOf(t, body)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestARunWithItsWarningsAndDecisions(t *testing.T) {
	h := newTestServer(t, nil)
	h.send(looping("r", 6)...)
	run := get[api.RunDetails](h, "/api/runs/r")
	if diff := cmp.Diff([]api.ToolCalls{{Name: "search", Calls: 6}}, run.Tools); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]float64{1, 0, 0, 0, 0, 0}, run.Novelty); diff != "" {
		t.Errorf("novelty (-want +got):\n%s", diff)
	}
	if last := run.Health[len(run.Health)-1]; len(run.Health) < 2 || run.Health[0] != (api.HealthPoint{EventNumber: 0, HealthScore: 100}) || last.HealthScore != run.HealthScore {
		t.Errorf("health %v", run.Health)
	}
	if run.Name != "r's name" || run.Project != "lab" || run.Status != "running" || run.EventCount != 13 || run.WarningCount == 0 || run.WorstDecision == "allow" {
		t.Errorf("run %+v", run)
	}
	metrics := get[api.Metrics](h, "/api/runs/r/metrics")
	if metrics.ToolCalls != 6 || metrics.Events != 13 || *metrics.BusiestTool != "search" || metrics.MaxLatency != 12.5 || metrics.Warnings != run.WarningCount {
		t.Errorf("metrics %+v", metrics)
	}
	warnings := get[[]api.Warning](h, "/api/runs/r/warnings")
	if len(warnings) != run.WarningCount || warnings[0].RunID != "r" || warnings[0].Type == "" || !strings.Contains(string(warnings[0].Details), `"why"`) {
		t.Errorf("warnings %+v", warnings)
	}
	decisions := get[[]api.Decision](h, "/api/runs/r/decisions")
	if len(decisions) == 0 || decisions[0].Action == "allow" || decisions[0].EventID == "" || decisions[0].RunID != "r" {
		t.Errorf("decisions %+v", decisions)
	}
	events := get[[]api.Event](h, "/api/runs/r/events")
	if len(events) != 13 || *events[12].Sequence != 13 {
		t.Errorf("events %+v", events)
	}
}

func TestEventsAreListedFromTheEnd(t *testing.T) {
	h := newTestServer(t, nil)
	h.send(looping("r", 3)...)
	var got []string
	path := "/api/runs/r/events?limit=3&order=desc"
	for pages := 0; path != "" && pages < 9; pages++ {
		w := h.do(http.MethodGet, path, "")
		var events []api.Event
		if err := json.Unmarshal(w.Body.Bytes(), &events); err != nil {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		got = append(got, idsOf(events)...)
		path, _, _ = strings.Cut(strings.TrimPrefix(w.Header().Get("Link"), "<"), ">")
	}
	if diff := cmp.Diff([]string{"r-7", "r-6", "r-5", "r-4", "r-3", "r-2", "r-1"}, got); diff != "" {
		t.Error(diff)
	}
	if w := h.do(http.MethodGet, "/api/runs/r/events?order=up", ""); w.Code != http.StatusUnprocessableEntity {
		t.Errorf("an order that there is not: %d", w.Code)
	}
}

func TestListsHavePages(t *testing.T) {
	h := newTestServer(t, nil)
	var want []string
	for i := range 7 {
		id := fmt.Sprintf("r%d", i)
		h.send(fmt.Sprintf(`{"run_id":%q,"type":"run_started","timestamp":"2026-05-01T12:00:%02dZ","project":"a b"}`, id, i))
		want = append([]string{id}, want...)
	}
	h.send(`{"run_id":"other","type":"run_started","project":"other"}`)
	var got []string
	path := "/api/runs?limit=3&project=a+b&since=2026-05-01T12:00:00Z"
	for pages := 0; path != "" && pages < 9; pages++ {
		w := h.do(http.MethodGet, path, "")
		var runs []api.RunSummary
		if err := json.Unmarshal(w.Body.Bytes(), &runs); err != nil {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		for _, r := range runs {
			got = append(got, r.ID)
		}
		link, cursor := w.Header().Get("Link"), w.Header().Get("X-Next-Cursor")
		if (link == "") != (cursor == "") {
			t.Errorf("Link %q, X-Next-Cursor %q", link, cursor)
		}
		path, _, _ = strings.Cut(strings.TrimPrefix(link, "<"), `>; rel="next"`)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEventsAndDecisionsHavePages(t *testing.T) {
	h := newTestServer(t, nil)
	h.send(looping("r/1", 30)...)
	for _, list := range []string{"events", "decisions"} {
		whole := get[[]json.RawMessage](h, "/api/runs/r%2F1/"+list)
		var got []json.RawMessage
		path := "/api/runs/r%2F1/" + list + "?limit=2"
		for pages := 0; path != "" && pages < 99; pages++ {
			w := h.do(http.MethodGet, path, "")
			var page []json.RawMessage
			if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || len(page) > 2 {
				t.Fatalf("%s: %d %s", path, w.Code, w.Body)
			}
			got = append(got, page...)
			path, _, _ = strings.Cut(strings.TrimPrefix(w.Header().Get("Link"), "<"), ">")
		}
		if diff := cmp.Diff(whole, got); diff != "" || len(whole) < 3 {
			t.Errorf("%d %s: %s", len(whole), list, diff)
		}
	}
}

func TestRunsAreFiltered(t *testing.T) {
	h := newTestServer(t, nil)
	h.send(looping("looping", 6)...)
	h.send(event("healthy", 1, "run_started", `"name":"Fine one"`), event("healthy", 2, "run_completed", ""))
	rule := get[[]api.Warning](h, "/api/runs/looping/warnings")[0].Type
	for query, want := range map[string]string{
		"":                           "healthy looping",
		"status=completed":           "healthy",
		"project=lab":                "looping",
		"tool=search":                "looping",
		"warning=" + rule:            "looping",
		"text=fine":                  "healthy",
		"text=l%25g":                 "",
		"until=2026-05-01T12:00:01Z": "",
		"since=2026-05-01T12:00:01Z": "healthy looping",
		"since=1h":                   "",
	} {
		var got []string
		for _, r := range get[[]api.RunSummary](h, "/api/runs?"+query) {
			got = append(got, r.ID)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", query, got, want)
		}
	}
}

func TestInvalidRequestsAreProblems(t *testing.T) {
	h := newTestServer(t, nil)
	h.send(event("r", 1, "x", ""))
	for _, tc := range []struct {
		method, path string
		status       int
		field        string
	}{
		{"GET", "/api/runs/nobody", 404, "id"},
		{"GET", "/api/runs/nobody/events", 404, "id"},
		{"GET", "/api/runs/nobody/warnings", 404, "id"},
		{"GET", "/api/runs/nobody/metrics", 404, "id"},
		{"GET", "/api/runs/nobody/decisions", 404, "id"},
		{"DELETE", "/api/runs/nobody", 404, "id"},
		{"GET", "/api/runs?limit=0", 422, "limit"},
		{"GET", "/api/runs?limit=1001", 422, "limit"},
		{"GET", "/api/runs?limit=many", 422, "limit"},
		{"GET", "/api/runs?status=odd", 422, "status"},
		{"GET", "/api/runs?cursor=odd", 400, "cursor"},
		{"GET", "/api/runs?sort=odd", 422, "sort"},
		{"GET", "/api/runs?health=odd", 422, "health[0]"},
		{"GET", "/api/runs?decision=warn,odd", 422, "decision[1]"},
		{"GET", "/api/runs?guard=odd", 422, "guard"},
		{"GET", "/api/runs?metadata=odd", 400, "metadata"},
		{"GET", "/api/overview?by=odd", 400, "by"},
		{"GET", "/api/runs?since=soon", 400, "since"},
		{"GET", "/api/runs/r/events?cursor=odd", 400, "cursor"},
		{"GET", "/api/compare?a=r&b=nobody", 404, "b"},
		{"GET", "/api/compare?a=r", 422, "b"},
		{"GET", "/api/overview?since=1h&until=2h", 400, "since"},
		{"GET", "/api/overview?step=-1h", 400, "step"},
		{"GET", "/api/overview?since=1000h&step=1s", 400, "step"},
		{"GET", "/api/nothing", 404, ""},
		{"GET", "/", 404, ""},
		{"PUT", "/api/runs", 405, ""},
		{"GET", "/api/events", 405, ""},
		{"POST", "/api/runs/r", 405, ""},
	} {
		t.Run(tc.method+" "+tc.path, func(t *testing.T) {
			w := h.do(tc.method, tc.path, "")
			var p Problem
			if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
			if w.Code != tc.status || p.Status != tc.status || p.Field != tc.field || p.Reason == "" || p.Title != http.StatusText(tc.status) {
				t.Errorf("%d %s", w.Code, w.Body)
			}
			if kind := w.Header().Get("Content-Type"); kind != "application/problem+json" {
				t.Errorf("Content-Type %s", kind)
			}
		})
	}
	if w := h.do(http.MethodPut, "/api/runs", ""); w.Header().Get("Allow") != "GET, HEAD, POST" {
		t.Errorf("Allow: %s", w.Header().Get("Allow"))
	}
}

func TestADeletedRunIsGone(t *testing.T) {
	h := newTestServer(t, nil)
	h.send(looping("r", 2)...)
	if w := h.do(http.MethodDelete, "/api/runs/r", ""); w.Code != http.StatusNoContent || w.Body.Len() > 0 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := h.do(http.MethodGet, "/api/runs/r", ""); w.Code != http.StatusNotFound {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestTwoRunsAreCompared(t *testing.T) {
	h := newTestServer(t, nil)
	h.send(looping("a", 6)...)
	h.send(event("b", 1, "run_started", ""),
		event("b", 2, "tool_call_started", `"tool":"search","input":{ "q" : "loops" }`), event("b", 3, "tool_call_completed", `"tool":"search","output":["none"]`),
		event("b", 4, "tool_call_started", `"tool":"search","input":{"q":"knots"}`), event("b", 5, "run_completed", ""))
	c := get[api.Comparison](h, "/api/compare?a=a&b=b")
	if c.A.ID != "a" || c.B.ID != "b" || c.Deltas.ToolCalls != -4 || c.Deltas.Events != -8 || c.Deltas.Health <= 0 {
		t.Errorf("deltas %+v", c.Deltas)
	}
	if len(c.OnlyA) == 0 || len(c.OnlyA) != -c.Deltas.Warnings || len(c.OnlyB) != 0 {
		t.Errorf("warnings only in a: %v, in b: %v", c.OnlyA, c.OnlyB)
	}
	want := &api.Divergence{
		Call: 1, A: &api.Call{EventID: "a-4", Tool: "search", Input: json.RawMessage(`{"q":"loops"}`)},
		B: &api.Call{EventID: "b-4", Tool: "search", Input: json.RawMessage(`{"q":"knots"}`)},
	}
	if diff := cmp.Diff(want, c.Diverged); diff != "" {
		t.Error(diff)
	}
	if same := get[api.Comparison](h, "/api/compare?a=a&b=a"); same.Diverged != nil || len(same.OnlyA)+len(same.OnlyB) > 0 || same.Deltas != (api.MetricDeltas{}) {
		t.Errorf("a run is as itself: %+v", same)
	}
	h.send(event("large", 1, "tool_call_started", `"tool":"get","input":{"id":9007199254740992}`))
	h.send(event("other", 1, "tool_call_started", `"tool":"get","input":{"id":9007199254740993}`))
	if other := get[api.Comparison](h, "/api/compare?a=large&b=other").Diverged; other == nil || other.Call != 0 {
		t.Errorf("ids that differ in their last digit: %+v", other)
	}
	h.send(looping("longer", 2000)...)
	if longer := get[api.Comparison](h, "/api/compare?a=a&b=longer").Diverged; longer == nil || longer.Call != 6 || longer.A != nil || longer.B == nil {
		t.Errorf("an unfinished run: %+v", longer)
	}
}

func TestTheOverviewSummarizesRuns(t *testing.T) {
	h := newTestServer(t, nil)
	h.send(looping("r", 6)...)
	h.send(event("s", 1, "run_started", ""), event("s", 2, "run_completed", ""))
	f := get[api.Overview](h, "/api/overview?since=2026-05-01T12:00:00Z&until=2026-05-01T13:00:00Z&step=15m")
	if f.Runs != 2 || f.Warned != 1 || len(f.Buckets) != 4 || f.Buckets[0].Running != 1 || f.Buckets[0].Completed != 1 || f.StepSeconds != 900 {
		t.Errorf("%+v", f)
	}
	if len(f.Tools) != 1 || f.Tools[0].Name != "search" || f.Usage.Calls != 6 || f.Since != "2026-05-01T12:00:00Z" {
		t.Errorf("%+v", f)
	}
	slowest := get[[]api.Event](h, "/api/runs/r/events")[2] // all its outcomes take as long; it is the first of them
	if diff := cmp.Diff([]api.SlowStep{{RunID: "r", RunName: "r's name", EventID: slowest.ID, Step: "search", Latency: 12.5}}, f.Slowest); diff != "" {
		t.Errorf("slowest (-want +got):\n%s", diff)
	}
	if empty := get[api.Overview](h, "/api/overview"); empty.Runs != 0 || empty.Tools == nil || empty.Rules == nil || empty.Slowest == nil || len(empty.Buckets) < 48 {
		t.Errorf("the last day: %+v", empty)
	}
}

func TestTheServerIsHealthyOnceItIsReady(t *testing.T) {
	var wrong error = fmt.Errorf("the store is being opened")
	h := newTestServer(t, func(o *Options) { o.Ready = func(context.Context) error { return wrong } })
	if w := h.do(http.MethodGet, "/api/health", ""); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "being opened") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	wrong = nil
	if w := h.do(http.MethodGet, "/api/health", ""); w.Code != http.StatusOK || w.Body.String() != `{"status":"healthy","service":"unloop","version":"1.2.3","grpc":"off","refolding_runs":0,"unreadable_events":0}` {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestAnOverviewHasStepsThatPeopleReadEasily(t *testing.T) {
	const day = 24 * time.Hour
	for span, want := range map[time.Duration]time.Duration{
		time.Second: time.Minute, time.Hour: time.Minute, day: 30 * time.Minute, 7 * day: 3 * time.Hour, 30 * day: 12 * time.Hour,
		365 * day: 7 * day, 3 * 365 * day: 21 * day,
		math.MaxInt64: 1785 * day,
	} {
		if got := defaultStep(span); got != want || span/got > 60 {
			t.Errorf("in %v: %v, want %v", span, got, want)
		}
	}
}

func TestAnOverviewOfCenturiesIsRefusedWithItsReason(t *testing.T) {
	h := newTestServer(t, nil)
	for query, want := range map[string]string{
		"since=1900-01-01T00:00:00Z": "",
		"since=0001-01-02T00:00:00Z": `"since: must be less than 292 years before until"`,
	} {
		if w := h.do(http.MethodGet, "/api/overview?until=2026-01-01T00:00:00Z&"+query, ""); (w.Code == http.StatusOK) != (want == "") || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s", query, w.Code, w.Body)
		}
	}
}

// The reason why a server is not healthy may name a user and a host of the database.
func TestTheReasonOfHealthIsForReaders(t *testing.T) {
	h := newTestServer(t, func(o *Options) {
		o.Ready = func(context.Context) error { return fmt.Errorf("no connection to user=postgres host=db.test") }
		o.Tokens = []Token{hashed("ada", Read, "r"), hashed("sam", Ingest, "i")}
	})
	for token, told := range map[string]bool{"": false, "unknown": false, "i": false, "r": true} {
		w := h.do(http.MethodGet, "/api/health", "", "Authorization", "Bearer "+token)
		if w.Code != http.StatusServiceUnavailable || strings.Contains(w.Body.String(), "postgres") != told {
			t.Errorf("with the token %q: %d %s; told: %v", token, w.Code, w.Body, told)
		}
	}
}
