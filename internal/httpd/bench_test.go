package httpd

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/unloop-ai/unloop/internal/live"
	"github.com/unloop-ai/unloop/internal/pipeline"
	"github.com/unloop-ai/unloop/internal/store"
)

// reportCPU reports what CPU time the process took for each event, which other processes disturb less than they do the clock.
func reportCPU(b *testing.B, before time.Duration, events int) {
	b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N*events), "cpu-ns/event")
}

func cpuTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// discardingPipeline accepts everything and stores nothing.
type discardingPipeline struct{ telemetry }

func (*discardingPipeline) Submit(_ context.Context, d *pipeline.Submission) (pipeline.Ack, error) {
	receipt := pipeline.Ack{Events: make([]pipeline.Result, len(d.Events))}
	for i, e := range d.Events {
		receipt.Events[i].ID = e.ID
	}
	return receipt, nil
}

// sink discards responses.
type sink struct {
	header http.Header
	status int
}

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) Write(b []byte) (int, error) { return len(b), nil }
func (s *sink) WriteHeader(status int)      { s.status = status }

func BenchmarkSendEvents(b *testing.B) {
	one := func(i int) string {
		return event(fmt.Sprintf("run_%d", i%5), i, "tool_call_started", `"project":"default","agent":"writer","tool":"search","call_id":"c7","input":{"query":"where is the grave of number 7",`+
			`"limit":10,"lang":"en","filters":{"kind":"article","since":1990},"fields":["title","abstract","year"]},"metadata":{"attempt":1}`)
	}
	var all []string
	for i := range 500 {
		all = append(all, one(i))
	}
	for _, tc := range []struct {
		name, body string
		events     int
	}{{"one", one(1), 1}, {"500", "[" + strings.Join(all, ",") + "]", 500}} {
		b.Run(tc.name, func(b *testing.B) {
			s, err := New(Options{Pipeline: &discardingPipeline{}, Store: &unusedStore{}, Telemetry: &telemetry{}, Hub: live.New(live.Options{}), Judge: &fakeJudge{}, Tuner: &fakeTuner{}, Shadow: &fakeShadow{}, Guards: &echoGuards{}, Alerts: &fakeAlerts{}})
			if err != nil {
				b.Fatal(err)
			}
			body := []byte(tc.body)
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			before := cpuTime(b)
			for b.Loop() {
				r := httptest.NewRequest(http.MethodPost, "http://localhost/api/events", bytes.NewReader(body))
				w := sink{header: make(http.Header)}
				s.ServeHTTP(&w, r)
				if w.status != http.StatusCreated {
					b.Fatal(w.status)
				}
			}
			reportCPU(b, before, tc.events)
		})
	}
}

// BenchmarkOneRequest is a single event over a real connection, the client included.
func BenchmarkOneRequest(b *testing.B) {
	s, err := New(Options{Pipeline: &discardingPipeline{}, Store: &unusedStore{}, Telemetry: &telemetry{}, Hub: live.New(live.Options{}), Judge: &fakeJudge{}, Tuner: &fakeTuner{}, Shadow: &fakeShadow{}, Guards: &echoGuards{}, Alerts: &fakeAlerts{}})
	if err != nil {
		b.Fatal(err)
	}
	server := httptest.NewServer(s)
	defer server.Close()
	body := []byte(event("r", 1, "tool_call_started", `"tool":"search","input":{"q":"loops"}`))
	before := cpuTime(b)
	for b.Loop() {
		answer, err := server.Client().Post(server.URL+"/api/events", "application/json", bytes.NewReader(body))
		if err != nil || answer.StatusCode != http.StatusCreated {
			b.Fatal(err, answer)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
	reportCPU(b, before, 1)
}

// BenchmarkMessages makes what streams say.
func BenchmarkMessages(b *testing.B) {
	body := []byte(event("r", 1, "tool_call_started", `"agent":"writer","tool":"search","call_id":"c7","input":{"query":"where is the grave of number 7","limit":10}`))
	u := &store.Update{Run: store.Run{ID: "r", Number: 1, Arrival: 7, Status: "running"}, Raised: []int{0}}
	for i := range int64(20) {
		u.Events = append(u.Events, store.Event{Arrival: i, Run: 1, ID: "e", Body: body, Received: noon})
	}
	u.Warnings = []store.Warning{{ID: "w", Rule: "same_call", Severity: "warning", Details: []byte(`{"why":"it costs"}`), Created: noon, Updated: noon}}
	b.Run("run of 20 events", func(b *testing.B) {
		b.ReportAllocs()
		before := cpuTime(b)
		for b.Loop() {
			runMessage(u)
		}
		reportCPU(b, before, len(u.Events))
	})
	b.Run("overview", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			overviewMessage(u)
		}
	})
}

// unusedStore is a store that is never called.
type unusedStore struct{ Store }
