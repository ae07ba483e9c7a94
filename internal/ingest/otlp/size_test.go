package otlp

import (
	"runtime"
	"strconv"
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

// Of very many traces of one span each, what a trace takes itself counts most.
func TestSizeOfSmallTracesIsAboutRight(t *testing.T) {
	heap := func() int {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	const n = 2000
	traces := make([]*Trace, n)
	before, told := heap(), 0
	for k := range traces {
		traces[k] = NewTrace()
		traces[k].Add([]Span{{TraceID: strconv.Itoa(k), ID: "1"}})
		told += traces[k].Size()
	}
	if took := heap() - before; told < took*3/4 || told > 2*took {
		t.Errorf("each says %d bytes, but takes %d", told/n, took/n)
	}
	runtime.KeepAlive(traces)
}
