package profile

import (
	"fmt"
	"testing"
)

// BenchmarkSnapshot measures writing and reading the state of a session after the given number of steps, all novel.
func BenchmarkSnapshot(b *testing.B) {
	p, err := New(Default)
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{100, 1000, 10_000} {
		w := p.NewSession("run")
		for _, e := range benchRun(n, false) {
			w.Add(&e)
		}
		data, err := w.Snapshot()
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("write/steps=%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := w.Snapshot(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(data)), "bytes")
		})
		b.Run(fmt.Sprintf("read/steps=%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := p.Restore(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
