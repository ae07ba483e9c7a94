package sqlstore_test

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
)

// load makes batches as a busy pipeline writes them: events of 500 bytes and the rows of their runs.
type load struct {
	arrival int64
	runs    []store.Run
	body    []byte
	source  *rand.Rand
}

func newLoad(runs int) *load {
	l := &load{source: rand.New(rand.NewPCG(1, 2)), body: make([]byte, 500)}
	for k := range l.body {
		l.body[k] = byte(' ' + k%90)
	}
	tool, agent := "search_files", "coder"
	for k := range runs {
		l.runs = append(l.runs, store.Run{
			Number: int64(k + 1), ID: fmt.Sprintf("run_%016x", l.source.Uint64()), Name: "refactor the parser", Project: "compiler",
			Status: store.Running, Profile: "default", Started: time.Now(), Updated: time.Now(), Tools: []string{"edit", "read_file", "search_files"},
			Metadata: []byte(`{"model":"m-1","user":"x"}`), Health: policy.Health{Score: 80, Status: policy.GradeHealthy},
			Metrics: store.Metrics{BusiestTool: &tool, BusiestAgent: &agent},
		})
	}
	return l
}

// batch returns the next events, dealt out to so many runs.
func (l *load) batch(events, runs int) *store.Batch {
	b := &store.Batch{}
	now := time.Now()
	first := l.source.IntN(len(l.runs))
	for k := range runs {
		r := &l.runs[(first+k)%len(l.runs)]
		for range events / runs {
			l.arrival++
			r.Metrics.Events++
			r.Updated = now
			b.Events = append(b.Events, store.Event{
				Arrival: l.arrival, Run: r.Number, ID: fmt.Sprintf("evt_%016x", l.source.Uint64()), Received: now,
				Position: store.Position{Sequence: int64(r.Metrics.Events), Time: now.UnixNano(), Tie: l.arrival}, Body: l.body,
			})
		}
		b.Runs = append(b.Runs, *r)
	}
	return b
}

// BenchmarkCommit measures durable commits. What other programs do on the machine shows in events/s, but hardly in
// events/cpu-s, which counts this process only.
func BenchmarkCommit(b *testing.B) {
	for name, database := range databases {
		for _, size := range []struct{ events, runs int }{{4000, 1000}, {4000, 40}, {500, 100}, {1, 1}} {
			b.Run(fmt.Sprintf("%s/events=%d/runs=%d", name, size.events, size.runs), func(b *testing.B) {
				s := open(b, database(b))
				l := newLoad(1000)
				var used time.Duration
				for b.Loop() {
					b.StopTimer()
					batch := l.batch(size.events, size.runs)
					b.StartTimer()
					before := processor(b)
					if _, err := s.Commit(b.Context(), batch); err != nil {
						b.Fatal(err)
					}
					used += processor(b) - before
				}
				events := float64(size.events) * float64(b.N)
				b.ReportMetric(events/used.Seconds(), "events/cpu-s")
				b.ReportMetric(events/b.Elapsed().Seconds(), "events/s")
			})
		}
	}
}

// processor returns for how long processors have worked for this process.
func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
