package proxy

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/unloop-ai/unloop/profile"
)

// history returns a request in which an agent makes progress, of at least size bytes. It has more items than an earlier one of
// the same seed by its last calls only.
func history(size, calls, seed int) []byte {
	d := dialects["chat"]
	items := []string{d.says(fmt.Sprint("work on part ", seed))}
	each := max(size/calls, 200)
	for i := range calls {
		result := fmt.Sprintf("file %d: ", i) + strings.Repeat(fmt.Sprintf("word%d_%d ", i, i*7), each/14)
		items = append(items, d.calls(fmt.Sprint("c", i), fmt.Sprintf("cat part%d/file%d.go", i%17, i), result)...)
	}
	return []byte(d.body(items, true))
}

// sourceHistory returns a request of at least size bytes in which an agent reads the Go files of this module.
func sourceHistory(tb testing.TB, size int) []byte {
	d := dialects["chat"]
	items := []string{d.says("find the bug")}
	files, err := filepath.Glob("../*/*.go")
	if err != nil || len(files) == 0 {
		tb.Fatal(len(files), err)
	}
	for n, read := 0, 0; read < size; n++ {
		file := files[n%len(files)]
		text, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		call := d.calls(fmt.Sprint("c", n), "cat "+file, "")
		result, err := json.Marshal(string(text[:min(len(text), 8<<10)]))
		if err != nil {
			tb.Fatal(err)
		}
		call[1] = strings.Replace(call[1], `"content":""`, `"content":`+string(result), 1)
		items = append(items, call...)
		read += len(result)
	}
	return []byte(d.body(items, true))
}

// BenchmarkJudge measures a request with a history of 2 MB in 500 calls, which the proxy sees for the first time, and one that has
// one call more than the one before. The least time is that of a run that no other program interrupted.
func BenchmarkJudge(b *testing.B) {
	p, err := profile.New(profile.Default)
	if err != nil {
		b.Fatal(err)
	}
	o := Options{Profile: p, MaxMemory: 256 << 20}
	whole := history(2<<20, 500, 1)
	for name, body := range map[string][]byte{"scratch": whole, "source": sourceHistory(b, 2<<20)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			least := time.Hour
			for b.Loop() {
				begun := time.Now()
				if _, err := newConversations(o).judge(chat{}, body, "s"); err != nil {
					b.Fatal(err)
				}
				least = min(least, time.Since(begun))
			}
			b.ReportMetric(float64(least.Microseconds())/1000, "least-ms")
		})
	}
	b.Run("extended", func(b *testing.B) {
		d := dialects["chat"]
		s := newConversations(o)
		body := whole
		if _, err := s.judge(chat{}, body, "s"); err != nil {
			b.Fatal(err)
		}
		end := strings.LastIndex(string(body), "]")
		b.SetBytes(int64(len(body)))
		for i := 0; b.Loop(); i++ {
			b.StopTimer()
			more := d.calls(fmt.Sprint("d", i), fmt.Sprint("cat other", i), fmt.Sprint("something new ", i*i))
			body = slices.Concat(body[:end], []byte(","+strings.Join(more, ",")), body[end:])
			end += len(more[0]) + len(more[1]) + 2
			b.StartTimer()
			if _, err := s.judge(chat{}, body, "s"); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// quick is an API that answers at once.
func quick(b *testing.B) *httptest.Server {
	u := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"id\":\"c\",\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n")
	}))
	b.Cleanup(u.Close)
	return u
}

// BenchmarkRequests measures requests of 20 kB, from 16 clients whose conversations the proxy knows. Client, proxy and upstream
// share the machine. "direct" is the same without the proxy.
func BenchmarkRequests(b *testing.B) {
	u := quick(b)
	for name, address := range map[string]string{"direct": u.URL, "proxy": benchmarkProxy(b, u.URL).URL + "/openai"} {
		b.Run(name, func(b *testing.B) {
			client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
			var seed atomic.Int64
			b.SetParallelism(max(1, 16/runtime.GOMAXPROCS(0)))
			b.RunParallel(func(pb *testing.PB) {
				body := string(history(20<<10, 10, int(seed.Add(1))))
				for pb.Next() {
					if _, err := firstByte(client, address, body); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
		})
	}
}

// firstByte sends a request and returns the time to the first byte of the answer.
func firstByte(client *http.Client, address, body string) (time.Duration, error) {
	begun := time.Now()
	res, err := client.Post(address+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	var one [1]byte
	if _, err := io.ReadFull(res.Body, one[:]); err != nil {
		return 0, err
	}
	first := time.Since(begun)
	_, err = io.Copy(io.Discard, res.Body)
	return first, err
}

// BenchmarkFirstByte measures the time to the first byte while 200 streams are open: one request of 20 kB after the other, with the
// proxy and without it. The difference of the percentiles is what the proxy adds.
func BenchmarkFirstByte(b *testing.B) {
	const open = 200
	var release chan struct{}
	u := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"id\":\"c\"}\n\n")
		w.(http.Flusher).Flush()
		if strings.Contains(string(body), "held") {
			tick := time.NewTicker(50 * time.Millisecond) // as many tokens as a model writes
			defer tick.Stop()
			for {
				select {
				case <-release:
					return
				case <-tick.C:
					_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"word\"}}]}\n\n")
					w.(http.Flusher).Flush()
				}
			}
		}
	}))
	b.Cleanup(u.Close)
	for name, address := range map[string]string{"direct": u.URL, "proxy": benchmarkProxy(b, u.URL).URL + "/openai"} {
		b.Run(name, func(b *testing.B) {
			release = make(chan struct{})
			client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2 * open}}
			var begun, ended sync.WaitGroup
			begun.Add(open)
			for i := range open {
				ended.Go(func() {
					res, err := client.Post(address+"/v1/chat/completions", "application/json",
						strings.NewReader(fmt.Sprintf(`{"messages":[{"role":"user","content":"held %d"}],"stream":true}`, i)))
					begun.Done()
					if err != nil {
						b.Error(err)
						return
					}
					defer res.Body.Close()
					_, _ = io.Copy(io.Discard, res.Body)
				})
			}
			begun.Wait()
			body := string(history(20<<10, 10, 1))
			var times []time.Duration
			for b.Loop() {
				t, err := firstByte(client, address, body)
				if err != nil {
					b.Fatal(err)
				}
				times = append(times, t)
			}
			close(release)
			ended.Wait()
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}
