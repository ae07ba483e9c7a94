package otlp

import (
	"runtime"
	"testing"
)

// A trace says about how much memory it takes: not less than half, not more than twice.
func TestSizeIsAboutRight(t *testing.T) {
	heap := func() int {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	td := agentTraces(20_000, 0, true)
	spans, _, _ := Spans(td)
	before := heap()
	trace := NewTrace()
	trace.Add(spans)
	took := heap() - before
	contents := 0
	for i := range spans {
		contents += spans[i].bytes()
	}
	told := trace.Size() - contents // which td holds before and after
	if told < took/2 || told > 2*took {
		t.Errorf("it says %d bytes, but takes %d", told, took)
	}
	runtime.KeepAlive(trace)
	runtime.KeepAlive(td)
}
