package api

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/store"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// TestAnEventIsAnsweredInItsOwnMemory holds the cost of an answer to a single event: its only allocation is the text of its time.
func TestAnEventIsAnsweredInItsOwnMemory(t *testing.T) {
	e := &unloop.Event{ID: "a", RunID: "r", Time: noon, Type: "tool_call_started", Agent: "x", Tool: "t", CallID: "c", Sequence: 7}
	var told Event
	if n := testing.AllocsPerRun(100, func() { told = EventOf(e, noon) }); n > 1 {
		t.Errorf("%v allocations, want at most 1", n)
	}
	if told.Agent != &e.Agent || told.Name != nil {
		t.Errorf("agent %v, name %v; want the agent of the event, and none", told.Agent, told.Name)
	}
}

func TestARecordedEventHasTheFormOfItsSchema(t *testing.T) {
	ms := 1.5
	for _, e := range []*unloop.Event{
		{ID: "a", RunID: "r", Type: "x"},
		{ID: "a", RunID: "r", Type: "x", Output: json.RawMessage("null")},
		{
			ID: "b \"\u2028\x01", RunID: "r", Sequence: -1 << 62, Time: time.Date(2026, 1, 2, 3, 4, 5, 678901234, time.FixedZone("", 3600)),
			Type: "tool_call_failed", Agent: "x", Name: "y", Status: "s", Model: "m", Tool: "t", CallID: "c", Role: "user", Text: "a \"b\" <c>",
			Tokens: 7, Cost: 0.1, Latency: &ms, Input: json.RawMessage(`{"a":[1,2,{"b":null}]}`), Output: json.RawMessage(`"x"`),
			Error: json.RawMessage(`"e"`), Metadata: json.RawMessage(`{}`), Hints: &unloop.ToolHints{ReadOnly: true},
			Usage: &unloop.Usage{Input: 3, CacheWrite: 2}, ParentEventID: "p", SpanID: "s", TraceID: "t",
		},
	} {
		body, err := store.Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		want := string(Encode(EventOf(e, noon)))
		if got := string(AppendEvent(nil, "r", &store.Event{ID: e.ID, Body: body, Received: noon})); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
		analysis := store.Analysis{Call: 1, Result: 1 << 63, Novelty: store.NotNovel, Failing: true, Repeats: 3, RepeatsEvent: "a\"\x01\xff"}
		told := EventOf(e, noon)
		novel := false
		told.Analysis = &Analysis{Call: "AAAAAAAAAAE", Result: "gAAAAAAAAAA", Novel: &novel, Failing: true, Repeats: 3, RepeatsEvent: "a\"\x01\ufffd"}
		want = string(Encode(told))
		if got := string(AppendEvent(nil, "r", &store.Event{ID: e.ID, Body: body, Received: noon, Analysis: analysis.JSON()})); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
		if diff := cmp.Diff(told.Analysis, analysisOf(analysis.JSON())); diff != "" {
			t.Errorf("decoded (-want +got):\n%s", diff)
		}
	}
	broken := string(AppendEvent(nil, "r", &store.Event{ID: "a", Body: []byte("?"), Received: noon}))
	var e Event
	if err := json.Unmarshal([]byte(broken), &e); err != nil || e.ID != "a" {
		t.Errorf("%v in %s", err, broken)
	}
}

func TestTheMembersOfAnEventAreThoseOfItsSchema(t *testing.T) {
	var want []string
	for f := range reflect.TypeFor[Event]().Fields() {
		if f.Name != "Notices" && f.Name != "Warnings" { // which only the answer to a sender has
			want = append(want, f.Tag.Get("json"))
		}
	}
	if diff := cmp.Diff(want, members[:]); diff != "" {
		t.Error(diff)
	}
	ours := map[string]bool{"project": true}
	for f := range reflect.TypeFor[unloop.Event]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		ours[name] = true
	}
	for f := range reflect.TypeFor[NewEvent]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !ours[name] {
			t.Errorf("%s is described and not read", name)
		}
		delete(ours, name)
	}
	delete(ours, "-")
	if len(ours) > 0 {
		t.Errorf("%v are read and not described", ours)
	}
}

func TestEncodedValuesHaveNoLineBreaks(t *testing.T) { // server-sent events end at a line end
	text := string(Encode(RunSummary{Run: Run{Metadata: json.RawMessage("{\n\"a\":\r\n\"b\\n\"}")}}))
	if strings.ContainsAny(text, "\r\n") || !strings.Contains(text, `"metadata":{"a":"b\n"}`) {
		t.Errorf("%s", text)
	}
}
