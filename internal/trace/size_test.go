package trace

import (
	"fmt"
	"runtime"
	"strconv"
	"testing"
)

// A trace says about how much memory it takes: not less than half, not more than twice.
func TestSizeEstimatesTheMemory(t *testing.T) {
	heap := func() int {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	spans := agentSpans(20_000)
	before := heap()
	trace := New()
	trace.Add(spans)
	took := heap() - before
	contents := 0
	for i := range spans {
		contents += spans[i].bytes()
	}
	told := trace.Size() - contents // which spans holds before and after
	if told < took/2 || told > 2*took {
		t.Errorf("Size returns %d bytes, the memory is %d", told, took)
	}
	runtime.KeepAlive(trace)
	runtime.KeepAlive(spans)
}

// Of very many traces of one span each, what a trace takes itself counts most.
func TestSizeEstimatesTheMemoryOfSmallTraces(t *testing.T) {
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
		traces[k] = New()
		traces[k].Add([]Span{{TraceID: strconv.Itoa(k), ID: "1"}})
		told += traces[k].Size()
	}
	if took := heap() - before; told < took*3/4 || told > 2*took {
		t.Errorf("Size returns %d bytes for each, the memory is %d", told/n, took/n)
	}
	runtime.KeepAlive(traces)
}

// agentSpans returns spans of tool calls, one in ten of them an agent's that is above the next nine.
func agentSpans(n int) []Span {
	spans := make([]Span, n)
	for i := range spans {
		s := Span{
			TraceID: "t", ID: fmt.Sprintf("%016x", i+1), ParentID: fmt.Sprintf("%016x", i/10*10+1), Title: "execute_tool search", Service: "desk",
			Start: int64(i+1) * 1000, End: int64(i+1)*1000 + 900,
			Facts: Facts{Kind: Tool, Tool: "search", CallID: fmt.Sprint("call-", i), Input: fmt.Sprintf(`{"query":"loops","page":%d}`, i), Output: `{"found":[]}`},
		}
		if i%10 == 0 {
			s.ParentID, s.Facts = "", Facts{Kind: Agent, Agent: "desk"}
		}
		if i%10 == 0 && i > 0 {
			s.ParentID = fmt.Sprintf("%016x", 1)
		}
		spans[i] = s
	}
	return spans
}
