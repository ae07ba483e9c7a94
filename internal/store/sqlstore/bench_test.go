package sqlstore_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/internal/store/sqlstore"
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
			Metadata: []byte(`{"model":"m-1","user":"x"}`), Health: policy.Health{Score: 80, Status: policy.Healthy},
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

// BenchmarkCommit measures durable commits in a file.
func BenchmarkCommit(b *testing.B) {
	for _, size := range []struct{ events, runs, live int }{{4000, 1000, 1000}, {4000, 40, 1000}, {1, 1, 1000}} {
		b.Run(fmt.Sprintf("events=%d/runs=%d", size.events, size.runs), func(b *testing.B) {
			s, err := sqlstore.Open(b.Context(), filepath.Join(b.TempDir(), "unloop.db"), sqlstore.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			l := newLoad(size.live)
			var used time.Duration
			for b.Loop() {
				b.StopTimer()
				batch := l.batch(size.events, size.runs)
				b.StartTimer()
				before := cpu()
				if _, err := s.Commit(b.Context(), batch); err != nil {
					b.Fatal(err)
				}
				used += cpu() - before
			}
			b.ReportMetric(float64(size.events)*float64(b.N)/used.Seconds(), "events/cpu-s")
			b.ReportMetric(float64(size.events)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
