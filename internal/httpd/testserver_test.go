package httpd

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/unloop-ai/unloop/internal/live"
	"github.com/unloop-ai/unloop/internal/pipeline"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/internal/store/sqlstore"
	"github.com/unloop-ai/unloop/internal/store/storetest/sqlite"
	"github.com/unloop-ai/unloop/profile"
)

// testServer is a server on the real store and the real pipeline.
type testServer struct {
	*Server
	t     testing.TB
	store *sqlstore.Store
	hub   *live.Hub
}

// upToDate is a store whose rows of runs are written before they are read, as a server has it.
type upToDate struct {
	*sqlstore.Store
	pipeline *pipeline.Pipeline
}

func (u upToDate) Run(ctx context.Context, id string) (*store.Run, error) {
	if err := u.pipeline.Flush(ctx); err != nil {
		return nil, err
	}
	return u.Store.Run(ctx, id)
}

func (u upToDate) Runs(ctx context.Context, f store.Filter, o store.Order, p store.Page) ([]store.Run, string, error) {
	if err := u.pipeline.Flush(ctx); err != nil {
		return nil, "", err
	}
	return u.Store.Runs(ctx, f, o, p)
}

func (u upToDate) RunsSince(ctx context.Context, arrival int64, limit int) ([]store.Run, error) {
	if err := u.pipeline.Flush(ctx); err != nil {
		return nil, err
	}
	return u.Store.RunsSince(ctx, arrival, limit)
}

// newTestServer returns a server that is torn down with the test. Change may alter its options.
func newTestServer(t testing.TB, change func(*Options)) *testServer {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s, err := sqlstore.Open(ctx, sqlite.Database(t), sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rules, err := profile.New(profile.Default)
	if err != nil {
		t.Fatal(err)
	}
	hub := live.New(live.Options{})
	p, err := pipeline.New(ctx, pipeline.Options{
		Profile: rules, Store: s, Sinks: []pipeline.Sink{hub}, Metrics: pipeline.NewMetrics(prometheus.NewRegistry()),
	})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- p.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-done, s.Close()); err != nil {
			t.Error(err)
		}
		hub.Close()
	})
	o := Options{Version: "1.2.3", Pipeline: p, Store: upToDate{s, p}, Telemetry: &telemetry{}, Hub: hub, Judge: &fakeJudge{}, Tuner: &fakeTuner{}, Shadow: &fakeShadow{}, Guards: &echoGuards{}, Alerts: &fakeAlerts{}}
	if change != nil {
		change(&o)
	}
	server, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return &testServer{server, t, s, hub}
}

// do sends a request and returns the answer.
func (h *testServer) do(method, path, body string, header ...string) *httptest.ResponseRecorder {
	return serve(h.Server, method, path, body, header...)
}

func serve(h http.Handler, method, path, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://localhost:8765"+path, strings.NewReader(body))
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// get returns the answer to a question, decoded.
func get[T any](h *testServer, path string) (answer T) {
	h.t.Helper()
	w := h.do(http.MethodGet, path, "")
	if w.Code != http.StatusOK {
		h.t.Fatalf("GET %s: %d %s", path, w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		h.t.Fatalf("GET %s: %v in %s", path, err, w.Body)
	}
	return answer
}

// send sends events, all of which must be taken.
func (h *testServer) send(events ...string) {
	h.t.Helper()
	if w := h.do(http.MethodPost, "/api/events", strings.Join(events, "\n"), "Content-Type", "application/x-ndjson"); w.Code != http.StatusCreated {
		h.t.Fatalf("POST /api/events: %d %s", w.Code, w.Body)
	}
}

// event returns an event of a run as JSON.
func event(run string, sequence int, kind, more string) string {
	if more != "" {
		more = "," + more
	}
	return fmt.Sprintf(`{"event_id":"%s-%d","run_id":%q,"sequence":%d,"timestamp":"2026-05-01T12:%02d:%02dZ","type":%q%s}`,
		run, sequence, run, sequence, sequence/60, sequence%60, kind, more)
}

// looping returns the events of a run that makes the same call n times, beginning with its start.
func looping(run string, n int) []string {
	events := []string{event(run, 1, "run_started", `"name":"`+run+`'s name","project":"lab"`)}
	for i := range n {
		events = append(events,
			event(run, 2*i+2, "tool_call_started", fmt.Sprintf(`"tool":"search","call_id":"c%d","input":{"q":"loops"},"agent":"writer"`, i)),
			event(run, 2*i+3, "tool_call_completed", fmt.Sprintf(`"tool":"search","call_id":"c%d","output":["none"],"latency_ms":12.5`, i)))
	}
	return events
}

// recorder is a pipeline that keeps what it is given, and does as it is told.
type recorder struct {
	mu         sync.Mutex
	deliveries []*pipeline.Submission
	err        error
}

func (r *recorder) Submit(_ context.Context, d *pipeline.Submission) (pipeline.Ack, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return pipeline.Ack{}, r.err
	}
	r.deliveries = append(r.deliveries, d)
	receipt := pipeline.Ack{Events: make([]pipeline.Result, len(d.Events))}
	for i, e := range d.Events {
		if e.ID == "" {
			e.ID = fmt.Sprint("made", i)
		}
		receipt.Events[i] = pipeline.Result{ID: e.ID}
	}
	return receipt, nil
}

// telemetry keeps what it is given, and does as it is told.
type telemetry struct {
	spans, records int
	rejected       int
	reason         string
	err            error
}

func (t *telemetry) Traces(_ context.Context, td ptrace.Traces) (int, string, error) {
	t.spans += td.SpanCount()
	return t.rejected, t.reason, t.err
}

func (t *telemetry) Logs(_ context.Context, ld plog.Logs) (int, string, error) {
	t.records += ld.LogRecordCount()
	return t.rejected, t.reason, t.err
}

// message is a server-sent event.
type sse struct{ id, name, data string }

// watcher reads a stream of a server on the net.
type watcher struct {
	t    testing.TB
	body io.ReadCloser
	text *bufio.Reader
}

// watch opens a stream.
func watch(t testing.TB, url string, header ...string) *watcher {
	t.Helper()
	return watchOver(t, new(net.Dialer).DialContext, url, header...)
}

type dialer func(ctx context.Context, network, address string) (net.Conn, error)

// watchOver opens a stream over a network.
func watchOver(t testing.TB, dial dialer, url string, header ...string) *watcher {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: dial}}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%s: %s, %s", url, answer.Status, answer.Header)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return &watcher{t, answer.Body, bufio.NewReaderSize(answer.Body, 1<<20)}
}

// block returns the next block of lines, or "" at the end of the stream.
func (w *watcher) block() string {
	w.t.Helper()
	var block []string
	for {
		line, err := w.text.ReadString('\n')
		if err != nil {
			return ""
		}
		if line == "\n" {
			return strings.Join(block, "\n")
		}
		block = append(block, strings.TrimSuffix(line, "\n"))
	}
}

// next returns the next message, or nothing at the end of the stream.
func (w *watcher) next() sse {
	w.t.Helper()
	for {
		block := w.block()
		var m sse
		for line := range strings.SplitSeq(block, "\n") {
			field, value, _ := strings.Cut(line, ": ")
			switch field {
			case "id":
				m.id = value
			case "event":
				m.name = value
			case "data":
				m.data = value
			}
		}
		if m.data != "" || block == "" {
			return m
		}
	}
}

// as decodes a message's data.
func as[T any](t testing.TB, m sse) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(m.data), &v); err != nil {
		t.Fatalf("%v in %q", err, m.data)
	}
	return v
}

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
