package otlp

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/trace"
)

// fixtures returns the lines and documents of testdata.
func fixtures(f *testing.F) [][]byte {
	f.Helper()
	names, err := filepath.Glob("testdata/*.json*")
	if err != nil || len(names) == 0 {
		f.Fatalf("no fixtures (%v)", err)
	}
	var all [][]byte
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		if filepath.Ext(name) == ".jsonl" {
			all = append(all, bytes.Split(bytes.TrimSpace(data), []byte("\n"))...)
		} else {
			all = append(all, data)
		}
	}
	return all
}

// FuzzTraces reads hostile protobuf: nothing panics, spans survive being written as JSON, and what stands does not depend
// on the order of the spans.
func FuzzTraces(f *testing.F) {
	var reader ptrace.JSONUnmarshaler
	var writer ptrace.ProtoMarshaler
	for _, data := range fixtures(f) {
		td, err := reader.UnmarshalTraces(data)
		if err != nil {
			f.Fatal(err)
		}
		if data, err = writer.MarshalTraces(td); err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var reader ptrace.ProtoUnmarshaler
		td, err := reader.UnmarshalTraces(data)
		if err != nil {
			return
		}
		spans, rejected, _ := allSpans(td)
		if len(spans)+rejected != td.SpanCount() {
			t.Fatalf("%d spans and %d refused of %d", len(spans), rejected, td.SpanCount())
		}
		traces, singly := make(map[string]*trace.Trace), make(map[string]stands)
		at := make(map[string][]trace.Span)
		for i := len(spans) - 1; i >= 0; i-- {
			s := again(t, &spans[i])
			if traces[s.TraceID] == nil {
				traces[s.TraceID], singly[s.TraceID] = trace.New(), make(stands)
			}
			singly[s.TraceID].apply(traces[s.TraceID].Add([]trace.Span{s}))
			at[s.TraceID] = append(at[s.TraceID], spans[i])
		}
		for id, spans := range at {
			if diff := cmp.Diff(atOnce(spans), singly[id]); diff != "" {
				t.Fatalf("-at once +singly:\n%s", diff)
			}
		}
	})
}

// stands is the events that stand after changes, by run and id.
type stands map[[2]string]*unloop.Event

func (s stands) apply(changes []trace.Change) {
	for _, c := range changes {
		at := [2]string{c.Event.RunID, c.Event.ID}
		if delete(s, at); !c.Removed {
			s[at] = c.Event
		}
	}
}

func atOnce(spans []trace.Span) stands {
	s := make(stands)
	s.apply(trace.New().Add(spans))
	return s
}

// again is the span once written and read again.
func again(t *testing.T, s *trace.Span) trace.Span {
	t.Helper()
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var read trace.Span
	if err := json.Unmarshal(data, &read); err != nil {
		t.Fatal(err)
	}
	if *s != read {
		t.Fatalf("-written +read:\n%s", cmp.Diff(*s, read))
	}
	return read
}

// FuzzLogs reads hostile protobuf: nothing panics, and a request that is sent again gives the same events, each of which can
// be written.
func FuzzLogs(f *testing.F) {
	var reader plog.JSONUnmarshaler
	var writer plog.ProtoMarshaler
	for _, data := range fixtures(f) {
		ld, err := reader.UnmarshalLogs(data)
		if err != nil {
			f.Fatal(err)
		}
		if data, err = writer.MarshalLogs(ld); err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var reader plog.ProtoUnmarshaler
		ld, err := reader.UnmarshalLogs(data)
		if err != nil {
			return
		}
		events, _, rejected, _ := Logs(ld)
		if len(events) > 2*(ld.LogRecordCount()-rejected) {
			t.Fatalf("%d events of %d records", len(events), ld.LogRecordCount()-rejected)
		}
		for _, e := range events {
			if _, err := json.Marshal(e); err != nil || e.ID == "" || e.RunID == "" || trace.Tie(e) < 0 {
				t.Fatalf("%v: %+v", err, e)
			}
		}
		if second, _, _, _ := Logs(ld); !cmp.Equal(events, second) {
			t.Fatal(cmp.Diff(events, second))
		}
	})
}
