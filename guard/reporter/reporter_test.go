package reporter_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/guard/reporter"
	"github.com/unloop-ai/unloop/profile"
)

// server keeps the events that it is sent.
type server struct {
	*httptest.Server
	mu       sync.Mutex
	requests int
	events   []*unloop.Event
	failing  int // requests that are answered with 503 first
}

func newServer(t *testing.T) *server {
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.requests++
		if s.failing > 0 {
			s.failing--
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		n := 0
		for lines := bufio.NewScanner(r.Body); lines.Scan(); n++ {
			e := new(unloop.Event)
			if err := json.Unmarshal(lines.Bytes(), e); err != nil {
				t.Error(err)
			}
			s.events = append(s.events, e)
		}
		fmt.Fprintf(w, `{"accepted":%d,"duplicates":0,"rejected":0,"errors":[]}`, n)
	}))
	t.Cleanup(s.Close)
	return s
}

func newReporter(t *testing.T, o reporter.Options) *reporter.Reporter {
	t.Helper()
	r, err := reporter.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func newGuard(t *testing.T, r *reporter.Reporter, run string) *guard.Guard {
	t.Helper()
	p, err := profile.New("default")
	if err != nil {
		t.Fatal(err)
	}
	return guard.New(p, guard.Options{Run: run, Events: r.Add})
}

// loop makes the same call with the same result until the run must end.
func loop(t *testing.T, g *guard.Guard) (calls int) {
	t.Helper()
	search := g.Wrap("search", func(context.Context, json.RawMessage) (json.RawMessage, error) { return json.RawMessage(`[]`), nil })
	for range 50 {
		calls++
		if _, err := search(t.Context(), json.RawMessage(`{"q":"a"}`)); err != nil {
			return calls
		}
	}
	t.Fatal("the guard did not end the run")
	return 0
}

func TestAGuardReportsItsRunToAServer(t *testing.T) {
	s := newServer(t)
	r := newReporter(t, reporter.Options{Endpoint: s.URL, Every: time.Hour})
	calls := loop(t, newGuard(t, r, "r1"))
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	started, blocked, decided := 0, 0, make(map[string]int)
	for k, e := range s.events {
		if e.RunID != "r1" || e.ID != fmt.Sprint("g", k) || e.Time.IsZero() {
			t.Fatalf("event %d is %+v", k, e)
		}
		switch e.Type {
		case unloop.ToolCallStarted:
			started++
		case unloop.ToolCallBlocked:
			blocked++
		}
		if e.Metadata != nil {
			var m struct {
				Guard struct{ By, Action, Code string }
			}
			if err := json.Unmarshal(e.Metadata, &m); err != nil || m.Guard.By != "Go" || (m.Guard.Code == "") != (k == 0) {
				t.Fatalf("metadata %s: %v", e.Metadata, err)
			}
			decided[m.Guard.Action]++
		}
	}
	if started != calls || blocked == 0 || decided["warn"] == 0 || decided["block"] == 0 || decided["halt"] == 0 {
		t.Errorf("%d of %d calls, %d blocked, decisions %v", started, calls, blocked, decided)
	}
	if s.requests != 1 {
		t.Errorf("%d requests for %d events: want a batch", s.requests, len(s.events))
	}
	if got := r.Stats(); got != (reporter.Stats{Sent: len(s.events)}) {
		t.Errorf("stats %+v, want %d sent", got, len(s.events))
	}
}

func TestAServerThatWasUnavailableGetsAllEventsInOrder(t *testing.T) {
	s := newServer(t)
	s.failing = 2
	r := newReporter(t, reporter.Options{Endpoint: s.URL})
	loop(t, newGuard(t, r, "r1"))
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for k, e := range s.events {
		if e.ID != fmt.Sprint("g", k) {
			t.Fatalf("event %d is %s", k, e.ID)
		}
	}
	if len(s.events) == 0 || r.Stats().Dropped > 0 {
		t.Errorf("%d events, stats %+v", len(s.events), r.Stats())
	}
}

// The server never answers, so that nothing but the bounds keeps events from gathering.
func TestAReporterIsBoundedAndNeverBlocks(t *testing.T) {
	for name, tc := range map[string]struct {
		o    reporter.Options
		most int // events that wait; as many can be on their way
	}{
		"by the number of events": {reporter.Options{Events: 10}, 10},
		"by their bytes":          {reporter.Options{Bytes: 5 * 100_512}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tc.o.Endpoint = "http://127.0.0.1:1"
				r := newReporter(t, tc.o)
				e := &unloop.Event{RunID: "r", ID: "1", Index: 1, Type: unloop.MessageSent, Text: string(make([]byte, 100_000))}
				began := time.Now()
				for range 1000 {
					r.Add(e, guard.Decision{})
				}
				if took := time.Since(began); took > 0 {
					t.Errorf("adding waited %v", took)
				}
				if dropped := r.Stats().Dropped; dropped < 1000-2*tc.most {
					t.Errorf("%d of 1000 dropped, at most %d may wait and be on their way", dropped, 2*tc.most)
				}
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				if err := r.Close(ctx); err == nil {
					t.Error("Close returned no error after its timeout")
				}
				r.Add(e, guard.Decision{})
				if got := r.Stats(); got.Sent != 0 || got.Dropped != 1001 {
					t.Errorf("stats %+v, want 1001 dropped", got)
				}
			})
		})
	}
}

func TestWhatIsNoJSONIsReportedAsText(t *testing.T) {
	s := newServer(t)
	r := newReporter(t, reporter.Options{Endpoint: s.URL})
	g := newGuard(t, r, "r1")
	const other = `{},"run_id":"other","type":"run_completed"`
	sent := []string{`{"path":"a.go"`, other, "{}}\n{\"run_id\":\"other\"", `{"q":1} {"q":2}`, "{\n\"q\": 1\n}"}
	want := []string{`"{\"path\":\"a.go\""`, `"{},\"run_id\":\"other\",\"type\":\"run_completed\""`, `"{}}\n{\"run_id\":\"other\""`, `"{\"q\":1} {\"q\":2}"`, `{ "q": 1 }`}
	for _, text := range sent {
		c := guard.Call{Tool: "read", Args: json.RawMessage(text)}
		g.Before(t.Context(), c)
		g.After(t.Context(), c, guard.Outcome{Result: json.RawMessage(text)})
	}
	g.ModelCall(t.Context(), "", "model", 7, math.NaN())
	g.Record(t.Context(), unloop.Event{Type: unloop.MessageSent, Text: "Done.", Latency: new(math.Inf(1)), Metadata: json.RawMessage(other)})
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := (reporter.Stats{Sent: 2*len(sent) + 2}); r.Stats() != got || len(s.events) != got.Sent {
		t.Fatalf("stats %+v and %d events, want %+v", r.Stats(), len(s.events), got)
	}
	for k, e := range s.events {
		if e.RunID != "r1" {
			t.Errorf("event %d is of the run %s", k, e.RunID)
		}
		if text := string(e.Input) + string(e.Output); k < 2*len(sent) && text != want[k/2] && text != want[k/2]+want[k/2] {
			t.Errorf("event %d has %s, want %s", k, text, want[k/2])
		}
	}
}

func TestARefusedTokenIsLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	former := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	t.Cleanup(func() { slog.SetDefault(former) })
	asked := make(chan struct{}, 10)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		asked <- struct{}{}
	}))
	t.Cleanup(s.Close)
	r := newReporter(t, reporter.Options{Endpoint: s.URL, Every: time.Millisecond})
	r.Add(&unloop.Event{ID: "1", RunID: "r", Type: unloop.MessageSent}, guard.Decision{})
	<-asked
	<-asked
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(log.String(), "refuses events"); n != 1 || !strings.Contains(log.String(), s.URL) {
		t.Errorf("%d lines: %s", n, log.String())
	}
	if got := r.Stats(); got != (reporter.Stats{Dropped: 1}) {
		t.Errorf("stats %+v", got)
	}
}

func TestEventsWithoutARunAreDropped(t *testing.T) {
	s := newServer(t)
	r := newReporter(t, reporter.Options{Endpoint: s.URL})
	r.Add(&unloop.Event{ID: "1", Type: unloop.MessageSent}, guard.Decision{})
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := r.Stats(); got != (reporter.Stats{Dropped: 1}) {
		t.Errorf("stats %+v", got)
	}
}

func TestAnInvalidEndpointIsAnError(t *testing.T) {
	if _, err := reporter.New(reporter.Options{Endpoint: "nonsense"}); err == nil {
		t.Error("no error")
	}
}

func ExampleReporter() {
	p, err := profile.New("default")
	if err != nil {
		panic(err)
	}
	r, err := reporter.New(reporter.Options{}) // UNLOOP_ENDPOINT and UNLOOP_TOKEN
	if err != nil {
		panic(err)
	}
	g := guard.New(p, guard.Options{Run: "conversation-7", Events: r.Add})
	search := g.Wrap("search", func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`["a page"]`), nil
	})
	result, err := search(context.Background(), json.RawMessage(`{"q":"loops"}`))
	fmt.Println(string(result), err)

	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond) // how long the end of the program may take
	defer cancel()
	_ = r.Close(ctx)
	// Output: ["a page"] <nil>
}
