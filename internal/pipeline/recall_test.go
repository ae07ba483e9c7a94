package pipeline

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/time/rate"
	"pgregory.net/rapid"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/internal/trace"
)

// marked has each refold from kept events wait for its turn.
func marked(p *Pipeline) { p.refolds.recalled = rate.NewLimiter(0, 0) }

// backwards submits the events of a run, the last first.
func backwards(t testing.TB, p *Pipeline, events []*unloop.Event) {
	t.Helper()
	for k := range events {
		submit(t, p, events[len(events)-1-k])
	}
}

func TestLateEventsOfARunThatHadOneReadNothing(t *testing.T) {
	for name, tune := range map[string]func(*Pipeline){"folded at once": func(*Pipeline) {}, "folded later": marked} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory()
				p, stop := startTuned(t, Options{Store: m}, tune)
				events := calls("r", 10)
				backwards(t, p, events[10:])
				reads := m.reads.Load()
				backwards(t, p, events[:10])
				settle(p)
				stop()
				if n := m.reads.Load() - reads; n != 0 {
					t.Errorf("%d reads of events, want none", n)
				}
				if diff := cmp.Diff(inOrder(t, events), verdictOf(t, m, "r"), regardlessOfArrival); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestMarkedRunsWithKeptEventsAreRefoldedInOneCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		p, stop := startTuned(t, Options{Store: m}, marked)
		var late []*unloop.Event
		for _, run := range []string{"a", "b", "c", "d"} {
			events := calls(run, 3)
			backwards(t, p, events[3:])
			late = append(late, events[:3]...)
		}
		settle(p)
		before := m.commits
		submit(t, p, late...)
		settle(p)
		if n := m.commits - before; n != 2 {
			t.Errorf("%d commits, want that of the events and that of the refolds of four runs", n)
		}
		stop()
		for _, run := range []string{"a", "b", "c", "d"} {
			if diff := cmp.Diff(inOrder(t, calls(run, 3)), verdictOf(t, m, run), regardlessOfArrival); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
	})
}

func TestKeptEventsLeaveMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		p, stop := start(t, Options{Store: m, RunBytes: 1 << 20}) // 128 KiB of kept events
		for _, run := range []string{"a", "b", "c", "d"} {
			backwards(t, p, calls(run, 40)) // about 40 KiB
			synctest.Wait()
			if most := p.opts.RunBytes / keptShare; p.keptBytes > most {
				t.Errorf("%d bytes are kept, want %d at most", p.keptBytes, most)
			}
		}
		if p.keptBytes == 0 || p.live["a"].kept != nil {
			t.Errorf("%d bytes are kept, and those of the first run: %v; want some, and not its", p.keptBytes, p.live["a"].kept != nil)
		}
		backwards(t, p, calls("long", keptEvents))
		synctest.Wait()
		if p.live["long"].kept != nil {
			t.Error("the events of a long run are kept")
		}
		stop()
		if p.keptBytes != 0 || p.runBytes != 0 {
			t.Errorf("%d bytes, of which kept %d, count after all runs have left memory", p.runBytes, p.keptBytes)
		}
	})
}

// flawed is a store in which commits take a while, so that events come in the middle of a refold, and in which some fail.
type flawed struct {
	*memory
	random *rand.Rand
	fails  atomic.Bool
}

var errFlaw = errors.New("the store is not available")

func (f *flawed) CommitTogether(ctx context.Context, batches []*store.Batch) error {
	time.Sleep(time.Duration(f.random.IntN(30)) * time.Millisecond) // only the writer calls it
	if f.fails.Load() && f.random.IntN(8) == 0 {
		return errFlaw
	}
	return f.memory.CommitTogether(ctx, batches)
}

// insist submits spans until they are recorded.
func insist(p *Pipeline, spans []trace.Span) {
	for {
		if _, err := p.Submit(context.Background(), &Submission{Spans: slices.Clone(spans)}); err == nil {
			return
		}
	}
}

func TestEventsOfSpansDoNotDependOnTheTimeOfARefold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(struct{ testing.TB }{t}, func(rt *rapid.T) { // a bubble has no deadline to ask for
			spans := anyTraces(rt)
			whole := newMemory()
			p, stop := start(t, Options{Store: whole})
			insist(p, spans)
			stop()
			random := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
			m := &flawed{memory: newMemory(), random: random}
			m.fails.Store(rapid.Bool().Draw(rt, "fails"))
			p, stop = startTuned(t, Options{Store: m, RunBytes: rapid.SampledFrom([]int64{1 << 15, 1 << 30}).Draw(rt, "bytes")}, func(p *Pipeline) {
				p.refolds.recalled = rate.NewLimiter(0, rapid.SampledFrom([]int{0, 20, 1000}).Draw(rt, "at once"))
				p.refolds.perCheck = rapid.SampledFrom([]int{1, recallCost}).Draw(rt, "a check")
				p.every = rapid.SampledFrom([]int{5, checkpointEvery}).Draw(rt, "checkpoint every")
			})
			mixed := rapid.Permutation(append(slices.Clone(spans), spans[:len(spans)/3]...)).Draw(rt, "order")
			for len(mixed) > 0 {
				n := rapid.IntRange(1, min(len(mixed), 4)).Draw(rt, "batch")
				insist(p, mixed[:n])
				mixed = mixed[n:]
				time.Sleep(time.Duration(rapid.SampledFrom([]int{0, 3, 60, 90}).Draw(rt, "ms")) * time.Millisecond)
			}
			m.fails.Store(false)
			settle(p)
			stop()
			for _, r := range whole.runs {
				if diff := cmp.Diff(verdictOf(t, whole, r.ID), verdictOf(t, m.memory, r.ID), regardless(spans)); diff != "" {
					rt.Errorf("(-whole +in pieces):\n%s", diff)
				}
			}
		})
	})
}
