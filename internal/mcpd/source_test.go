package mcpd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/client"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// memoryStore is a store of one run.
type memoryStore struct {
	run    store.Run
	events []store.Event
	pages  []string // cursors that were asked for
}

func (d *memoryStore) Runs(_ context.Context, _ store.Filter, o store.Order, p store.Page) ([]store.Run, string, error) {
	return []store.Run{d.run}[:min(1, p.Limit)], "", nil
}

func (d *memoryStore) Run(_ context.Context, id string) (*store.Run, error) {
	if id != d.run.ID {
		return nil, nil
	}
	return &d.run, nil
}

func (d *memoryStore) Warnings(context.Context, int64) ([]store.Warning, error) {
	return []store.Warning{{
		ID: "w", Rule: "same_call", Subject: "search", Tool: "search", Severity: "warning", Count: 3, EventID: "e2", Message: "again",
		Details: json.RawMessage(`{"count":3,"why":"so"}`), Created: noon, Updated: noon,
	}}, nil
}

// EventPage has pages of two, from the end.
func (d *memoryStore) EventPage(_ context.Context, _ int64, p store.Page) ([]store.Event, string, error) {
	d.pages = append(d.pages, p.Cursor)
	if !p.Backward {
		return nil, "", errors.New("asked from the beginning")
	}
	backward := slices.Clone(d.events)
	slices.Reverse(backward)
	at := 0
	if p.Cursor != "" {
		if _, err := fmt.Sscan(p.Cursor, &at); err != nil {
			return nil, "", err
		}
	}
	most := min(2, p.Limit)
	if at+most >= len(backward) {
		return backward[at:], "", nil
	}
	return backward[at : at+most], fmt.Sprint(at + most), nil
}

func filled(t *testing.T) *memoryStore {
	t.Helper()
	d := &memoryStore{run: store.Run{
		Number: 1, ID: "a/b", Name: "nightly", Project: "p", Status: store.Completed, Started: noon, Ended: noon.Add(time.Second), Warnings: 1,
		Metrics: store.Metrics{Events: 5, ToolCalls: 4, Cost: 0.5, BusiestTool: api.OrNull("search")},
		Health:  policy.Health{Score: 80, Status: policy.GradeHealthy}, WorstAction: policy.Warn,
	}}
	for i := range 5 {
		e := &unloop.Event{ID: fmt.Sprintf("e%d", i), RunID: "a/b", Sequence: int64(i + 1), Type: unloop.ToolCallStarted, Tool: "search"}
		if i > 0 {
			e.Time = noon.Add(time.Duration(i) * time.Second)
		}
		e.Input = json.RawMessage(`{"n":12345678901234567890}`)
		body, err := store.Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		analysis := store.Analysis{Call: 1}
		if i == 4 {
			analysis = store.Analysis{Call: 1, Result: 2, Novelty: store.NotNovel, Repeats: 2, RepeatsEvent: "e2"}
		}
		d.events = append(d.events, store.Event{ID: e.ID, Received: noon, Body: body, Analysis: analysis.JSON()})
	}
	return d
}

func TestRecordsAreReadFromAStore(t *testing.T) {
	d := filled(t)
	s := Records{d}
	run, err := s.Run(t.Context(), "a/b")
	if err != nil {
		t.Fatal(err)
	}
	want := summary{
		"a/b",
		api.RunBasics{
			Name: "nightly", Project: "p", Status: "completed", StartedAt: api.OrNull("2026-01-02T12:00:00Z"), EndedAt: api.OrNull("2026-01-02T12:00:01Z"),
		},
		api.RunCounts{EventCount: 5, WarningCount: 1},
		api.RunVerdict{HealthScore: 80, HealthStatus: "healthy", WorstDecision: "warn"},
	}
	if diff := cmp.Diff(want, summaryOf(run)); diff != "" {
		t.Errorf("run (-want +got):\n%s", diff)
	}
	events, err := s.Events(t.Context(), "a/b", 3)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"e2", "e3", "e4"}, idsOf(events)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"", "2"}, d.pages); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	all, err := s.Events(t.Context(), "a/b", 100)
	if err != nil {
		t.Fatal(err)
	}
	no := false
	repeat := &api.Analysis{Call: "AAAAAAAAAAE", Result: "AAAAAAAAAAI", Novel: &no, Repeats: 2, RepeatsEvent: "e2"}
	if diff := cmp.Diff([]*api.Analysis{{Call: "AAAAAAAAAAE"}, repeat}, []*api.Analysis{all[0].Analysis, all[4].Analysis}); diff != "" {
		t.Errorf("analyses (-want +got):\n%s", diff)
	}
	if all[0].Timestamp != "2026-01-02T12:00:00Z" || all[1].Timestamp != "2026-01-02T12:00:01Z" {
		t.Errorf("times %s, %s", all[0].Timestamp, all[1].Timestamp)
	}
	if diff := cmp.Diff(`{"n":12345678901234567890}`, string(shorten(&all[0]).Input)); diff != "" {
		t.Errorf("input (-want +got):\n%s", diff)
	}
}

func idsOf(events []api.Event) (ids []string) {
	for _, e := range events {
		ids = append(ids, e.ID)
	}
	return ids
}

// serveAPI answers as the HTTP API of a server does for the run of filled.
func serveAPI(t *testing.T, d *memoryStore) *httptest.Server {
	t.Helper()
	summary := string(api.Encode(api.SummaryOf(&d.run)))
	warnings, err := d.Warnings(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string]string{
		"/api/runs?limit=20":  "[" + summary + "]",
		"/api/runs/a%2Fb":     summary,
		"/api/runs/redirects": "",
		"/api":                summary, // where the ids .. and . would lead to
		"/api/":               summary,
		"/api/runs":           summary,
		"/api/runs/":          summary,
		"/api/runs/a%2Fb/metrics": `{"run_id":"a/b","total_events":5,"total_duration_sec":0,"total_tool_calls":4,"estimated_cost":0.5,
			"most_used_tool":"search","most_active_agent":null,"warnings_count":1,"health_score":80,"loop_health_status":"healthy",
			"worst_decision":"warn"}`,
		"/api/runs/a%2Fb/warnings": string(api.Encode(api.WarningsOf(d.run.ID, warnings))),
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer sesame" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if r.URL.EscapedPath() == "/api/runs/a%2Fb/events" {
			asked := r.URL.Query()
			most, err := strconv.Atoi(asked.Get("limit"))
			if err != nil {
				t.Error(err)
			}
			events, next, err := d.EventPage(r.Context(), 1, store.Page{Cursor: asked.Get("cursor"), Limit: most, Backward: asked.Get("order") == "desc"})
			if err != nil {
				t.Error(err)
			}
			w.Header().Set("X-Next-Cursor", next)
			_, _ = w.Write(api.AppendEvents(nil, d.run.ID, events)) // the client sees that the answer broke off
			return
		}
		answer, ok := answers[r.URL.RequestURI()]
		switch {
		case !ok:
			w.WriteHeader(http.StatusNotFound)
		case answer == "":
			http.Redirect(w, r, "/api/runs/a%2Fb", http.StatusFound)
		default:
			fmt.Fprint(w, answer)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

func TestBothSourcesGiveTheSameAnswers(t *testing.T) {
	d := filled(t)
	remote := remoteOf(t, serveAPI(t, d).URL, "sesame")
	for name, read := range map[string]func(Source) (any, error){
		"runs":        func(s Source) (any, error) { return s.Runs(t.Context(), 20) },
		"run":         func(s Source) (any, error) { return s.Run(t.Context(), "a/b") },
		"metrics":     func(s Source) (any, error) { return s.Metrics(t.Context(), "a/b") },
		"warnings":    func(s Source) (any, error) { return s.Warnings(t.Context(), "a/b") },
		"last events": func(s Source) (any, error) { return s.Events(t.Context(), "a/b", 3) },
		"all events":  func(s Source) (any, error) { return s.Events(t.Context(), "a/b", 100) },
	} {
		want, err := read(Records{d})
		if err != nil {
			t.Fatalf("%s from the store: %v", name, err)
		}
		got, err := read(remote)
		if err != nil {
			t.Fatalf("%s over HTTP: %v", name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-store +HTTP):\n%s", name, diff)
		}
	}
	for _, id := range []string{"gone", "", ".", "..", "a"} {
		for name, s := range map[string]Source{"store": Records{d}, "HTTP": remote} {
			_, run := s.Run(t.Context(), id)
			_, metrics := s.Metrics(t.Context(), id)
			_, warnings := s.Warnings(t.Context(), id)
			_, events := s.Events(t.Context(), id, 1)
			for _, err := range []error{run, metrics, warnings, events} {
				if !errors.Is(err, ErrNoRun) {
					t.Errorf("%s, run %q: %v", name, id, err)
				}
			}
		}
	}
}

func remoteOf(t *testing.T, base, token string) Remote {
	t.Helper()
	c, err := client.New(base, token)
	if err != nil {
		t.Fatal(err)
	}
	return Remote{c}
}

func TestErrorsSayWhyAServerDoesNotAnswer(t *testing.T) {
	server := serveAPI(t, filled(t))
	for _, c := range []struct{ what, base, token, id, want string }{
		{"no token", server.URL, "", "a/b", "set UNLOOP_TOKEN"},
		{"another address", server.URL, "sesame", "redirects", "answers 302"},
		{"no server", "http://127.0.0.1:1", "", "a/b", "unloop serve"},
	} {
		if _, err := remoteOf(t, c.base, c.token).Run(t.Context(), c.id); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
	if _, err := remoteOf(t, server.URL+"/other", "sesame").Runs(t.Context(), 1); err == nil || errors.Is(err, ErrNoRun) {
		t.Errorf("no such list: %v", err)
	}
}

func TestLongTextsAreCut(t *testing.T) {
	raw := func(s string) json.RawMessage {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	long := strings.Repeat("x", maxText)
	list := "[" + strings.Repeat("1,", maxText) + "1]"
	quoted := func(s string) string { return string(raw(s)) }
	for _, c := range []struct {
		what   string
		output json.RawMessage
		want   string
		cut    []string
	}{
		{"none", nil, "null", []string{}},
		{"null", json.RawMessage("null"), "null", []string{}},
		{"a short value", json.RawMessage(`{"a":[1.50]}`), `{"a":[1.50]}`, []string{}},
		{"names that are doubled", json.RawMessage(`{"a":1,"a":2}`), `{"a":2}`, []string{}},
		{"a text as long as may be", raw(long), quoted(long), []string{}},
		{"a longer text", raw(long + "y"), quoted(long), []string{"output"}},
		{"a text that ends within a character", raw(long[1:] + "é"), quoted(long[1:]), []string{"output"}},
		{"a long value", json.RawMessage(list), quoted(list[:maxText]), []string{"output"}},
		{"a short text with long escapes", json.RawMessage(`"` + strings.Repeat(`\u0061`, maxText) + `"`), quoted(strings.Repeat("a", maxText)), []string{}},
		{"a text that is no UTF-8", json.RawMessage("\"\xff\""), quoted("\uFFFD"), []string{}},
	} {
		e := shorten(&api.Event{Output: c.output})
		if diff := cmp.Diff(c.want, string(e.Output)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.what, diff)
		}
		if diff := cmp.Diff(c.cut, e.Truncated); diff != "" {
			t.Errorf("%s, truncated (-want +got):\n%s", c.what, diff)
		}
	}
	e := shorten(&api.Event{Input: raw(long + "y"), Error: raw(long + "y"), Metadata: raw(list), Text: api.OrNull(long + "y")})
	if diff := cmp.Diff([]string{"input", "error", "metadata", "text"}, e.Truncated); diff != "" {
		t.Errorf("truncated (-want +got):\n%s", diff)
	}
}
