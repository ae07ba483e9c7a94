package httpd

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/unloop-ai/unloop/internal/live"
	"github.com/unloop-ai/unloop/internal/store"
)

// heldOpen is the connection of a client that does not read its answer until release is closed.
type heldOpen struct {
	*httptest.ResponseRecorder
	writes  chan struct{}
	release chan struct{}
}

func (h heldOpen) Write(p []byte) (int, error) {
	h.writes <- struct{}{}
	<-h.release
	return h.ResponseRecorder.Write(p)
}

func TestAnswersThatClientsDoNotReadAreBoundedTogether(t *testing.T) {
	h := newTestServer(t, func(o *Options) { o.Limits.Answers = 400 << 10 })
	text := `"error":"` + strings.Repeat("x", 300<<10) + `"`
	for _, e := range []string{event("large", 1, "tool_failed", text), event("small", 1, "run_started", "")} {
		if w := h.do(http.MethodPost, "/api/events", e); w.Code >= 300 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	slow := heldOpen{httptest.NewRecorder(), make(chan struct{}, 100), make(chan struct{})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		r := httptest.NewRequest(http.MethodGet, "/api/runs/large/events", nil)
		r.Host = "localhost"
		h.ServeHTTP(slow, r)
	}()
	<-slow.writes
	if w := h.do(http.MethodGet, "/api/runs/large/events", ""); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "1" {
		t.Errorf("a large answer beside one that is held open: %d %.200s", w.Code, w.Body)
	}
	if w := h.do(http.MethodGet, "/api/runs/small/events", ""); w.Code != http.StatusOK {
		t.Errorf("a small answer: %d %.200s", w.Code, w.Body)
	}
	close(slow.release)
	<-done
	if slow.Code != http.StatusOK || slow.Body.Len() < 300<<10 {
		t.Errorf("the answer that was held open: %d, %d bytes", slow.Code, slow.Body.Len())
	}
	if w := h.do(http.MethodGet, "/api/runs/large/events", ""); w.Code != http.StatusOK {
		t.Errorf("a large answer after that: %d %.200s", w.Code, w.Body)
	}
}

func TestAnAnswerWithoutMemoryAsksTheClientToRetry(t *testing.T) {
	h := newTestServer(t, func(o *Options) { o.Limits.Answers = 1 << 20 })
	h.Mount("GET /large", Read, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "102400")
		w.WriteHeader(http.StatusAccepted)
		for range 100 {
			_, _ = w.Write(make([]byte, 100<<10)) // the recorder never fails
		}
	}))
	h.Mount("GET /begun", Read, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = http.NewResponseController(w).Flush() // the recorder never fails
		if _, err := w.Write(make([]byte, 100<<10)); err == nil {
			t.Error("a part of a stream without memory was sent")
		}
	}))
	if !h.answers.TryTake(1 << 20) {
		t.Fatal("the memory of answers is not free")
	}
	w := h.do(http.MethodGet, "/large", "")
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Content-Length") != "" || w.Body.Len() > 1000 {
		t.Errorf("%d %v, %d bytes", w.Code, w.Header(), w.Body.Len())
	}
	h.do(http.MethodGet, "/begun", "")
	h.answers.Give(1 << 20)
	if w := h.do(http.MethodGet, "/large", ""); w.Code != http.StatusAccepted || w.Body.Len() != 100*100<<10 {
		t.Errorf("with memory: %d, %d bytes", w.Code, w.Body.Len())
	}
	if !h.answers.TryTake(1 << 20) {
		t.Error("some memory of answers was not given back")
	}
}

// trackedStore tells when the memory of an event that it returned is free.
type trackedStore struct {
	Store
	read, freed atomic.Int64
}

func (s *trackedStore) EventsSince(ctx context.Context, run, arrival int64, most int) ([]store.Event, bool, error) {
	events, more, err := s.Store.EventsSince(ctx, run, arrival, most)
	for i := range events {
		s.read.Add(1)
		runtime.AddCleanup(&events[i].Body[0], func(int) { s.freed.Add(1) }, 0)
	}
	return events, more, err
}

func TestAStreamThatIsNotReadHoldsOnlyTheMessageThatItSends(t *testing.T) {
	var tracked *trackedStore
	h := newTestServer(t, func(o *Options) {
		o.Limits.Answers = 1 << 20
		tracked = &trackedStore{Store: o.Store}
		o.Store = tracked
	})
	text := `"error":"` + strings.Repeat("x", 300<<10) + `"`
	if w := h.do(http.MethodPost, "/api/events", event("r", 1, "tool_failed", text)); w.Code >= 300 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	slow := heldAtLargeWrites{heldOpen{httptest.NewRecorder(), make(chan struct{}), make(chan struct{})}}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/api/runs/r/stream", nil)
		r.Host = "localhost"
		h.ServeHTTP(slow, r)
	}()
	<-slow.writes
	if h.answers.TryTake(1<<20 - 300<<10) {
		t.Error("the message takes no memory")
	}
	for range 1000 {
		if runtime.GC(); tracked.freed.Load() == tracked.read.Load() {
			break
		}
	}
	if freed, read := tracked.freed.Load(), tracked.read.Load(); freed < read {
		t.Errorf("of %d events that were read, %d are kept while the client does not read", read, read-freed)
	}
	cancel()
	close(slow.release)
	<-done
	if !h.answers.TryTake(1 << 20) {
		t.Error("some memory of answers was not given back")
	}
}

// heldAtLargeWrites is the connection of a client that does not read a large part of its answer until release is closed.
type heldAtLargeWrites struct{ heldOpen }

func (h heldAtLargeWrites) Write(p []byte) (int, error) {
	if len(p) <= smallAnswer {
		return h.ResponseRecorder.Write(p)
	}
	return h.heldOpen.Write(p)
}

// heldAtUpdates is the connection of a client that does not read the updates of a stream until release is closed.
type heldAtUpdates struct{ heldOpen }

func (h heldAtUpdates) Write(p []byte) (int, error) {
	if p[0] != '{' {
		return h.ResponseRecorder.Write(p)
	}
	return h.heldOpen.Write(p)
}

func TestAStreamThatIsNotReadHoldsNoUpdateOfTheHub(t *testing.T) {
	for _, path := range []string{"/api/runs/r/stream", "/api/stream"} {
		t.Run(path, func(t *testing.T) {
			hub := live.New(live.Options{})
			h := newTestServer(t, func(o *Options) { o.Hub = hub })
			slow := heldAtUpdates{heldOpen{httptest.NewRecorder(), make(chan struct{}), make(chan struct{})}}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() {
				defer close(done)
				r := httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil)
				r.Host = "localhost"
				h.ServeHTTP(slow, r)
			}()
			for hub.Stats().Subscribers == 0 {
				runtime.Gosched()
			}
			var freed atomic.Bool
			publishTracked(hub, &freed)
			<-slow.writes
			for range 100 {
				if runtime.GC(); freed.Load() {
					break
				}
			}
			if !freed.Load() {
				t.Error("the stream keeps the event of the update while its client does not read")
			}
			cancel()
			close(slow.release)
			<-done
		})
	}
}

// publishTracked publishes an update of the run r. Its event sets freed when its memory is free.
func publishTracked(hub *live.Hub, freed *atomic.Bool) {
	body := []byte(`{"event_id":"e","type":"message","text":"` + strings.Repeat("x", 100<<10) + `"}`)
	runtime.AddCleanup(&body[0], func(int) { freed.Store(true) }, 0)
	hub.Publish(&store.Update{Run: store.Run{Number: 1, ID: "r", Arrival: 1}, Events: []store.Event{{ID: "e", Arrival: 1, Body: body}}})
}

func TestFewPartsOfStreamsAreBuiltAtOnce(t *testing.T) {
	var building *countingStore
	h := newTestServer(t, func(o *Options) {
		building = &countingStore{Store: o.Store}
		o.Store = building
	})
	if w := h.do(http.MethodPost, "/api/events", event("r", 1, "run_completed", "")); w.Code >= 300 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for range 100 {
		readers.Go(func() {
			r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/api/runs/r/stream", nil)
			r.Host = "localhost"
			h.ServeHTTP(httptest.NewRecorder(), r)
		})
	}
	for building.read.Load() < 100 {
		runtime.Gosched()
	}
	cancel()
	readers.Wait()
	if most := building.most.Load(); most > int64(2*runtime.GOMAXPROCS(0)) {
		t.Errorf("%d parts of streams are built at once", most)
	}
}

// countingStore counts how many events are read at once.
type countingStore struct {
	Store
	now, most, read atomic.Int64
}

func (s *countingStore) EventsSince(ctx context.Context, run, arrival int64, most int) ([]store.Event, bool, error) {
	now := s.now.Add(1)
	for before := s.most.Load(); now > before && !s.most.CompareAndSwap(before, now); before = s.most.Load() {
	}
	for range 1000 {
		runtime.Gosched()
	}
	defer s.read.Add(1)
	defer s.now.Add(-1)
	return s.Store.EventsSince(ctx, run, arrival, most)
}
