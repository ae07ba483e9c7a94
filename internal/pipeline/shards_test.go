package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"pgregory.net/rapid"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/detect"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/internal/trace"
	"github.com/unloop-ai/unloop/profile"
)

// slowWriter is a store whose commits take a while, so that folding runs ahead of them. The first transactions may fail.
type slowWriter struct {
	*memory
	fail []error
}

func (s *slowWriter) CommitTogether(ctx context.Context, batches []*store.Batch) error {
	time.Sleep(time.Millisecond)
	if len(s.fail) > 0 {
		err := s.fail[0]
		s.fail = s.fail[1:]
		if err != nil {
			return err
		}
	}
	return s.memory.CommitTogether(ctx, batches)
}

// yielding is a detector that lets other goroutines go first, so that shards take turns even on one processor.
type yielding struct{}

func (yielding) Info() unloop.Info { return unloop.Info{Name: "yielding", At: unloop.AtStart} }

func (yielding) Check(*unloop.Run) (unloop.Finding, bool) {
	runtime.Gosched()
	return unloop.Finding{}, false
}

// ahead is a pipeline with a writer whose recorder the test is, so that it says which deliveries are one group.
type ahead struct {
	t     testing.TB
	store *slowWriter
	sink  *recorder
	*Pipeline
	profile  *profile.Profile
	received time.Time // when the last delivery arrived
	end      func()
}

func newAhead(t testing.TB, judge *profile.Profile, shards int) *ahead {
	h := &ahead{t: t, profile: judge, store: &slowWriter{memory: newMemory()}, sink: &recorder{}, received: begin}
	h.start(shards)
	return h
}

func (h *ahead) start(shards int) {
	h.t.Helper()
	p, err := New(context.Background(), Options{
		Profile: h.profile, Store: h.store, Metrics: NewMetrics(prometheus.NewRegistry()), Sinks: []Sink{h.sink}, Shards: shards, LiveRuns: 7,
	})
	if err != nil {
		h.t.Fatal(err)
	}
	p.perShard = 1
	h.Pipeline, h.end = p, p.startWriter(context.Background())
}

// restart is what a killed server does that is started again, once what is under way is on disk.
func (h *ahead) restart(shards int) {
	h.drain(context.Background())
	h.end()
	h.start(shards)
}

// group records deliveries as one group, ahead of the writer, and returns them.
func (h *ahead) group(deliveries ...*Submission) (group []*queued) {
	h.t.Helper()
	for _, d := range deliveries {
		w, err := h.prepare(&Submission{Events: clones(d.Events), Spans: slices.Clone(d.Spans), Deleted: d.Deleted, Runs: d.Runs})
		if err != nil || !h.admit(w) {
			h.t.Fatal(err)
		}
		h.received = h.received.Add(time.Millisecond) // the clock says how often the writer was waited for
		w.received = h.received
		group = append(group, w)
	}
	h.recordGroup(context.Background(), group)
	return group
}

// bytes returns all that the store has and all that the sink was told, as text.
func (h *ahead) bytes() string {
	h.t.Helper()
	h.drain(context.Background())
	h.flush(context.Background())
	var b strings.Builder
	write := func(v any) {
		text, err := json.Marshal(v)
		if err != nil {
			h.t.Fatal(err)
		}
		b.Write(append(text, '\n'))
	}
	for _, n := range slices.Sorted(maps.Keys(h.store.runs)) {
		write(h.store.runs[n])
		write(h.store.sorted(n))
		write(h.store.warningsOf(n))
		write(h.store.decisions[n])
		checkpoints, _ := h.store.Checkpoints(context.Background(), n) // memory has no errors
		write(checkpoints)
	}
	write(h.store.spans)
	write(h.store.traces)
	for _, u := range h.sink.updates {
		write(u)
	}
	return b.String()
}

// script is a random list of groups of deliveries. A group of nil is a restart.
func script(random *rand.Rand) (groups [][]*Submission) {
	var left []*Submission
	for run := range 6 {
		events := randomRun(random, 2+random.IntN(14))
		for k, e := range events {
			e.RunID = fmt.Sprint("r", run)
			if random.IntN(12) == 0 { // it comes again, perhaps with another position
				again := e.Clone()
				again.Sequence += int64(random.IntN(3) * 40)
				events = append(events, again)
			}
			if random.IntN(8) == 0 { // it comes late or early
				other := random.IntN(len(events))
				events[k], events[other] = events[other], events[k]
			}
		}
		for len(events) > 0 {
			n := min(len(events), 1+random.IntN(9))
			left = append(left, &Submission{Events: events[:n]})
			events = events[n:]
		}
	}
	for range 3 {
		trace := randomSpans(random)
		for k := range trace {
			left = append(left, &Submission{Spans: trace[k : k+1]})
		}
	}
	left = append(left, &Submission{Deleted: []string{"r3"}}, &Submission{Runs: []Info{{ID: "r4", Name: "named", Project: "p"}}})
	if random.IntN(2) == 0 {
		random.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
	}
	for len(left) > 0 {
		n := 1
		for n < min(len(left), 1+random.IntN(12)) && len(left[0].Deleted) == 0 && len(left[n].Deleted) == 0 {
			n++
		}
		groups = append(groups, left[:n])
		left = left[n:]
		if random.IntN(15) == 0 {
			groups = append(groups, nil)
		}
	}
	return groups
}

// randomSpans returns the spans of a trace of several agents, the root last: it may name a conversation, which then holds all events.
func randomSpans(random *rand.Rand) (spans []trace.Span) {
	id := fmt.Sprintf("%032x", random.Uint64())
	root := trace.Span{TraceID: id, ID: fmt.Sprintf("%016x", 1), Start: begin.UnixNano(), End: begin.Add(time.Hour).UnixNano(), Facts: trace.Facts{Kind: trace.Agent, Agent: "desk"}}
	if random.IntN(2) == 0 {
		root.Run = fmt.Sprint("talk", random.IntN(2))
	}
	for k := range 3 + random.IntN(6) {
		at := begin.Add(time.Duration(k) * time.Second).UnixNano()
		spans = append(spans, trace.Span{
			TraceID: id, ID: fmt.Sprintf("%016x", k+2), ParentID: root.ID, Start: at, End: at + 1000,
			Facts: trace.Facts{Kind: trace.Tool, Tool: "search", CallID: fmt.Sprint("c", k), Input: `{"q":1}`, Output: `[]`},
		})
	}
	return append(spans, root)
}

func TestResultsDoNotDependOnTheNumberOfShards(t *testing.T) {
	profiles := []*profile.Profile{defaultProfile(t), customProfile(t, yielding{}, detect.GenericRepeat{Window: 30, Times: 3})}
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(struct{ testing.TB }{t}, func(rt *rapid.T) { // a bubble has no deadline to ask for
			seed := rapid.Uint64().Draw(rt, "seed")
			judge := rapid.SampledFrom(profiles).Draw(rt, "profile")
			var want string
			for _, shards := range []int{1, rapid.SampledFrom([]int{2, 7, 16}).Draw(rt, "shards")} {
				h := newAhead(t, judge, shards)
				for _, group := range script(rand.New(rand.NewPCG(seed, 1))) {
					if group == nil {
						h.restart(shards)
						continue
					}
					h.group(group...)
				}
				got := h.bytes()
				h.end()
				if want == "" {
					want = got
				}
				if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
					rt.Fatalf("%d shards (-1 shard, +these):\n%.3000s", shards, diff)
				}
			}
		})
	})
}

func TestCommitsBehindAFailedOneAreRecordedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := calls("r", 30)
		h := newAhead(t, defaultProfile(t), 2)
		defer func() { h.end() }()
		h.store.fail = []error{errFull}
		first := h.group(&Submission{Events: events[:20]})
		synctest.Wait() // the writer has it
		var rest []*queued
		for k := 20; k < 60; k += 10 {
			rest = append(rest, h.group(&Submission{Events: events[k : k+10]})...)
		}
		if h.writer.underWay != 5 {
			t.Errorf("%d commits are under way, want 5", h.writer.underWay)
		}
		h.drain(t.Context())
		if !errors.Is(first[0].err, errFull) {
			t.Errorf("the first delivery: %v, want %v", first[0].err, errFull)
		}
		for k, w := range rest {
			<-w.done
			if w.err != nil {
				t.Errorf("delivery %d behind it: %v", k, w.err)
			}
		}
		h.group(&Submission{Events: events[:20]})
		h.bytes()
		if diff := cmp.Diff(inOrder(t, events), verdictOf(t, h.store.memory, "r"), regardlessOfArrival); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		toldOnce(t, h.sink.updates)
	})
}

func TestAnUnexpectedDuplicateDiscardsTheCommitsBehindIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := calls("r", 30)
		h := newAhead(t, defaultProfile(t), 2)
		defer func() { h.end() }()
		h.group(&Submission{Events: events[:20]})
		synctest.Wait()
		again := events[3].Clone()
		again.Sequence = 21
		twice := h.group(&Submission{Events: append(clones(events[20:30]), again)})
		h.group(&Submission{Events: events[30:]})
		h.bytes()
		if n := len(twice[0].ack.Events); !twice[0].ack.Events[n-1].Duplicate {
			t.Error("the duplicate was not detected")
		}
		if diff := cmp.Diff(inOrder(t, events), verdictOf(t, h.store.memory, "r"), regardlessOfArrival); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if h.rowsMissing {
			t.Error("rowsMissing is set although all runs were recorded again")
		}
	})
}
