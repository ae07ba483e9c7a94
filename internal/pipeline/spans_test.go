package pipeline

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/client_golang/prometheus"
	"pgregory.net/rapid"

	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/internal/trace"
)

// handFed is a pipeline whose recorder the test is, so that it says which deliveries are recorded together, and what happens
// between them.
type handFed struct {
	t    testing.TB
	m    *memory
	sink *recorder
	*Pipeline

	partition *Partition
	given     []*queued
	end       func() // stops the writer
}

func newHandFed(t testing.TB) *handFed {
	h := &handFed{t: t, m: newMemory(), sink: &recorder{}, end: func() {}}
	h.restart()
	t.Cleanup(func() { h.end() })
	return h
}

// restart is what a killed server does that is started again.
func (h *handFed) restart() {
	h.t.Helper()
	h.end()
	p, err := New(context.Background(), Options{
		Profile: defaultProfile(h.t), Store: h.m, Metrics: NewMetrics(prometheus.NewRegistry()), Sinks: []Sink{h.sink}, Partition: h.partition,
	})
	if err != nil {
		h.t.Fatal(err)
	}
	h.Pipeline, h.end = p, p.startWriter(context.Background())
}

// idle puts everything out of memory, as when nothing comes for long.
func (h *handFed) idle() {
	ctx := context.Background()
	h.evict(ctx, func(*run, held) bool { return true })
	h.traces.makeRoom(0, time.Now().Add(time.Hour))
	if n := len(h.live) + len(h.traces.live); n > 0 {
		h.t.Errorf("%d runs and traces are still in memory", n)
	}
}

// together records deliveries in one commit.
func (h *handFed) together(deliveries ...*Submission) {
	h.t.Helper()
	h.give(deliveries...)
	h.wait()
}

// give gives deliveries to the writer in one commit, unless they delete or empty a run. Then they are recorded at once.
func (h *handFed) give(deliveries ...*Submission) {
	h.t.Helper()
	var group []*queued
	for _, d := range deliveries {
		d.Spans = slices.Clone(d.Spans)
		w, err := h.prepare(d)
		if err != nil {
			h.t.Fatal(err)
		}
		group = append(group, w)
	}
	h.given = append(h.given, group...)
	h.recordGroup(context.Background(), group)
}

// wait waits until all deliveries are recorded.
func (h *handFed) wait() {
	h.t.Helper()
	h.drain(context.Background())
	for _, w := range h.given {
		if w.err != nil {
			h.t.Fatal(w.err)
		}
	}
	h.given = nil
}

func (h *handFed) spans(spans ...trace.Span) { h.t.Helper(); h.together(&Submission{Spans: spans}) }

func (h *handFed) forget(runs ...string) { h.t.Helper(); h.together(&Submission{Deleted: runs}) }

// verdicts returns all that the store has of all runs, by their ids.
func (h *handFed) verdicts() map[string]verdict {
	h.t.Helper()
	h.flush(context.Background())
	all := make(map[string]verdict)
	for _, r := range h.m.runs {
		all[r.ID] = verdictOf(h.t, h.m, r.ID)
	}
	return all
}

func (h *handFed) calls(run string) int {
	h.t.Helper()
	return h.verdicts()[run].Run.Metrics.ToolCalls
}

// The spans of one call as an agent and an MCP server tell it, under a root that names the conversation.
const conversed = "0af7651916cd43dd8448eb211c80319c"

func conversation() (tool, root, mcp trace.Span) {
	at := begin.UnixNano()
	second := int64(time.Second)
	tool = trace.Span{
		TraceID: conversed, ID: "2222222222222222", ParentID: "1111111111111111", Start: at + second, End: at + 4*second,
		Facts: trace.Facts{Kind: trace.Tool, Tool: "search", CallID: "c", Input: `{"q":1}`, Output: `[]`},
	}
	root = trace.Span{
		TraceID: conversed, ID: "1111111111111111", Title: "invoke_agent desk", Run: "talk", Start: at, End: at + 9*second,
		Facts: trace.Facts{Kind: trace.Agent, Agent: "desk"},
	}
	mcp = trace.Span{
		TraceID: conversed, ID: "3333333333333333", ParentID: "2222222222222222", Start: at + 2*second, End: at + 3*second,
		Facts: trace.Facts{Kind: trace.Tool, MCP: true, Tool: "search"},
	}
	return tool, root, mcp
}

func TestACallCountsOnceAlthoughItsConversationIsNamedLate(t *testing.T) {
	for name, between := range map[string]func(*handFed){"a restart": (*handFed).restart, "idling": (*handFed).idle} {
		t.Run(name, func(t *testing.T) {
			tool, root, mcp := conversation()
			h := newHandFed(t)
			h.spans(tool)
			h.spans(root)
			between(h)
			h.spans(mcp)
			if n := h.calls("talk"); n != 1 {
				t.Errorf("%d calls, want 1", n)
			}
			if len(h.m.runs) != 1 {
				t.Errorf("%d runs, want the one", len(h.m.runs))
			}
		})
	}
}

func TestSpansThatAreSentAgainAreNotWrittenAgain(t *testing.T) {
	for name, between := range map[string]func(*handFed){"at once": func(*handFed) {}, "after a restart": (*handFed).restart, "after idling": (*handFed).idle} {
		t.Run(name, func(t *testing.T) {
			tool, root, mcp := conversation()
			h := newHandFed(t)
			h.spans(root, tool, mcp)
			before := maps.Clone(h.m.spans[conversed])
			between(h)
			longer := tool
			longer.End++
			h.spans(root, longer, mcp)
			for id, span := range h.m.spans[conversed] {
				if written := span.Received != before[id].Received; written != (id == tool.ID) {
					t.Errorf("span %s was written again: %v", id, written)
				}
			}
			if len(before) != 3 || len(h.m.spans[conversed]) != 3 {
				t.Errorf("%d spans are stored, then %d, want 3", len(before), len(h.m.spans[conversed]))
			}
		})
	}
}

func TestConcurrentRequestsOfATraceLeaveNoEmptyRun(t *testing.T) {
	tool, root, _ := conversation()
	h := newHandFed(t)
	tool.Service = "desk"
	h.together(&Submission{Spans: []trace.Span{tool}}, &Submission{Spans: []trace.Span{root}})
	if _, ok := h.verdicts()[conversed]; ok || len(h.m.runs) != 1 || len(h.live) != 1 {
		t.Errorf("%d runs are stored, %d in memory, want the one", len(h.m.runs), len(h.live))
	}
	for _, u := range h.sink.updates {
		if u.Run.ID == conversed {
			t.Errorf("the sinks received a run that does not exist: %+v", u)
		}
	}
	h.forget("talk")
	if len(h.m.spans) > 0 || len(h.m.traces[conversed]) > 0 {
		t.Errorf("of the deleted run there is left %v %v", h.m.spans, h.m.traces)
	}
}

func TestAnAnnouncedRunStaysAfterItsEventsMoved(t *testing.T) {
	tool, root, _ := conversation()
	h := newHandFed(t)
	h.together(&Submission{Runs: []Info{{ID: conversed, Name: "mine"}}})
	before := h.verdicts()[conversed].Run
	h.spans(tool)
	h.spans(root)
	after := h.verdicts()[conversed].Run
	if after.Name != "mine" || after.Updated.Before(before.Updated) || after.Started.IsZero() || after.Metrics.Events != 0 {
		t.Errorf("the run is %+v", after)
	}
}

func TestDeletingARunKeepsTheSpansOfOtherRuns(t *testing.T) {
	for name, between := range map[string]func(*handFed){"at once": func(*handFed) {}, "after a restart": (*handFed).restart} {
		t.Run(name, func(t *testing.T) {
			tool, root, mcp := conversation()
			other := tool
			other.ID, other.CallID, other.Run = "4444444444444444", "d", "other talk"
			below := mcp
			below.ID, below.ParentID = "5555555555555555", other.ID
			h := newHandFed(t)
			h.spans(root, tool, other)
			want := h.verdicts()["other talk"]
			h.forget("talk")
			between(h)
			h.spans(mcp, below) // which tell of calls that are known, deleted or not
			if diff := cmp.Diff(map[string]verdict{"other talk": want}, h.verdicts(), regardlessOfArrival); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for id, s := range h.m.spans[conversed] {
				if id == tool.ID && cmp.Diff(tool.Input, spanIn(t, s.Body).Input) == "" {
					t.Errorf("the content of the deleted run is still there: %s", s.Body)
				}
			}
			h.forget("other talk")
			if len(h.m.spans) > 0 || len(h.m.traces[conversed]) > 0 {
				t.Errorf("of the deleted runs there is left %v %v", h.m.spans, h.m.traces)
			}
			h.spans(tool)
			if n := h.calls(conversed); n != 1 {
				t.Errorf("events after the deletion give %d calls, want 1", n)
			}
		})
	}
}

// anyTraces draws spans of one or two traces: calls told once, twice or by MCP, agents, the conversation named anywhere, parents
// that never come, and copies of spans that tell less.
func anyTraces(t *rapid.T) (spans []trace.Span) {
	traces := rapid.IntRange(1, 2).Draw(t, "traces")
	for k := range traces {
		traceID := fmt.Sprintf("%032x", k+1)
		n := rapid.IntRange(1, 12).Draw(t, "spans")
		for i := range n {
			s := trace.Span{TraceID: traceID, ID: fmt.Sprintf("%x%015x", k+1, i+1), Start: begin.UnixNano() + int64(i)*int64(time.Second)}
			s.End = s.Start + rapid.Int64Range(1, 20).Draw(t, "took")*int64(time.Second)/2
			if above := rapid.IntRange(-1, i).Draw(t, "parent"); above >= 0 {
				s.ParentID = fmt.Sprintf("%x%015x", k+1, above) // of which 0 never comes
			}
			s.Run = rapid.SampledFrom([]string{"", "", "", "s1", "s2"}).Draw(t, "conversation")
			s.Service = fmt.Sprint("service", rapid.IntRange(traces, 2).Draw(t, "service"))
			s.Failed = rapid.IntRange(0, 9).Draw(t, "failed") == 0
			anyFacts(t, &s, k)
			spans = append(spans, s)
			if rapid.IntRange(0, 4).Draw(t, "copy") == 0 {
				less := s
				less.Run, less.Output, less.End = "", "", s.End-1
				if rapid.Bool().Draw(t, "of another kind") { // so that events come of it which are none in the end
					less.Facts = trace.Facts{}
					anyFacts(t, &less, k)
				}
				spans = append(spans, less)
			}
		}
	}
	return spans
}

func anyFacts(t *rapid.T, s *trace.Span, number int) {
	s.Kind = rapid.SampledFrom([]trace.Kind{trace.Other, trace.Agent, trace.Model, trace.Tool, trace.Tool, trace.Tool}).Draw(t, "kind")
	switch s.Kind {
	case trace.Agent:
		s.Agent = rapid.SampledFrom([]string{"desk", "refunds"}).Draw(t, "agent")
	case trace.Model:
		s.Model, s.Tokens = "house-1", 10
		said := trace.Messages{
			Opens: rapid.Bool().Draw(t, "opens"), Root: rapid.SampledFrom([]string{"one", "two"}).Draw(t, "root"),
			Input:  []trace.Message{{Role: "user", Text: rapid.SampledFrom([]string{"one", "two", "three"}).Draw(t, "asked")}},
			Answer: rapid.SampledFrom([]string{"", "It is done."}).Draw(t, "answer"),
		}
		s.Messages = said.Encode()
	case trace.Tool:
		s.Tool = rapid.SampledFrom([]string{"search", "server.search", "", "transfer_to_refunds"}).Draw(t, "tool")
		s.MCP = rapid.IntRange(0, 2).Draw(t, "MCP") == 0
		if call := rapid.IntRange(0, 6).Draw(t, "call"); call > 0 {
			s.CallID, s.ByCall = fmt.Sprint("call", number, call), rapid.Bool().Draw(t, "by call")
		}
		s.Input, s.Output = `{"q":1}`, `[]`
	}
}

// deliver records spans in drawn pieces, with restarts and idling between them.
func (h *handFed) deliver(t *rapid.T, spans []trace.Span) {
	for len(spans) > 0 {
		var group []*Submission
		for range rapid.IntRange(1, 3).Draw(t, "together") {
			n := rapid.IntRange(0, len(spans)).Draw(t, "batch")
			group = append(group, &Submission{Spans: spans[:n]})
			spans = spans[n:]
		}
		h.give(group...)
		switch rapid.SampledFrom([]string{"", "", "kill", "idle"}).Draw(t, "then") {
		case "kill":
			h.wait()
			h.restart()
		case "idle":
			h.wait()
			h.idle()
		}
	}
	h.wait()
}

// regardless leaves out the project too where there are two traces: a conversation of both is in the project of the one that first
// told of a service.
func regardless(spans []trace.Span) cmp.Option {
	if spans[0].TraceID == spans[len(spans)-1].TraceID {
		return regardlessOfArrival
	}
	return cmp.Options{regardlessOfArrival, cmpopts.IgnoreFields(store.Run{}, "Project")}
}

func TestEventsOfSpansDependOnlyOnTheirSet(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		spans := anyTraces(rt)
		whole := newHandFed(t)
		whole.spans(spans...)
		want := whole.verdicts()

		mixed := rapid.Permutation(spans).Draw(rt, "order")
		mixed = append(mixed, rapid.Permutation(spans).Draw(rt, "again")[:rapid.IntRange(0, len(spans)).Draw(rt, "doubled")]...)
		h := newHandFed(t)
		h.deliver(rt, mixed)
		if diff := cmp.Diff(want, h.verdicts(), regardless(spans)); diff != "" {
			rt.Fatalf("(-whole +in pieces):\n%s", diff)
		}
		if diff := cmp.Diff(whole.linked(), h.linked()); diff != "" {
			rt.Fatalf("spans (-whole +in pieces):\n%s", diff)
		}
		h.leavesNothing(rt)
	})
}

func TestTheProjectIsThatOfTheCanonicalSpans(t *testing.T) {
	const id = "00000000000000000000000000000001"
	make := func(span, service string, facts trace.Facts, end int64) trace.Span {
		s := trace.Span{TraceID: id, ID: span, Service: service, Start: begin.UnixNano(), Facts: facts}
		s.End = s.Start + end
		return s
	}
	tool := trace.Facts{Kind: trace.Tool, Tool: "search"}
	h := newHandFed(t)
	h.spans(make("01", "one", tool, 1))
	h.spans(make("01", "one", trace.Facts{Kind: trace.Other}, 2), make("02", "two", tool, 2)) // 01 is no agent's work after all
	if got := h.verdicts()[id].Run.Project; got != "two" {
		t.Errorf("the run is in the project %q, want two, whose span alone has events", got)
	}
}

// linked returns the runs by id that the store names for each trace, and how many spans it has.
func (h *handFed) linked() map[string][]string {
	linked := make(map[string][]string)
	for trace, runs := range h.m.traces {
		of := []string{fmt.Sprint(len(h.m.spans[trace]), " spans")}
		for n := range runs {
			if n != 0 || len(runs) == 1 {
				of = append(of, h.m.runs[n].ID)
			}
		}
		slices.Sort(of)
		linked[trace] = of
	}
	return linked
}

// leavesNothing deletes the runs one after another, each of which leaves the rest alone, and the last of a trace its spans.
func (h *handFed) leavesNothing(t *rapid.T) {
	want := h.verdicts()
	for len(want) > 0 {
		ids := slices.Sorted(maps.Keys(want))
		gone := rapid.SampledFrom(ids).Draw(t, "deleted")
		h.forget(gone)
		delete(want, gone)
		if rapid.Bool().Draw(t, "restart") {
			h.restart()
		}
		if diff := cmp.Diff(want, h.verdicts(), regardlessOfArrival); diff != "" {
			t.Fatalf("after the deletion of %s (-want +got):\n%s", gone, diff)
		}
	}
	for trace, runs := range h.m.traces {
		if _, stray := runs[0]; len(runs) > 0 && !(stray && len(runs) == 1) {
			t.Fatalf("trace %s still has events in runs %v", trace, runs)
		}
	}
	for trace := range h.m.spans {
		if _, stray := h.m.traces[trace][0]; !stray {
			t.Fatalf("spans of %s remain without a run", trace)
		}
	}
}

func spanIn(t testing.TB, body []byte) (s trace.Span) {
	t.Helper()
	if err := json.Unmarshal(body, &s); err != nil {
		t.Fatal(err)
	}
	return s
}
