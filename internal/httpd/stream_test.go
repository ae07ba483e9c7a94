package httpd

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/live"
	"github.com/unloop-ai/unloop/internal/store"
)

// listen serves a test server on a loopback port.
func (h *testServer) listen() *httptest.Server {
	s := httptest.NewServer(h)
	h.t.Cleanup(s.Close)
	return s
}

func idsOf(events []api.Event) (ids []string) {
	for _, e := range events {
		ids = append(ids, e.ID)
	}
	return ids
}

func TestTheStreamOfARunBeginsWithTheStoredEvents(t *testing.T) {
	h := newTestServer(t, nil)
	events := looping("r", 6)
	h.send(events[:9]...)
	w := watch(t, h.listen().URL+"/api/runs/r/stream")
	first := w.next()
	update := as[api.RunUpdate](t, first)
	if update.Type != "update" || len(update.Events) != 9 || update.Status != "running" || update.Metrics.ToolCalls != 4 || first.id != "9" || update.Warnings == nil {
		t.Errorf("first %+v", first)
	}
	for m := w.next(); ; m = w.next() { // how it stands, with the decisions
		if u := as[api.RunUpdate](t, m); len(u.Events) > 0 || m.id != "" {
			t.Errorf("standing: %+v", m)
		} else if u.Metrics.WorstDecision == "allow" || len(u.Decisions) > 0 {
			break
		}
	}
	h.send(events[9:]...)
	m := w.next()
	update = as[api.RunUpdate](t, m)
	if diff := cmp.Diff([]string{"r-10", "r-11", "r-12", "r-13"}, idsOf(update.Events)); diff != "" || m.id != "13" {
		t.Errorf("id %s, %s", m.id, diff)
	}
	if len(update.Warnings) != update.Metrics.Warnings || len(update.Warnings) == 0 || update.RunID != "r" {
		t.Errorf("warnings %+v", update.Warnings)
	}
	h.send(event("r", 14, "run_completed", ""))
	if m := w.next(); as[api.RunUpdate](t, m).Status != "completed" {
		t.Errorf("the end: %+v", m)
	}
	h.do(http.MethodDelete, "/api/runs/r", "")
	if m := w.next(); as[api.RunUpdate](t, m).Type != "deleted" {
		t.Errorf("deleted: %+v", m)
	}
	if m := w.next(); m != (sse{}) {
		t.Errorf("behind the end: %+v", m)
	}
}

func TestARunThatDoesNotExistYetIsWaitedFor(t *testing.T) {
	h := newTestServer(t, nil)
	w := watch(t, h.listen().URL+"/api/runs/later/stream")
	for _, want := range []string{"retry: 1000", ": waiting for the run", ": waiting for the run"} {
		if block := w.block(); block != want {
			t.Errorf("%q, want %q", block, want)
		}
	}
	h.send(event("other", 1, "x", ""))
	h.send(event("later", 1, "run_started", ""))
	if m := w.next(); m.id != "2" || len(as[api.RunUpdate](t, m).Events) != 1 {
		t.Errorf("%+v", m)
	}
}

func TestTheStreamOfARunResumesAfterTheLastMessage(t *testing.T) {
	h := newTestServer(t, nil)
	h.send(event("other", 1, "x", ""))
	h.send(looping("r", 6)...)
	w := watch(t, h.listen().URL+"/api/runs/r/stream", "Last-Event-ID", "12")
	if m := w.next(); m.id != "14" || !slices.Equal(idsOf(as[api.RunUpdate](t, m).Events), []string{"r-12", "r-13"}) {
		t.Errorf("%+v", m)
	}
	server := h.listen()
	for _, wrong := range []string{"x", "-1", "1.5"} {
		r, _ := http.NewRequest(http.MethodGet, server.URL+"/api/stream", nil)
		r.Header.Set("Last-Event-ID", wrong)
		if answer, err := server.Client().Do(r); err != nil || answer.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %v, %v", wrong, answer, err)
		}
	}
}

// TestAStreamSendsEachEventOnce connects again and again while events are being recorded.
func TestAStreamSendsEachEventOnce(t *testing.T) {
	h := newTestServer(t, nil)
	server := h.listen()
	const total = 1200
	var sending sync.WaitGroup
	defer sending.Wait()
	sending.Go(func() {
		for i := 1; i <= total; i += 3 {
			h.send(event("r", i, "x", ""), event("r", i+1, "x", ""), event("r", i+2, "x", ""))
		}
	})
	var got []string
	last, connections := "", 0
	for len(got) < total {
		connections++
		header := []string{"Last-Event-ID", last}
		w := watch(t, server.URL+"/api/runs/r/stream", header...)
		for range 1 + connections%7 {
			m := w.next()
			got = append(got, idsOf(as[api.RunUpdate](t, m).Events)...)
			if m.id != "" {
				last = m.id
			}
			if len(got) >= total {
				break
			}
		}
		w.body.Close()
	}
	var want []string
	for i := range total {
		want = append(want, fmt.Sprintf("r-%d", i+1))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("over %d connections: %s", connections, diff)
	}
}

func TestTheStreamOfAllRunsResumesAfterTheLastMessage(t *testing.T) {
	h := newTestServer(t, nil)
	h.send(looping("a", 6)...)
	h.send(looping("b", 1)...)
	server := h.listen()
	all := watch(t, server.URL+"/api/stream", "Last-Event-ID", "0")
	first, second := as[api.OverviewUpdate](t, all.next()), as[api.OverviewUpdate](t, all.next())
	if first.RunID != "a" || first.Run.EventCount != 13 || len(first.Warnings) != first.Run.WarningCount || len(first.Warnings) == 0 ||
		len(first.Decisions) != len(get[[]api.Decision](h, "/api/runs/a/decisions")) {
		t.Errorf("first %+v", first)
	}
	if second.RunID != "b" || second.Type != "run" || second.Warnings == nil || second.Decisions == nil {
		t.Errorf("second %+v", second)
	}
	if block := all.block(); block != ": live" {
		t.Errorf("%q", block)
	}
	h.send(event("b", 4, "run_failed", ""))
	m := all.next()
	if u := as[api.OverviewUpdate](t, m); u.RunID != "b" || u.Run.Status != "failed" || m.id != "17" || u.Run.Arrival != 17 {
		t.Errorf("live %+v", m)
	}
	resumed := watch(t, server.URL+"/api/stream", "Last-Event-ID", "16")
	if again := resumed.next(); again.id != m.id || as[api.OverviewUpdate](t, again).RunID != "b" {
		t.Errorf("resumed %+v", again)
	}
	fresh := watch(t, server.URL+"/api/stream")
	if fresh.block() != "retry: 1000" || fresh.block() != ": live" {
		t.Error("without Last-Event-ID the stream has only new events")
	}
	h.do(http.MethodDelete, "/api/runs/a", "")
	if m := all.next(); as[api.OverviewUpdate](t, m).Type != "deleted" || as[api.OverviewUpdate](t, m).RunID != "a" {
		t.Errorf("deleted: %+v", m)
	}
}

func TestAResumedStreamReportsDeletions(t *testing.T) {
	h := newTestServer(t, nil)
	server := h.listen()
	for _, run := range []string{"a", "b", "c"} {
		h.send(event(run, 1, "run_started", ""))
	}
	h.do(http.MethodDelete, "/api/runs/a", "")
	h.do(http.MethodDelete, "/api/runs/b", "")
	h.send(event("b", 1, "run_started", "")) // anew
	all := watch(t, server.URL+"/api/stream", "Last-Event-ID", "3")
	var told []string
	for len(told) == 0 || told[len(told)-1] != "run b" {
		u := as[api.OverviewUpdate](t, all.next())
		told = append(told, u.Type+" "+u.RunID)
	}
	if diff := cmp.Diff([]string{"deleted a", "deleted b", "run b"}, told); diff != "" {
		t.Errorf("of all runs (-want +got):\n%s", diff)
	}
	one := watch(t, server.URL+"/api/runs/a/stream", "Last-Event-ID", "1")
	if m := one.next(); as[api.RunUpdate](t, m).Type != "deleted" || one.next() != (sse{}) {
		t.Errorf("of the run: %+v", m)
	}
}

func TestCollectedUpdatesAreOneMessagePerRun(t *testing.T) {
	hub := live.New(live.Options{})
	sub := hub.Subscribe("")
	run := func(number, arrival int64, warnings ...string) *store.Update {
		u := &store.Update{Run: store.Run{Number: number, ID: fmt.Sprint(number), Arrival: arrival}, Events: []store.Event{{Arrival: arrival}}}
		for _, id := range warnings {
			u.Warnings = append(u.Warnings, store.Warning{ID: strings.TrimPrefix(id, "!"), Count: int(arrival)})
			if strings.HasPrefix(id, "!") {
				u.Raised = append(u.Raised, len(u.Warnings)-1)
			}
		}
		u.Decisions = []store.Decision{{EventID: fmt.Sprint(arrival)}}
		return u
	}
	for _, u := range []*store.Update{run(1, 1, "!a"), run(2, 2), run(1, 3, "a", "!b", "c"), run(3, 4), {Run: store.Run{Number: 3, ID: "3"}, Deleted: true}} {
		hub.Publish(u)
	}
	first, err := sub.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range gather(sub, first) {
		line := fmt.Sprintf("%s at %d, gone %v, decisions %d, warnings", c.Run.ID, c.Run.Arrival, c.Deleted, len(c.Decisions))
		for _, i := range c.Raised {
			line += fmt.Sprintf(" %s×%d", c.Warnings[i].ID, c.Warnings[i].Count)
		}
		got = append(got, line)
	}
	want := []string{
		"3 at 0, gone true, decisions 0, warnings", "2 at 2, gone false, decisions 1, warnings", "1 at 3, gone false, decisions 2, warnings a×3 b×3",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestASlowSubscriberGetsAnError(t *testing.T) {
	hub := live.New(live.Options{Updates: 2})
	h := newTestServer(t, func(o *Options) { o.Hub = hub })
	w := watch(t, h.listen().URL+"/api/runs/r/stream")
	w.block()
	w.block()
	w.block() // it is subscribed now
	big := strings.Repeat("x", 1<<20)
	for i := int64(1); hub.Stats().Dropped == 0; i++ {
		hub.Publish(&store.Update{Run: store.Run{ID: "r", Arrival: i}, Events: []store.Event{{Arrival: i, ID: "e", Body: []byte(`{"type":"x","text":"` + big + `"}`)}}})
	}
	for m := w.next(); ; m = w.next() {
		if m.name == "dropped" {
			if m.data != `{"reason":"the subscriber did not keep up with the stream"}` {
				t.Errorf("%+v", m)
			}
			break
		}
		if m.id == "" {
			t.Fatalf("%.200s", m.data)
		}
	}
	if m := w.next(); m != (sse{}) {
		t.Errorf("behind the end: %+v", m)
	}
}

func TestAStreamSendsKeepAlives(t *testing.T) {
	h := newTestServer(t, func(o *Options) { o.Limits.KeepAlive = time.Millisecond })
	w := watch(t, h.listen().URL+"/api/stream")
	for _, want := range []string{"retry: 1000", ": live", ": keepalive", ": keepalive"} {
		if block := w.block(); block != want {
			t.Errorf("%q, want %q", block, want)
		}
	}
}

func TestStreamsAreLimited(t *testing.T) {
	h := newTestServer(t, func(o *Options) { o.Limits.Streams = 1 })
	server := h.listen()
	w := watch(t, server.URL+"/api/stream")
	answer, err := server.Client().Get(server.URL + "/api/stream")
	if err != nil || answer.StatusCode != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") != "1" {
		t.Errorf("%v, %v", answer, err)
	}
	w.body.Close()
	for status := 0; status != http.StatusOK; { // once the server notices that the client has gone
		if answer, err = server.Client().Get(server.URL + "/api/stream"); err != nil {
			t.Fatal(err)
		}
		status = answer.StatusCode
		answer.Body.Close()
	}
}

func TestAnUnknownLastEventIDStartsTheStreamAnew(t *testing.T) {
	h := newTestServer(t, nil)
	h.send(event("r", 1, "x", ""))
	server := h.listen()
	if m := watch(t, server.URL+"/api/runs/r/stream", "Last-Event-ID", "999").next(); m.id != "1" {
		t.Errorf("%+v", m)
	}
	if m := watch(t, server.URL+"/api/stream", "Last-Event-ID", "999").next(); m.id != "1" {
		t.Errorf("%+v", m)
	}
}

func TestHEADOfAStreamReturnsItsHeader(t *testing.T) {
	h := newTestServer(t, nil)
	if w := h.do(http.MethodHead, "/api/stream", ""); w.Code != http.StatusOK || w.Header().Get("Content-Type") != "text/event-stream" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

// TestAStreamSendsTheEndOfEveryRun connects again and again while events of many runs are being recorded.
func TestAStreamSendsTheEndOfEveryRun(t *testing.T) {
	h := newTestServer(t, nil)
	server := h.listen()
	const runs, each = 12, 40
	var sending sync.WaitGroup
	defer sending.Wait()
	sending.Go(func() {
		for i := 1; i <= each; i++ {
			for r := range runs {
				kind := "x"
				if i == each {
					kind = "run_completed"
				}
				h.send(event(fmt.Sprint("r", r), i, kind, ""))
			}
		}
	})
	ended := map[string]bool{}
	last := "0"
	for connections := 1; len(ended) < runs; connections++ {
		told := map[string]int64{}
		w := watch(t, server.URL+"/api/stream", "Last-Event-ID", last)
		for range connections % 30 {
			if len(ended) == runs {
				break
			}
			m := w.next()
			u := as[api.OverviewUpdate](t, m)
			if u.Run.Arrival <= told[u.RunID] {
				t.Fatalf("run %s at %d is sent after %d", u.RunID, u.Run.Arrival, told[u.RunID])
			}
			told[u.RunID] = u.Run.Arrival
			if u.Run.Status == "completed" && u.Run.EventCount == each {
				ended[u.RunID] = true
			}
			if m.id != "" {
				last = m.id
			}
		}
		w.body.Close()
	}
}
