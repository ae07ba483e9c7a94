package mcpproxy

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/unloop-ai/unloop/profile"
)

// echo answers each call over a connection with a new text.
func echo(b *testing.B, c mcp.Connection) {
	for n := 0; ; n++ {
		m, err := c.Read(b.Context())
		if err != nil {
			return
		}
		result := fmt.Appendf(nil, `{"content":[{"type":"text","text":"page %d about subject %d"}]}`, n, n*n)
		if c.Write(b.Context(), &jsonrpc.Response{ID: m.(*jsonrpc.Request).ID, Result: result}) != nil {
			return
		}
	}
}

// pipe returns the two ends of a connection, which carries lines as standard input and output do.
func pipe(b *testing.B) (near, far mcp.Connection) {
	nearSide, farSide := mcp.NewInMemoryTransports()
	near, err := nearSide.Connect(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	if far, err = farSide.Connect(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _, _ = near.Close(), far.Close() })
	return near, far
}

// BenchmarkPump measures a call through the proxy, and without it ("direct"). The difference is what the proxy adds: reading, judging
// and writing the call and its result.
func BenchmarkPump(b *testing.B) {
	for _, name := range []string{"direct", "proxy"} {
		b.Run(name, func(b *testing.B) {
			client, server := pipe(b)
			if name == "proxy" {
				front := server
				var back mcp.Connection
				back, server = pipe(b)
				p, err := profile.New(profile.Default)
				if err != nil {
					b.Fatal(err)
				}
				session := NewSession(p, Options{})
				go func() { _ = Pump(b.Context(), session, front, back) }()
			}
			go echo(b, server)
			var times []time.Duration
			for n := 0; b.Loop(); n++ {
				id, err := jsonrpc.MakeID(float64(n))
				if err != nil {
					b.Fatal(err)
				}
				params := fmt.Appendf(nil, `{"name":"search","arguments":{"query":"subject %d of %d"}}`, n*n, n)
				begun := time.Now()
				if err := client.Write(b.Context(), &jsonrpc.Request{ID: id, Method: "tools/call", Params: params}); err != nil {
					b.Fatal(err)
				}
				if _, err := client.Read(b.Context()); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(begun))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Nanoseconds())/1000, "p50-µs")
			b.ReportMetric(float64(times[len(times)*99/100].Nanoseconds())/1000, "p99-µs")
		})
	}
}

// waiting is a server that answers when it is told to. It takes the requests without a network, so that the memory is the proxy's.
type waiting struct {
	arrived sync.WaitGroup
	release chan struct{}
}

func (w *waiting) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	id := string(body[bytes.Index(body, []byte(`"id":`))+5 : bytes.Index(body, []byte(`,"method"`))])
	w.arrived.Done()
	<-w.release
	answer := `{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"type":"text","text":"page about ` + id + `"}]}}`
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(answer)), Request: r,
	}, nil
}

// BenchmarkInFlight measures the memory of 10,000 calls in flight over HTTP, in 100 sessions, and what they leave when they have ended.
func BenchmarkInFlight(b *testing.B) {
	const calls = 10_000
	w := &waiting{}
	p, err := profile.New(profile.Default)
	if err != nil {
		b.Fatal(err)
	}
	upstream := &url.URL{Scheme: "http", Host: "server", Path: "/mcp"}
	h, err := NewHTTP(HTTPOptions{Profile: p, Upstream: upstream, Log: slog.New(slog.DiscardHandler), MaxBody: 1 << 20, MaxBodies: 1 << 30, MaxMemory: 64 << 20, Transport: w})
	if err != nil {
		b.Fatal(err)
	}
	number := 0
	wave := func() (inFlight float64) {
		w.release = make(chan struct{})
		w.arrived.Add(calls)
		var ended sync.WaitGroup
		before := heap()
		number++
		for n := range calls {
			ended.Go(func() {
				body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"search","arguments":{"query":"%d of %d"}}}`, number*calls+n, n*n, number)
				r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/mcp", strings.NewReader(body))
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set(sessionHeader, fmt.Sprint("session", n%100))
				h.ServeHTTP(httptest.NewRecorder(), r)
			})
		}
		w.arrived.Wait()
		inFlight = heap() - before
		close(w.release)
		ended.Wait()
		return inFlight
	}
	wave() // the sessions exist from now on
	first, most := heap(), 0.0
	for b.Loop() {
		most = max(most, wave())
	}
	b.ReportMetric(most/calls/1024, "KiB/call")
	b.ReportMetric((heap()-first)/(1<<20), "MiB-left")
}

// heap returns the bytes of the heap and of the stacks.
func heap() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc + m.StackInuse)
}
