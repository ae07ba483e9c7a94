package cluster

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/pipeline"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/internal/trace"
)

func sampleSubmission() *pipeline.Submission {
	at := time.Date(2026, 3, 4, 5, 6, 7, 8000, time.UTC)
	return &pipeline.Submission{
		Received: at,
		Runs: []pipeline.Info{
			{ID: "a", Name: "n", Project: "p", Metadata: json.RawMessage("{\"k\":\n{}}"), Hints: []string{"h"}, Ended: true},
			{ID: "b", Control: &store.Control{EventID: "o", Act: "halt", By: "me", At: at}},
		},
		Events: []*unloop.Event{
			{ID: "1", RunID: "a", Type: unloop.ToolCallStarted, Tool: "grep", CallID: "c", Input: json.RawMessage(`{"q":1.50,"q":2}`), Time: at, Sequence: 3},
			{ID: "2", RunID: "b", Type: unloop.ToolCallCompleted, Tool: "grep", Output: json.RawMessage(`"€\u0000"`), Cost: 0.25},
		},
		Services: map[string]string{"a": "shop"},
		Spans:    []trace.Span{{TraceID: "t", ID: "s", Run: "r", Start: 5, Facts: trace.Facts{Kind: trace.Tool, Tool: "x", Input: `{"b":1,"a":2}`}}},
		Deleted:  []string{"c"},
		Changes: []pipeline.Change{
			{Trace: "t", Run: "r", Linked: true, Service: "s", Event: &unloop.Event{ID: "e", RunID: "r", Type: unloop.RunStarted}},
			{Trace: "t", Run: "r", Removed: "f"},
		},
	}
}

func TestAMessageComesBackAsItWas(t *testing.T) {
	want := sampleSubmission()
	body, err := encode(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := decode(body)
	if err != nil {
		t.Fatal(err)
	}
	want.Runs[0].Metadata = json.RawMessage(`{"k":{}}`)
	for _, e := range want.Events {
		stored, err := store.Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		want.Bodies = append(want.Bodies, stored)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

func TestASubmissionIsSplitByRunsAndTraces(t *testing.T) {
	d := &pipeline.Submission{Deleted: []string{"gone"}, Spans: []trace.Span{{TraceID: "t", ID: "1"}, {TraceID: "t", ID: "2"}}}
	for k := range 200 {
		run := fmt.Sprint("run-", k%20)
		d.Events = append(d.Events, &unloop.Event{ID: fmt.Sprint(k), RunID: run})
	}
	seen := make(map[string][]string) // ids of events by run
	for partition, part := range split(d, 8) {
		for _, e := range part.Events {
			if PartitionOf(e.RunID, 8) != partition {
				t.Errorf("%s is in partition %d", e.RunID, partition)
			}
			seen[e.RunID] = append(seen[e.RunID], e.ID)
		}
		for _, s := range part.Spans {
			if PartitionOf(s.TraceID, 8) != partition {
				t.Errorf("trace %s is in partition %d", s.TraceID, partition)
			}
			seen[s.TraceID] = append(seen[s.TraceID], s.ID)
		}
	}
	want := map[string][]string{"t": {"1", "2"}}
	for _, e := range d.Events {
		want[e.RunID] = append(want[e.RunID], e.ID)
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Error(diff)
	}
}

func TestHalvesHaveEachRecordOnce(t *testing.T) {
	whole := sampleSubmission()
	parts := []*pipeline.Submission{whole}
	var small []*pipeline.Submission
	for len(parts) > 0 {
		if two := halves(parts[0]); two != nil {
			parts = append(parts[1:], two...)
			continue
		}
		small = append(small, parts[0])
		parts = parts[1:]
	}
	var events, spans, changes, runs, deleted int
	for _, d := range small {
		events += len(d.Events)
		spans += len(d.Spans)
		changes += len(d.Changes)
		runs += len(d.Runs)
		deleted += len(d.Deleted)
		if len(d.Events) > 1 || len(d.Spans) > 1 || len(d.Changes) > 1 {
			t.Errorf("too large: %+v", d)
		}
	}
	if got, want := []int{events, spans, changes, runs, deleted}, []int{2, 1, 2, 2, 1}; !cmp.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestAMessageWithoutAllOfItsEventsIsRefused(t *testing.T) {
	body, err := encode(sampleSubmission())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := decode(body[:bytes.LastIndexByte(body, '\n')]); err == nil {
		t.Errorf("got %d events and no error", len(got.Events))
	}
}

func FuzzDecode(f *testing.F) {
	body, err := encode(sampleSubmission())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(body)
	f.Add([]byte("{\"events\":1}\n{}"))
	f.Add([]byte(`{"changes":[{"event":null}],"runs":[{"metadata":null}]}`))
	f.Fuzz(func(t *testing.T, message []byte) {
		d, err := decode(message)
		if err != nil {
			return
		}
		again, err := encode(d)
		if err != nil {
			if strings.Contains(err.Error(), "year") { // a time that JSON cannot have
				return
			}
			t.Fatalf("%v: %q", err, message)
		}
		same, err := decode(again)
		if err != nil {
			t.Fatalf("%v: %q", err, again)
		}
		d.Bodies, same.Bodies = nil, nil // encoding orders their members
		if diff := cmp.Diff(d, same, cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	})
}

// BenchmarkMessage measures a message of eight events, which 64 partitions make of a request of 500 events.
func BenchmarkMessage(b *testing.B) {
	d := &pipeline.Submission{Received: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
	for k := range 8 {
		d.Events = append(d.Events, &unloop.Event{
			ID: fmt.Sprint("load0-17-", k), RunID: "load0-17", Sequence: int64(k), Time: d.Received, Type: unloop.ToolCallStarted, Agent: "coder", Tool: "grep",
			CallID: fmt.Sprint("c", k), Input: json.RawMessage(`{"path":"internal/cache/window_12.go","query":"where the ledger of parser reads the body and closes it","offset":12,"limit":50,"include":["*.go","*.md"]}`),
		})
	}
	message, err := encode(d)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("encode", func(b *testing.B) {
		for b.Loop() {
			if _, err := encode(d); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			if _, err := decode(message); err != nil {
				b.Fatal(err)
			}
		}
	})
}
