package store

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
)

func TestAnEventComesBackAsItWas(t *testing.T) {
	latency := 1.5
	for _, e := range []*unloop.Event{
		{ID: "a", Type: unloop.ToolCallStarted},
		{ID: "a", Type: unloop.ToolCallCompleted, Output: json.RawMessage("null")},
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

func BenchmarkBody(b *testing.B) {
	e := &unloop.Event{
		ID: "evt_0123456789ab", RunID: "run_0123456789ab", Sequence: 77, Time: time.Now(), Type: unloop.ToolCallStarted, Agent: "coder",
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
