package httpd

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/memory"
	"github.com/unloop-ai/unloop/internal/pipeline"
)

func TestTheResponseToAnEventIsTheRecordedEvent(t *testing.T) {
	h := newTestServer(t, nil)
	w := h.do(http.MethodPost, "/api/events", `{"event_id":"e","run_id":"r","sequence":3,"timestamp":"2026-01-02T03:04:05.5+01:00","type":"tool_call_completed",`+
		`"project":"p","agent":null,"tool":"search","output":{"b":1,"a":[]},"error":{"message":"no"},"latency_ms":7,"tokens":0}`)
	want := `{"event_id":"e","run_id":"r","sequence":3,"timestamp":"2026-01-02T03:04:05.5+01:00","type":"tool_call_completed","agent":null,"name":null,` +
		`"status":null,"model":null,"tool":"search","input":null,"output":{"b":1,"a":[]},"error":{"message":"no"},"tokens":null,"cost":null,"latency_ms":7,` +
		`"parent_event_id":null,"span_id":null,"trace_id":null,"metadata":null,"call_id":null,"role":null,"text":null,"usage":null,"annotations":null,"content":null,"analysis":`
	unknown, analysis := want+`null}`, want+`{"call":"bcTW387SJvs","result":"mFIOeYoU3u0","novel":true}}`
	if diff := cmp.Diff(unknown, w.Body.String()); w.Code != http.StatusCreated || diff != "" {
		t.Errorf("%d\n%s", w.Code, diff)
	}
	again := h.do(http.MethodPost, "/api/events", `{"event_id":"e","run_id":"r","type":"run_failed"}`)
	if diff := cmp.Diff(analysis, again.Body.String()); again.Code != http.StatusCreated || diff != "" {
		t.Errorf("sent again as something else: %d\n%s", again.Code, diff)
	}
	if stored := h.do(http.MethodGet, "/api/runs/r/events", ""); stored.Body.String() != "["+analysis+"]" {
		t.Errorf("stored is\n%s, want\n[%s]", stored.Body, analysis)
	}
}

func TestAnEventWithoutAnIDGetsOne(t *testing.T) {
	h := newTestServer(t, nil)
	w := h.do(http.MethodPost, "/api/events", `{"run_id":"r","type":"memory_write"}`)
	var sent api.Event
	if err := json.Unmarshal(w.Body.Bytes(), &sent); err != nil || sent.ID == "" || sent.Timestamp == "" {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if diff := cmp.Diff([]api.Event{sent}, get[[]api.Event](h, "/api/runs/r/events")); diff != "" {
		t.Errorf("answered (-), stored (+):\n%s", diff)
	}
}

func TestTheResponseToEventsHasTheirResults(t *testing.T) {
	h := newTestServer(t, nil)
	a, b := event("r", 1, "run_started", ""), event("r", 2, "run_completed", "")
	for _, tc := range []struct {
		name, body, kind string
		status           int
		want             string
	}{
		{"an array", "[" + a + "]", "application/json", 201, `{"accepted":1,"duplicates":0,"rejected":0,"errors":[]}`},
		{"lines, one of which came before", a + "\n" + b, "application/json", 201, `{"accepted":2,"duplicates":1,"rejected":0,"errors":[]}`},
		{"lines by type", a, "application/x-ndjson; charset=utf-8", 201, `{"accepted":1,"duplicates":1,"rejected":0,"errors":[]}`},
		{"no type at all", "[" + a + "]", "", 201, `{"accepted":1,"duplicates":1,"rejected":0,"errors":[]}`},
		{"none", "[]", "", 201, `{"accepted":0,"duplicates":0,"rejected":0,"errors":[]}`},
		{
			"one of two", `[{"run_id":"r"},` + a + `]`, "", 201,
			`{"accepted":1,"duplicates":1,"rejected":1,"errors":[{"index":0,"field":"type","reason":"an event needs a type"}]}`,
		},
		{
			"none of two", `[{"run_id":"r"},7]`, "", 400,
			`{"title":"Bad Request","status":400,"detail":"none of the events is valid","field":"type","reason":"an event needs a type",` +
				`"errors":[{"index":0,"field":"type","reason":"an event needs a type"},{"index":1,"field":"","reason":"got a JSON number, want an event"}]}`,
		},
		{
			"one that is bad", `{"run_id":"r","type":"x","tokens":"many"}`, "", 400,
			`{"title":"Bad Request","status":400,"detail":"tokens: a JSON string does not fit here, want a whole number","field":"tokens","reason":"a JSON string does not fit here, want a whole number"}`,
		},
		{
			"no JSON", `{"run_id":`, "", 400, `{"title":"Bad Request","status":400,` +
				`"detail":"not valid JSON at byte 10: the JSON ends too early","reason":"not valid JSON at byte 10: the JSON ends too early"}`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := h.do(http.MethodPost, "/api/events", tc.body, "Content-Type", tc.kind)
			if diff := cmp.Diff(tc.want, w.Body.String()); w.Code != tc.status || diff != "" {
				t.Errorf("%d\n%s", w.Code, diff)
			}
			if problem := w.Header().Get("Content-Type") == "application/problem+json"; problem != (tc.status == 400) {
				t.Errorf("Content-Type %s", w.Header().Get("Content-Type"))
			}
		})
	}
}

func TestEventsGiveTheirRunItsName(t *testing.T) {
	var p recorder
	h := newTestServer(t, func(o *Options) { o.Pipeline = &p })
	h.send(`{"run_id":"a","type":"run_started","name":"first","metadata":{"k":1},"project":"lab"}`, `{"run_id":"b","type":"memory_write","project":"lab"}`,
		`{"run_id":"b","type":"memory_write","project":"lab"}`, `{"run_id":"b","type":"run_started","name":"second"}`, `{"run_id":"c","type":"memory_write"}`, `{"run_id":"a","type":"memory_write","project":"lab","name":"no run"}`)
	want := []pipeline.Info{{ID: "a", Name: "first", Project: "lab", Metadata: json.RawMessage(`{"k":1}`)}, {ID: "b", Name: "second", Project: "lab"}}
	if diff := cmp.Diff(want, p.deliveries[0].Runs); diff != "" {
		t.Error(diff)
	}
}

func TestARunCanBeAnnouncedBeforeItsEvents(t *testing.T) {
	h := newTestServer(t, nil)
	w := h.do(http.MethodPost, "/api/runs", `{"id":"r/1","name":"my run","project":"lab","metadata":{"k":"v"},"unknown":1}`, "Content-Type", "application/json")
	var run map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &run); err != nil || w.Code != http.StatusCreated {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if run["started_at"] == nil {
		t.Errorf("a run that was announced has begun, source 0's clients think: %s", w.Body)
	}
	delete(run, "started_at")
	want := map[string]any{
		"id": "r/1", "name": "my run", "project": "lab", "status": "running", "ended_at": nil, "total_cost": 0.0,
		"total_tokens": 0.0, "metadata": map[string]any{"k": "v"},
	}
	if diff := cmp.Diff(want, run); diff != "" {
		t.Error(diff)
	}
	if named := get[api.RunSummary](h, "/api/runs/r%2F1"); named.Name != "my run" {
		t.Errorf("a run is found by the id %q as %+v", "r/1", named)
	}
	w = h.do(http.MethodPost, "/api/runs", `{"id":null,"name":null,"metadata":null}`)
	if err := json.Unmarshal(w.Body.Bytes(), &run); err != nil || w.Code != http.StatusCreated || !strings.HasPrefix(fmt.Sprint(run["id"]), "run_") {
		t.Errorf("without an id: %d %s", w.Code, w.Body)
	}
}

func TestAnInvalidAnnouncementNamesTheField(t *testing.T) {
	h := newTestServer(t, nil)
	for body, field := range map[string]string{
		`{"id":7}`: "body", `[]`: "body", `{"metadata":[1]}`: "metadata", `{"metadata":7}`: "metadata",
		`{"metadata":{"a":` + strings.Repeat("[", 128) + strings.Repeat("]", 128) + `}}`: "metadata",
	} {
		w := h.do(http.MethodPost, "/api/runs", body)
		var p Problem
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != http.StatusBadRequest || p.Field != field || p.Reason == "" {
			t.Errorf("%.40s: %d %s", body, w.Code, w.Body)
		}
	}
}

func TestABusyServerSendsRetryAfter(t *testing.T) {
	for err, status := range map[error]int{
		pipeline.ErrBusy: http.StatusTooManyRequests, fmt.Errorf("wrapped: %w", pipeline.ErrClosed): http.StatusServiceUnavailable,
	} {
		h := newTestServer(t, func(o *Options) { o.Pipeline = &recorder{err: err} })
		w := h.do(http.MethodPost, "/api/events", `{"run_id":"r","type":"x"}`)
		if w.Code != status || w.Header().Get("Retry-After") != "1" {
			t.Errorf("%v: %d, Retry-After %q", err, w.Code, w.Header().Get("Retry-After"))
		}
	}
	h := newTestServer(t, func(o *Options) { o.Pipeline = &recorder{err: fmt.Errorf("disk on fire")} })
	w := h.do(http.MethodPost, "/api/events", `{"run_id":"r","type":"x"}`)
	if w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "fire") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func packed(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text)) // a buffer takes all
	_ = z.Close()
	return b.String()
}

func TestBodiesAreBounded(t *testing.T) {
	h := newTestServer(t, func(o *Options) { o.Limits.Body, o.Limits.Events = 4096, 3 })
	good := event("r", 1, "x", "")
	for _, tc := range []struct {
		name, body, encoding string
		status               int
	}{
		{"packed", packed(good), "gzip", 201},
		{"not packed, and says so", good, "identity", 201},
		{"packed in a way that nobody knows", good, "br", 415},
		{"not packed as it says", good, "gzip", 400},
		{"cut", packed(good)[:60], "gzip", 400},
		{"too long", event("r", 1, "x", `"text":"`+strings.Repeat("x", 5000)+`"`), "", 413},
		{"a bomb", packed(strings.Repeat(" ", 8<<20) + good), "gzip", 413},
		{"just as long as may be", good + strings.Repeat(" ", 4096-len(good)), "", 201},
		{"one byte longer", good + strings.Repeat(" ", 4097-len(good)), "", 413},
		{"one byte longer, unpacked", packed(good + strings.Repeat(" ", 4097-len(good))), "gzip", 413},
		{"too many events", "[" + good + "," + good + "," + good + "," + good + "]", "", 400},
		{"too deep", `{"run_id":"r","type":"x","input":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + "}", "", 400},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if w := h.do(http.MethodPost, "/api/events", tc.body, "Content-Encoding", tc.encoding); w.Code != tc.status {
				t.Errorf("%d %s, want %d", w.Code, w.Body, tc.status)
			}
			h.wantAllGiven(t)
		})
	}
}

func TestTheMemoryOfAllBodiesIsBounded(t *testing.T) {
	h := newTestServer(t, func(o *Options) { o.Limits.Body, o.Limits.Bodies = 1<<20, 4<<20 })
	others, err := h.large.Take(t.Context(), h.large.Size()/2)
	if err != nil {
		t.Fatal(err)
	}
	long := event("r", 1, "x", `"text":"`+strings.Repeat("x", 800<<10)+`"`)
	if w := h.do(http.MethodPost, "/api/events", long); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "1" {
		t.Errorf("a long one: %d %s", w.Code, w.Body)
	}
	if w := h.do(http.MethodPost, "/api/events", event("r", 1, "x", "")); w.Code != http.StatusCreated {
		t.Errorf("a short one: %d %s", w.Code, w.Body)
	}
	h.large.Give(others)
	if w := h.do(http.MethodPost, "/api/events", long); w.Code != http.StatusCreated {
		t.Errorf("a long one, alone: %d %s", w.Code, w.Body)
	}
	h.wantAllGiven(t)
}

// wantAllGiven takes all that there is, which must be free.
func (h *testServer) wantAllGiven(t *testing.T) {
	t.Helper()
	for _, pool := range []*memory.Pool{h.small, h.large} {
		taken, err := pool.Take(t.Context(), pool.Size())
		if err != nil {
			t.Errorf("some of %d bytes are not released: %v", pool.Size(), err)
		}
		pool.Give(taken)
	}
}

func TestABodyThatDoesNotArriveMakesRoomForOthers(t *testing.T) {
	h := newTestServer(t, func(o *Options) { o.Limits.Body, o.Limits.Bodies = 1<<20, 4<<20 })
	web := httptest.NewServer(h)
	defer web.Close()
	post := func(body io.Reader) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, web.URL+"/api/events", body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		answer, err := web.Client().Do(r)
		if err != nil {
			t.Error(err)
			return &http.Response{}
		}
		_ = answer.Body.Close() // never fails
		return answer
	}
	slow, arrives := io.Pipe()
	stalled := make(chan *http.Response)
	go func() { stalled <- post(slow) }()
	if _, err := arrives.Write(bytes.Repeat([]byte(" "), 800<<10)); err != nil {
		t.Fatal(err)
	}
	for h.large.TryTake(h.large.Size()) { // until the body has it
		h.large.Give(h.large.Size())
	}
	long := event("r", 1, "x", `"text":"`+strings.Repeat("x", 800<<10)+`"`)
	answer := post(strings.NewReader(long))
	for answer.StatusCode == http.StatusTooManyRequests {
		answer = post(strings.NewReader(long))
	}
	if answer.StatusCode != http.StatusCreated {
		t.Errorf("another body: %s", answer.Status)
	}
	if answer := <-stalled; answer.StatusCode != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") != "1" {
		t.Errorf("the slow body: %s", answer.Status)
	}
	_ = arrives.Close() // never fails
	h.wantAllGiven(t)
}

func TestADeclaredLengthReservesNoMemory(t *testing.T) {
	h := newTestServer(t, func(o *Options) { o.Limits.Body, o.Limits.Bodies = 1<<20, 4<<20 })
	slow, arrives := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		r := httptest.NewRequest(http.MethodPost, "/api/events", slow)
		r.Host, r.ContentLength = "localhost", 1<<20
		h.ServeHTTP(httptest.NewRecorder(), r)
	}()
	if _, err := arrives.Write([]byte("{")); err != nil {
		t.Fatal(err)
	}
	if taken, err := h.large.Take(t.Context(), h.large.Size()); err != nil {
		t.Errorf("there is no memory for large bodies: %v", err)
	} else {
		h.large.Give(taken)
	}
	_ = arrives.Close() // never fails
	<-done
	h.wantAllGiven(t)
}
