package store

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
)

func TestADecodedEventEqualsTheEncodedOne(t *testing.T) {
	latency := 1.5
	for _, e := range []*unloop.Event{
		{ID: "a", Type: unloop.ToolCallStarted},
		{ID: "a", Type: unloop.ToolCallCompleted, Output: json.RawMessage("null")},
		{ID: "a", Type: unloop.ToolCallCompleted, Latency: &latency, ParentEventID: "p"},
		{
			ID: "b", RunID: "r", Sequence: 1 << 60, Time: time.Date(2026, 1, 2, 3, 4, 5, 678901234, time.UTC), Type: "tool_call_failed",
			Agent: "x", Name: "y", Status: "s", Model: "m", Tool: "t", CallID: "c", Role: "user", Text: "a \"b\" <c>\u2028", Tokens: 7, Cost: 0.1,
			Latency: &latency, Input: json.RawMessage(`{ "a": [1,2,{"b":null}], "\u00e9\/": 1.0, "a": 2 }`), Output: json.RawMessage(`"x"`), Error: json.RawMessage(`"e"`),
			Metadata: json.RawMessage(`{}`), Hints: &unloop.ToolHints{ReadOnly: true}, Usage: &unloop.Usage{Input: 3, Output: 4},
			ParentEventID: "p", SpanID: "s", TraceID: "t",
		},
	} {
		body, err := Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(body)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(e, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", body, diff)
		}
	}
}

// FuzzEncode compares Encode with the library's encoding of the event.
func FuzzEncode(f *testing.F) {
	f.Add("evt", "tool_call_started", "a \"b\" <c>\u2028\xff", int64(7), 0.1, int64(1767323045678901234), 3600, true)
	f.Add("", "", "", int64(0), 0.0, int64(0), 0, false)
	for _, latency := range []float64{0, math.Copysign(0, -1), 500, 12.25, 1e-7, 1e21, math.MaxFloat64, math.Inf(1), math.NaN()} {
		f.Add("evt", "tool_call_completed", "", int64(0), latency, int64(0), 1, false)
	}
	f.Fuzz(func(t *testing.T, id, kind, text string, number int64, cost float64, at int64, zone int, more bool) {
		e := &unloop.Event{
			ID: id, RunID: text, Sequence: number, Type: unloop.EventType(kind), Agent: id, Name: text, Status: kind, Model: id, Tool: text,
			CallID: id, Role: kind, Text: text, Tokens: number, Cost: cost, ParentEventID: id, SpanID: kind, TraceID: text,
		}
		if at != 0 {
			e.Time = time.Unix(at/1e9*int64(max(1, zone%1000)), at%1e9).In(time.FixedZone("", zone%(20*3600)))
		}
		if zone == 1 { // the figures of most events
			e.Cost, e.Latency = 0, &cost
		}
		if more {
			e.Time = e.Time.UTC()
			e.Latency, e.Usage, e.Hints = &cost, &unloop.Usage{Input: number}, &unloop.ToolHints{ReadOnly: true}
		}
		want, wantErr := jsonv2.Marshal(e, lenient)
		got, err := Encode(e)
		if (err != nil) != (wantErr != nil) {
			t.Fatalf("error %v, want %v", err, wantErr)
		}
		var ours, theirs unloop.Event
		if err == nil && (jsonv2.Unmarshal(got, &ours, lenient) != nil || jsonv2.Unmarshal(want, &theirs, lenient) != nil) {
			t.Fatalf("%s or %s cannot be read", got, want)
		}
		if diff := cmp.Diff(theirs, ours); err == nil && diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if err == nil && len(got) != len(want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

func BenchmarkBody(b *testing.B) {
	e := &unloop.Event{
		ID: "evt_0123456789ab", RunID: "run_0123456789ab", Sequence: 77, Time: time.Now().UTC(), Type: unloop.ToolCallStarted, Agent: "coder",
		Tool: "grep", CallID: "call_7", Input: json.RawMessage(`{"path":"internal/server/file_12.go","query":"where the handler of request 12 reads the body and closes it","offset":12,"limit":50,"include":["*.go","*.md"]}`),
	}
	body, err := Encode(e)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Encode(e); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Decode(body); err != nil {
				b.Fatal(err)
			}
		}
	})
}
