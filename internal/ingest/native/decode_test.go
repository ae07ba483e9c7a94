package native

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/ingest/ingesttest"
)

func TestGolden(t *testing.T) { ingesttest.Golden(t, Format(), "*.jsonl") }

func TestBadInputNamesLineAndField(t *testing.T) {
	good := `{"event_id":"a","run_id":"r","type":"run_started"}` + "\n"
	for _, tc := range []struct{ name, line, want string }{
		{"no JSON", `{"event_id": nope}`, "input:2: event_id: not valid JSON at byte 14"},
		{"no object", `["run_started"]`, "input:2: got a JSON array, want an object"},
		{"two objects", `{"type":"a"} {"type":"b"}`, "input:2: there is data after the JSON object"},
		{"a type that is no text", `{"run_id":"r","type":7}`, "input:2: type: a JSON number does not fit here, want a string"},
		{"no type", `{"run_id":"r"}`, "input:2: type: an event needs a type"},
		{"a cost that is a text", `{"type":"a","cost":"1"}`, "input:2: cost: a JSON string does not fit here, want a finite number"},
		{"half a token", `{"type":"a","tokens":1.5}`, "input:2: tokens: a JSON number does not fit here, want a whole number"},
		{"an invalid time", `{"type":"a","timestamp":"soon"}`, "input:2: timestamp: invalid time: want RFC 3339, or a number since 1970"},
		{"a time that is an object", `{"type":"a","timestamp":{}}`, "input:2: timestamp: a JSON object does not fit here, want a time"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			events, _, err := ingesttest.Decode(Format(), []byte(good+tc.line+"\n"+good))
			var bad *ingest.BadInput
			if !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("error %v, want %s", err, tc.want)
			}
			if len(events) != 1 {
				t.Errorf("%d events before the bad line, want 1", len(events))
			}
		})
	}
}

func TestACutLastLineIsAWarning(t *testing.T) {
	data := `{"event_id":"a","run_id":"r","type":"run_started"}` + "\n" + `{"event_id":"b","run_id":"r","type":"run_com`
	events, warnings, err := ingesttest.Decode(Format(), []byte(data))
	if err != nil || len(events) != 1 || len(warnings) != 1 {
		t.Fatalf("%d events, warnings %q, error %v", len(events), warnings, err)
	}
	if want := "input:2: "; !strings.HasPrefix(warnings[0], want) {
		t.Errorf("warning %q, want one for %s", warnings[0], want)
	}
}

func TestBadUTF8IsReplaced(t *testing.T) {
	events, _, err := ingesttest.Decode(Format(), []byte("{\"run_id\":\"\xff1\",\"type\":\"run_started\"}\n"))
	if err != nil || len(events) != 1 || events[0].RunID != "\ufffd1" {
		t.Errorf("events %v, error %v", events, err)
	}
}

func FuzzDecode(f *testing.F) { ingesttest.Fuzz(f, Format(), "*.jsonl") }

func BenchmarkDecode(b *testing.B) {
	var data bytes.Buffer
	for i := range 5000 {
		fmt.Fprintf(&data, `{"event_id":"e%d","run_id":"r%d","sequence":%d,"timestamp":"2026-01-02T03:04:05Z","type":"tool_call_started",`+
			`"agent":"writer","tool":"search","span_id":"s%d","input":{"query":"where is the grave of number %d","limit":10,"lang":"en",`+
			`"filters":{"kind":"article","since":1990},"fields":["title","abstract","year"]},"metadata":{"attempt":1}}`+"\n", i, i%7, i, i, i)
	}
	b.SetBytes(int64(data.Len()))
	b.ReportAllocs()
	for b.Loop() {
		in := ingest.NewInput("input", "run", bytes.NewReader(data.Bytes()))
		if err := Format().Decode(in, func(*unloop.Event) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
