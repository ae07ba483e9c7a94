package guard

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/unloop-ai/unloop/profile"
)

// BenchmarkCall measures Before and After of one call in a run that has that many calls already, with arguments of about 280
// bytes that differ from call to call. Building the run is not measured. Thresholds of the acting profiles are out of the
// way, since an agent does not go on after a halt.
func BenchmarkCall(b *testing.B) {
	for _, name := range profile.Names() {
		for _, n := range []int{100, 1000, 10_000} {
			b.Run(fmt.Sprintf("profile=%s/calls=%d", name, n), func(b *testing.B) {
				p := roomy(b, name)
				calls := benchCalls(n + max(50, n/10))
				b.ReportAllocs()
				var g *Guard
				next := len(calls)
				for b.Loop() {
					if next == len(calls) {
						b.StopTimer()
						g, next = New(p, Options{Now: benchClock}), n
						for k := range calls[:n] {
							callOnce(g, &calls[k])
						}
						b.StartTimer()
					}
					callOnce(g, &calls[next])
					next++
				}
			})
		}
	}
}

// BenchmarkGroup measures the same for goroutines that guard 1,000 runs through one Group.
func BenchmarkGroup(b *testing.B) {
	for _, goroutines := range []int{1, 16} {
		b.Run(fmt.Sprintf("goroutines=%d", goroutines), func(b *testing.B) {
			p := roomy(b, profile.Default)
			group := NewGroup(p, func(string) Options { return Options{Now: benchClock} }, 2000)
			calls := benchCalls(5000)
			var runs [1000]string
			for k := range runs {
				runs[k] = fmt.Sprint("run-", k)
			}
			var turn atomic.Int64
			b.SetParallelism(max(1, goroutines/runtime.GOMAXPROCS(0)))
			if goroutines == 1 {
				for b.Loop() {
					k := int(turn.Add(1))
					callOnce(group.Run(runs[k%len(runs)]), &calls[k/len(runs)%len(calls)])
				}
				return
			}
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					k := int(turn.Add(1))
					callOnce(group.Run(runs[k%len(runs)]), &calls[k/len(runs)%len(calls)])
				}
			})
		})
	}
}

// BenchmarkMemory reports what a live guard with 200 calls takes, over 10,000 of them.
func BenchmarkMemory(b *testing.B) {
	for _, name := range profile.Names() {
		if name == "looplens" {
			continue // it never acts, so nobody guards with it
		}
		b.Run("profile="+name, func(b *testing.B) {
			p := roomy(b, name)
			calls := benchCalls(200)
			for b.Loop() {
				const live = 10_000
				before := heap()
				guards := make([]*Guard, live)
				for i := range guards {
					guards[i] = New(p, Options{Now: benchClock})
					for k := range calls {
						callOnce(guards[i], &calls[k])
					}
				}
				b.ReportMetric(float64(heap()-before)/live/1024, "KiB/guard")
				runtime.KeepAlive(guards)
			}
		})
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func benchClock() time.Time { return time.Unix(1_767_323_045, 0) }

type benchCall struct {
	call    Call
	outcome Outcome
}

func callOnce(g *Guard, c *benchCall) {
	if d := g.Before(context.Background(), c.call); d.Stops() {
		panic("the call was stopped: " + d.Code)
	}
	g.After(context.Background(), c.call, c.outcome)
}

func benchCalls(n int) []benchCall {
	tools := []string{"read_file", "grep", "web_search", "edit_file", "run_tests"}
	calls := make([]benchCall, n)
	for i := range calls {
		args := fmt.Sprintf(`{"path":"internal/server/file_%d.go","query":"where the handler of request %d reads the body and closes it again","offset":%d,"limit":50,"include":["*.go","*.md"],"exclude":["vendor","testdata"],"context":{"before":3,"after":3},"note":"look at the reader of request %d and at what it does on errors"}`, i, i, i, i)
		result := fmt.Sprintf(`"internal/server/file_%d.go:%d: func (h *handler) read(w http.ResponseWriter, r *http.Request) {\n%d: defer r.Body.Close()\n"`, i, i, i+9)
		calls[i] = benchCall{Call{Tool: tools[i%len(tools)], Args: json.RawMessage(args)}, Outcome{Result: json.RawMessage(result)}}
	}
	return calls
}

// roomy returns a profile that lets the benchmarks' calls through.
func roomy(b *testing.B, name string) *profile.Profile {
	b.Helper()
	src := profile.Source{Name: name}
	if name == "loopguard" {
		for _, kind := range []string{"idempotent", "mutating"} {
			for _, level := range []string{"warn", "block", "halt"} {
				src.Sets = append(src.Sets, kind+"_"+level+"_threshold=1000000")
			}
		}
	}
	p, err := profile.Load(src)
	if err != nil {
		b.Fatal(err)
	}
	return p
}
