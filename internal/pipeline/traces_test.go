package pipeline

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/unloop-ai/unloop/internal/trace"
)

// spansOf returns a trace of calls that two agents make, one below the other, of which some repeat; its root names the session.
func spansOf(random *rand.Rand, id32, session string, calls int) (spans []trace.Span) {
	at := begin.UnixNano()
	tick := func() int64 { at += int64(time.Second); return at }
	id := func(k int) string { return fmt.Sprintf("%s%014x", id32[:2], k+1) }
	root := trace.Span{TraceID: id32, ID: id(0), Title: "invoke_agent support", Service: "desk", Run: session, Start: tick(), Facts: trace.Facts{Kind: trace.Agent, Agent: "support"}}
	inner := trace.Span{TraceID: id32, ID: id(1), ParentID: id(0), Title: "refunds", Start: tick(), Facts: trace.Facts{Kind: trace.Agent, Agent: "refunds"}}
	for k := range calls {
		s := trace.Span{
			TraceID: id32, ID: id(k + 2), ParentID: id(random.IntN(2)), Title: "search", Start: tick(),
			Facts: trace.Facts{Kind: trace.Tool, Tool: "search", CallID: fmt.Sprint("call", k), Input: fmt.Sprintf(`{"q":%d}`, random.IntN(2)), Output: `[]`},
		}
		if random.IntN(3) == 0 { // it goes on while others begin
			s.End = at + int64(5*time.Second)
		} else {
			s.End = tick()
		}
		spans = append(spans, s)
	}
	at += int64(10 * time.Second)
	inner.End, root.End = tick(), tick()
	return append(spans, inner, root)
}

func submitSpans(t testing.TB, p *Pipeline, spans ...trace.Span) {
	t.Helper()
	if _, err := p.Submit(context.Background(), &Submission{Spans: append([]trace.Span(nil), spans...)}); err != nil {
		t.Fatal(err)
	}
}

func TestTheVerdictOfSpansDoesNotDependOnTheirArrival(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 2))
		session := rapid.SampledFrom([]string{"", "session-1"}).Draw(rt, "session")
		const id32 = "0af7651916cd43dd8448eb211c80319c"
		run := session
		if run == "" {
			run = id32
		}
		spans := spansOf(random, id32, session, rapid.IntRange(1, 30).Draw(rt, "calls"))
		m := newMemory()
		p, stop := start(t, Options{Store: m})
		submitSpans(t, p, spans...)
		stop()
		want := verdictOf(t, m, run)
		if want.Run.Name != "support" || want.Run.Project != "desk" {
			rt.Errorf("the run is called %q in project %q", want.Run.Name, want.Run.Project)
		}
		if want.Run.Metrics.ToolCalls != len(spans)-2 {
			rt.Errorf("%d calls of %d spans", want.Run.Metrics.ToolCalls, len(spans))
		}

		m = newMemory()
		mixed := append(append([]trace.Span(nil), spans...), spans[:len(spans)/2]...)
		random.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		p, stop = start(t, Options{Store: m, LiveRuns: 1})
		for len(mixed) > 0 {
			n := rapid.IntRange(1, len(mixed)).Draw(rt, "batch")
			submitSpans(t, p, mixed[:n]...)
			mixed = mixed[n:]
			if rapid.Bool().Draw(rt, "restart") {
				stop()
				p, stop = start(t, Options{Store: m, LiveRuns: 1})
			}
		}
		stop()
		if diff := cmp.Diff(want, verdictOf(t, m, run), regardlessOfArrival); diff != "" {
			rt.Errorf("(-want +got):\n%s", diff)
		}
		if len(m.runs) != 1 {
			rt.Errorf("%d runs, want the one", len(m.runs))
		}
	})
}

func TestSpansOfTwoTracesOfOneSessionAreOneRun(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	m := newMemory()
	p, stop := start(t, Options{Store: m})
	first := spansOf(random, "11111111111111111111111111111111", "s", 4)
	second := spansOf(random, "22222222222222222222222222222222", "s", 4)
	submitSpans(t, p, append(first, second[:2]...)...)
	submitSpans(t, p, second[2:]...)
	stop()
	if v := verdictOf(t, m, "s"); v.Run.Metrics.ToolCalls != 8 || len(m.runs) != 1 {
		t.Errorf("%d runs, %+v", len(m.runs), v.Run.Metrics)
	}
}
