package swarm_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/swarm"
)

// BenchmarkRecord records one call at a time. A call is ns/op, however many goroutines share the work.
func BenchmarkRecord(b *testing.B) {
	const many = 1000
	for _, c := range []struct {
		says       string
		goroutines int
		call       func(g, n int) (name string, call swarm.Call)
	}{
		{"one worker", 1, func(_, n int) (string, swarm.Call) {
			return "goal", swarm.Call{Fingerprint: unloop.Hash(n%many + 1), Tool: "search", Worker: "worker"}
		}},
		{"every call is new, and old ones are dropped", 1, func(_, n int) (string, swarm.Call) {
			return "goal", swarm.Call{Fingerprint: unloop.Hash(n + 1), Tool: "search", Worker: "worker"}
		}},
		{"every swarm is new, and old ones are dropped", 1, func(_, n int) (string, swarm.Call) {
			return names[n%len(names)], swarm.Call{Fingerprint: 7, Tool: "search", Worker: "worker"}
		}},
		{"16 workers of one swarm", 16, func(g, n int) (string, swarm.Call) {
			return "goal", swarm.Call{Fingerprint: unloop.Hash(n%many + 1), Tool: "search", Worker: names[g]}
		}},
		{"16 workers make one call", 16, func(g, _ int) (string, swarm.Call) {
			return "goal", swarm.Call{Fingerprint: 7, Tool: "search", Worker: names[g]}
		}},
		{"16 workers of 16 swarms", 16, func(g, n int) (string, swarm.Call) {
			return names[g], swarm.Call{Fingerprint: unloop.Hash(n%many + 1), Tool: "search", Worker: "worker"}
		}},
	} {
		b.Run(c.says, func(b *testing.B) {
			m := memory(b, swarm.DefaultBounds())
			for n := range 5000 {
				record(b, m, "goal", unloop.Hash(n+1))
			}
			for k := range names {
				record(b, m, names[len(names)-1-k], 7)
			}
			b.ReportAllocs()
			b.ResetTimer()
			var group sync.WaitGroup
			for g := range c.goroutines {
				group.Go(func() {
					for n := g; n < b.N; n += c.goroutines {
						name, call := c.call(g, n)
						if _, err := m.Record(b.Context(), name, []swarm.Call{call}); err != nil {
							b.Error(err)
						}
					}
				})
			}
			group.Wait()
		})
	}
}

func record(b *testing.B, m *swarm.Memory, name string, fingerprint unloop.Hash) {
	b.Helper()
	if _, err := m.Record(b.Context(), name, []swarm.Call{{Fingerprint: fingerprint, Tool: "search", Worker: "worker"}}); err != nil {
		b.Fatal(err)
	}
}

var names = func() (names [1000]string) {
	for k := range names {
		names[k] = fmt.Sprintf("run-%04d-6f2d1c9e", k)
	}
	return names
}()
