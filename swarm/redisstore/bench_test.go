package redisstore_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/redistest"
	"github.com/unloop-ai/unloop/swarm"
	"github.com/unloop-ai/unloop/swarm/redisstore"
)

// BenchmarkRecord records calls of 1,000 fingerprints in one process, with a Redis on the same machine.
func BenchmarkRecord(b *testing.B) {
	for _, c := range []struct{ goroutines, batch int }{{1, 1}, {64, 1}, {512, 1}, {64, 16}} {
		b.Run(fmt.Sprintf("goroutines=%d/batch=%d", c.goroutines, c.batch), func(b *testing.B) {
			server := redistest.Start(b)
			s := open(b, server.Client(b), redisstore.DefaultOptions())
			b.ResetTimer()
			var group sync.WaitGroup
			for g := range c.goroutines {
				group.Go(func() {
					worker := fmt.Sprintf("run-%04d-6f2d1c9e", g%16)
					calls := make([]swarm.Call, c.batch)
					for n := g; n < b.N; n += c.goroutines {
						for k := range calls {
							calls[k] = swarm.Call{Fingerprint: unloop.Hash((n*c.batch+k)%1000 + 1), Tool: "search", Worker: worker}
						}
						if _, err := s.Record(b.Context(), "goal", calls); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			group.Wait()
			b.ReportMetric(float64(b.N*c.batch)/b.Elapsed().Seconds(), "records/s")
		})
	}
}
