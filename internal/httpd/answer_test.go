package httpd

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
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
