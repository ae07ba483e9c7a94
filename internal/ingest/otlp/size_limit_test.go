package otlp

import (
	"encoding/binary"
	"errors"
	"runtime"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

// within puts content into a field of length-delimited content.
func within(field uint64, content []byte) []byte {
	b := binary.AppendUvarint(nil, field<<3|2)
	b = binary.AppendUvarint(b, uint64(len(content)))
	return append(b, content...)
}

// inSpan puts content into a field of a span of a request.
func inSpan(field uint64, content []byte) []byte {
	return within(1, within(2, within(2, within(field, content))))
}

// nested is a value of so many arrays in one another.
func nested(depth int) []byte {
	var value []byte
	for range depth {
		value = within(5, within(1, value))
	}
	return value
}

func TestDeepNestingIsRejected(t *testing.T) {
	for depth, want := range map[int]error{0: nil, 1: nil, 47: nil, 48: ErrDeep, 1000: ErrDeep} {
		_, err := tracesShape.measure(inSpan(9, within(2, nested(depth))))
		if !errors.Is(err, want) {
			t.Errorf("an attribute of %d arrays: %v, want %v", depth, err, want)
		}
	}
	hidden := map[string][]byte{
		"a resource":      within(1, within(1, within(1, within(2, nested(99))))),
		"a scope":         within(1, within(2, within(1, within(3, within(2, nested(99)))))),
		"old scopes":      within(1, within(1000, within(2, within(9, within(2, nested(99)))))),
		"a span's event":  inSpan(11, within(3, within(2, nested(99)))),
		"a link":          inSpan(13, within(4, within(2, nested(99)))),
		"a list of pairs": inSpan(9, within(2, within(6, within(1, within(2, nested(99)))))),
		"a later value":   inSpan(9, append(within(2, nil), within(2, nested(99))...)),
	}
	for where, message := range hidden {
		if _, err := tracesShape.measure(message); !errors.Is(err, ErrDeep) {
			t.Errorf("arrays in %s: %v, want %v", where, err, ErrDeep)
		}
	}
	for where, message := range map[string][]byte{
		"a body":       within(1, within(2, within(2, within(5, nested(99))))),
		"an attribute": within(1, within(2, within(2, within(6, within(2, nested(99)))))),
	} {
		if _, err := logsShape.measure(message); !errors.Is(err, ErrDeep) {
			t.Errorf("arrays in %s of a record: %v, want %v", where, err, ErrDeep)
		}
	}
}

func TestInvalidMessagesAreRejected(t *testing.T) {
	whole := inSpan(5, []byte("name"))
	for name, message := range map[string][]byte{
		"cut in a field":          whole[:len(whole)-1],
		"cut in a tag":            {0x80},
		"a length beyond the end": {1<<3 | 2, 0x7f},
		"a length beyond all":     {1<<3 | 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},
		"a group":                 {1<<3 | 3, 1<<3 | 4},
		"half a number":           {1<<3 | 1, 0, 0, 0, 0},
		"a field number whose low bits are another's": append(binary.AppendUvarint(nil, 1<<35|1<<3|2), 0),
	} {
		if size, err := tracesShape.measure(message); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: size %d, error %v", name, size, err)
		}
	}
}

// TestTheEstimateIsAnUpperBound decodes what takes most memory for its length, and what exporters send.
func TestTheEstimateIsAnUpperBound(t *testing.T) {
	const n = 20_000
	times := func(content []byte) (b []byte) {
		for range n {
			b = append(b, content...)
		}
		return b
	}
	for name, message := range map[string][]byte{
		"resources":        times(within(1, nil)),
		"scopes":           within(1, times(within(2, nil))),
		"old scopes":       within(1, times(within(1000, nil))),
		"spans":            within(1, within(2, times(within(2, nil)))),
		"empty attributes": within(1, within(2, within(2, times(within(9, nil))))),
		"values":           inSpan(9, within(2, within(5, times(within(1, nil))))),
		"numbers":          inSpan(9, within(2, within(5, times(within(1, []byte{3 << 3, 1}))))),
		"pairs":            inSpan(9, within(2, within(6, times(within(1, nil))))),
		"events":           within(1, within(2, within(2, times(within(11, nil))))),
		"links":            within(1, within(2, within(2, times(within(13, nil))))),
		"entities":         within(1, within(1, times(within(3, nil)))),
		"entities' keys":   within(1, within(1, within(3, times(within(3, nil))))),
		"agents' spans":    agentSpans(t, 1000),
	} {
		size, err := tracesShape.measure(message)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		request := ptraceotlp.NewExportRequest()
		took := kept(func() {
			if err := request.UnmarshalProto(message); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		})
		runtime.KeepAlive(request)
		if took > size+4096 {
			t.Errorf("%s: %d bytes take %d, estimated %d", name, len(message), took, size)
		}
		if size > 64<<10 && size > 8*took {
			t.Errorf("%s: %d bytes take %d, estimated %d, want a closer estimate", name, len(message), took, size)
		}
	}
}

// kept returns the bytes that are in use after f and were not before.
func kept(f func()) int64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.GC()
	runtime.ReadMemStats(&after)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc)
}

// agentSpans is a request as an exporter of agents sends it.
func agentSpans(tb testing.TB, n int) []byte {
	tb.Helper()
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "agent")
	spans := rs.ScopeSpans().AppendEmpty().Spans()
	for k := range n {
		s := spans.AppendEmpty()
		s.SetTraceID(pcommon.TraceID{1})
		s.SetSpanID(pcommon.SpanID{byte(k), byte(k >> 8), 1})
		s.SetName("execute_tool grep")
		for _, key := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m"} {
			s.Attributes().PutStr("gen_ai.tool."+key, "where the handler of a request reads the body and closes it, whatever comes after it")
		}
		s.Attributes().PutInt("gen_ai.usage.input_tokens", int64(k))
	}
	b, err := ptraceotlp.NewExportRequestFromTraces(td).MarshalProto()
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// FuzzMeasure looks for what the decoder takes and the estimate does not know. Groups, cut field numbers and lengths that only
// the decoder accepts are refused, so what measure passes is the smaller set.
func FuzzMeasure(f *testing.F) {
	f.Add(agentSpans(f, 2))
	f.Add(inSpan(9, within(2, nested(3))))
	f.Add(within(1, within(1000, within(2, within(11, within(3, within(1, []byte("key"))))))))
	logs := plog.NewLogs()
	record := logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	record.Body().SetEmptyMap().PutEmptySlice("list").AppendEmpty().SetInt(1)
	b, err := plogotlp.NewExportRequestFromLogs(logs).MarshalProto()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, message []byte) {
		_, tracesErr := tracesShape.measure(message)
		_, logsErr := logsShape.measure(message)
		if tracesErr == nil {
			r := ptraceotlp.NewExportRequest()
			if r.UnmarshalProto(message) == nil {
				resent(t, &tracesShape, r.MarshalProto)
			}
		}
		if logsErr == nil {
			r := plogotlp.NewExportRequest()
			if r.UnmarshalProto(message) == nil {
				resent(t, &logsShape, r.MarshalProto)
			}
		}
	})
}

// again measures what was decoded and is encoded once more: it is well formed, and no deeper than it was.
func resent(t *testing.T, s *shape, encode func() ([]byte, error)) {
	b, err := encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.measure(b); err != nil {
		t.Fatalf("what was decoded is refused: %v", err)
	}
}

func BenchmarkMeasure(b *testing.B) {
	message := agentSpans(b, 512)
	b.SetBytes(int64(len(message)))
	for b.Loop() {
		if _, err := tracesShape.measure(message); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/512, "ns/span")
}
