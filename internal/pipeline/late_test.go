package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/time/rate"
	"pgregory.net/rapid"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/store"
)

// settle waits, in a bubble, until no run is to be folded again.
func settle(p *Pipeline) {
	for p.State().Refolding > 0 {
		time.Sleep(time.Second)
	}
	synctest.Wait()
}

// never has no run folded again by the recorder.
func never(p *Pipeline) { p.refolds.perRun = 0 }

// crashed returns what a store has on disk at the moment.
func (m *memory) crashed() *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := newMemory()
	c.first = m.first
	maps.Copy(c.runs, m.runs)
	maps.Copy(c.firsts, m.firsts)
	for n := range m.runs {
		c.events[n], c.warnings[n] = maps.Clone(m.events[n]), maps.Clone(m.warnings[n])
		c.decisions[n], c.checkpoints[n] = slices.Clone(m.decisions[n]), slices.Clone(m.checkpoints[n])
	}
	c.flushed = m.flushed
	return c
}

// toldOnce fails where a warning was told to be new that the update of the run before had.
func toldOnce(t interface{ Errorf(string, ...any) }, updates []*store.Update) {
	has := make(map[string]map[string]bool)
	for _, u := range updates {
		for _, k := range u.Raised {
			if w := u.Warnings[k]; has[u.Run.ID][w.ID] {
				t.Errorf("%s of run %s was published twice", w.Rule, u.Run.ID)
			}
		}
		now := make(map[string]bool)
		for k := range u.Warnings {
			now[u.Warnings[k].ID] = true
		}
		has[u.Run.ID] = now
	}
}

// lagging is a store in which a refold takes a while, so that events come in the middle of it.
type lagging struct{ *memory }

func (l *lagging) NextEvents(ctx context.Context, run int64, behind store.Position, limit int, each func(*store.Event) error) error {
	time.Sleep(time.Duration(behind.Sequence%7) * 5 * time.Millisecond)
	err := l.memory.NextEvents(ctx, run, behind, limit, each)
	time.Sleep(time.Duration(behind.Sequence%5) * 5 * time.Millisecond)
	return err
}

func TestTheVerdictDoesNotDependOnTheTimeOfARefold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(struct{ testing.TB }{t}, func(rt *rapid.T) { // a bubble has no deadline to ask for
			random := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
			events := randomRun(random, rapid.IntRange(1, 40).Draw(rt, "calls"))
			want := inOrder(t, events)
			m, sink := newMemory(), &recorder{}
			var part *Partition // nil for a server that is alone
			if rapid.Bool().Draw(rt, "of a cluster") {
				part = &Partition{ID: 5, Of: 64, Now: time.Now, Has: func(string) bool { return true }}
				m.first = part.ID
			}
			tune := func(p *Pipeline) {
				p.refolds.perRun = rapid.SampledFrom([]int{0, 40, atOnceRun}).Draw(rt, "at once")
				p.refolds.slice = rapid.SampledFrom([]int{1, 7, sliceEvents}).Draw(rt, "slice")
				p.refolds.recalled = rate.NewLimiter(0, rapid.SampledFrom([]int{0, 40, atOnceAll}).Draw(rt, "kept at once"))
				p.refolds.catchUp = rapid.SampledFrom([]int{0, 3, catchUpEvents}).Draw(rt, "catch up")
				p.every = rapid.SampledFrom([]int{2, 9, checkpointEvery}).Draw(rt, "checkpoint every")
			}
			begin := func() (*Pipeline, func()) {
				o := Options{Store: &lagging{m}, Sinks: []Sink{sink}, LiveRuns: rapid.IntRange(1, 3).Draw(rt, "live runs"), Partition: part}
				return startTuned(t, o, tune)
			}
			mixed := append(clones(events), clones(events[:len(events)/3])...)
			random.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
			p, stop := begin()
			defer func() { stop() }() // where a check is given up, too
			doubled := 0
			for len(mixed) > 0 {
				n := rapid.IntRange(1, min(len(mixed), 20)).Draw(rt, "batch")
				for _, r := range submit(t, p, mixed[:n]...).Events {
					if r.Duplicate {
						doubled++
					}
				}
				mixed = mixed[n:]
				time.Sleep(time.Duration(rapid.SampledFrom([]int{0, 3, 20, 60, 300}).Draw(rt, "ms")) * time.Millisecond)
				switch rapid.IntRange(0, 9).Draw(rt, "then") {
				case 0:
					stop()
					stop = func() {}
					p, stop = begin()
				case 1:
					crashed := m.crashed()
					stop()
					stop = func() {}
					m = crashed
					sink.updates = nil
					p, stop = begin()
				case 2:
					submit(t, p, calls(fmt.Sprint("other", random.IntN(9)), 1)...) // puts the run out of memory
				}
			}
			settle(p)
			stop()
			stop = func() {}
			if doubled != len(events)/3 {
				rt.Errorf("%d events doubled, want %d", doubled, len(events)/3)
			}
			if diff := cmp.Diff(want, verdictOf(t, m, "r"), regardlessOfArrival); diff != "" {
				rt.Errorf("(-want +got):\n%s", diff)
			}
			toldOnce(rt, sink.updates)
		})
	})
}

func TestARunWithLateEventsIsMarkedUntilTheRefold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, sink := newMemory(), &recorder{}
		p, stop := startTuned(t, Options{Store: m, Sinks: []Sink{sink}}, never)
		events := calls("r", 8)
		submit(t, p, events[4:]...)
		before := verdictOf(t, m, "r")
		submit(t, p, events[:4]...)
		v := verdictOf(t, m, "r")
		if v.Run.Refold == nil || p.State().Refolding != 1 {
			t.Errorf("run %+v of %+v has no mark for late events", v.Run, p.State())
		}
		if len(v.Events) != 16 {
			t.Errorf("%d events are on disk, want 16", len(v.Events))
		}
		before.Events, before.Run.Refold, v.Events = nil, v.Run.Refold, nil
		before.Analyses, v.Analyses = nil, nil
		if diff := cmp.Diff(before, v, regardlessOfArrival); diff != "" {
			t.Errorf("before its refold the run has changed (-want +got):\n%s", diff)
		}
		arrival := v.Run.Arrival
		settle(p)
		stop()
		v = verdictOf(t, m, "r")
		if diff := cmp.Diff(inOrder(t, events), v, regardlessOfArrival); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if last := sink.updates[len(sink.updates)-1]; last.Invalidated == nil || len(last.Events) != 0 || last.Run.Arrival <= arrival {
			t.Errorf("the sinks received %+v", last)
		}
		toldOnce(t, sink.updates)
	})
}

func TestLateEventsOfAnIntervalShareARefold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, sink := newMemory(), &recorder{}
		p, stop := startTuned(t, Options{Store: m, Sinks: []Sink{sink}}, never)
		events := calls("r", 100)
		slices.Reverse(events)
		for _, e := range events {
			submit(t, p, e)
		}
		settle(p)
		stop()
		refolds := 0
		for _, u := range sink.updates {
			if u.Invalidated != nil {
				refolds++
			}
		}
		if refolds != 1 {
			t.Errorf("%d refolds, want 1", refolds)
		}
		slices.Reverse(events)
		if diff := cmp.Diff(inOrder(t, events), verdictOf(t, m, "r"), regardlessOfArrival); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// slow is a store whose refolds wait.
type slow struct {
	*memory
	gate chan struct{} // a refold's slice needs one
}

func (s *slow) NextEvents(ctx context.Context, run int64, behind store.Position, limit int, each func(*store.Event) error) error {
	select {
	case <-s.gate:
	case <-ctx.Done():
		return ctx.Err()
	}
	return s.memory.NextEvents(ctx, run, behind, limit, each)
}

func TestARefoldDoesNotDelayOtherRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &slow{newMemory(), make(chan struct{}, 10)}
		p, stop := startTuned(t, Options{Store: m}, never)
		events := calls("r", 6)
		submit(t, p, events[2:]...)
		submit(t, p, events[0])
		time.Sleep(time.Second) // the refold waits for its events
		submit(t, p, calls("s", 6)...)
		submit(t, p, events[1])
		if row := verdictOf(t, m.memory, "s").Run; row.Warnings == 0 || row.Refold != nil {
			t.Errorf("the other run has not been judged: %+v", row)
		}
		for range 10 {
			m.gate <- struct{}{}
		}
		settle(p)
		stop()
		if diff := cmp.Diff(inOrder(t, events), verdictOf(t, m.memory, "r"), regardlessOfArrival); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestARunWithEndlessLateEventsIsJudged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		p, stop := startTuned(t, Options{Store: m}, never)
		events := calls("r", 200)
		for k := 0; k+3 < len(events); k += 4 { // two processes that tell it in turns
			submit(t, p, events[k+2:k+4]...)
			submit(t, p, events[k:k+2]...)
			time.Sleep(10 * time.Millisecond)
			if row := verdictOf(t, m, "r").Run; k > 60 && row.Metrics.Events < k-60 {
				t.Fatalf("of %d events %d are judged", k, row.Metrics.Events)
			}
		}
		settle(p)
		stop()
		if diff := cmp.Diff(inOrder(t, events), verdictOf(t, m, "r"), regardlessOfArrival); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestARunThatIsDeletedDuringItsRefoldStaysDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &slow{newMemory(), make(chan struct{}, 10)}
		p, stop := startTuned(t, Options{Store: m}, never)
		events := calls("r", 6)
		submit(t, p, events[2:]...)
		submit(t, p, events[:2]...)
		time.Sleep(time.Second)
		if _, err := p.Submit(t.Context(), &Submission{Deleted: []string{"r"}}); err != nil {
			t.Fatal(err)
		}
		if n := p.State().Refolding; n != 0 {
			t.Errorf("%d runs are to be folded again", n)
		}
		submit(t, p, events[4:6]...) // it begins anew
		m.gate <- struct{}{}
		synctest.Wait()
		stop()
		if diff := cmp.Diff(inOrder(t, events[4:6]), verdictOf(t, m.memory, "r"), regardlessOfArrival); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestAnIdleRunIsClosedAfterItsRefold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &slow{newMemory(), make(chan struct{}, 10)}
		p, stop := startTuned(t, Options{Store: m, IdleClose: time.Minute, IdleMemory: 10 * time.Second}, never)
		events := calls("r", 6)
		submit(t, p, events[2:]...)
		submit(t, p, events[:2]...)
		time.Sleep(5 * time.Minute) // it leaves memory meanwhile
		if row := verdictOf(t, m.memory, "r").Run; row.Status != store.Running || row.Refold == nil {
			t.Errorf("run %+v", row)
		}
		m.gate <- struct{}{}
		m.gate <- struct{}{}
		settle(p)
		time.Sleep(time.Minute)
		stop()
		got, want := verdictOf(t, m.memory, "r"), inOrder(t, events)
		want.Run.Status, want.Run.Ended = store.Abandoned, got.Run.Ended
		if diff := cmp.Diff(want, got, regardlessOfArrival); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestAFailedRefoldIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		p, stop := startTuned(t, Options{Store: m}, never)
		events := calls("r", 6)
		submit(t, p, events[2:]...)
		submit(t, p, events[:2]...)
		m.mu.Lock()
		m.fail = errFull
		m.mu.Unlock()
		time.Sleep(500 * time.Millisecond)
		if err := p.Health(); !errors.Is(err, errFull) {
			t.Errorf("Health returns %v", err)
		}
		m.mu.Lock()
		m.fail = nil
		m.mu.Unlock()
		settle(p)
		stop()
		if diff := cmp.Diff(inOrder(t, events), verdictOf(t, m, "r"), regardlessOfArrival); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestRefoldsOfRunsAlternate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, sink := newMemory(), &recorder{}
		p, stop := startTuned(t, Options{Store: m, Sinks: []Sink{sink}}, func(p *Pipeline) { p.refolds.perRun, p.refolds.slice = 0, 10 })
		for run, n := range map[string]int{"long": 500, "short": 5} {
			events := calls(run, n)
			submit(t, p, events[1:]...)
			submit(t, p, events[0])
		}
		settle(p)
		stop()
		var ended []string
		for _, u := range sink.updates {
			if u.Invalidated != nil {
				ended = append(ended, u.Run.ID)
			}
		}
		if diff := cmp.Diff([]string{"short", "long"}, ended); diff != "" {
			t.Errorf("refolds ended in this order (-want +got):\n%s", diff)
		}
	})
}

func TestARunThatIsResentWithOtherPositionsIsRepairedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, sink := newMemory(), &recorder{}
		p, stop := start(t, Options{Store: m, Sinks: []Sink{sink}})
		events := calls("r", 2)
		submit(t, p, events...)
		commits := m.commits
		for k := range 5 {
			again := clones(events)
			for i, e := range again {
				e.Sequence += int64(1000 * (k + 1))
				e.Time = begin.Add(time.Duration(k*10+i+100) * time.Second)
			}
			more := &unloop.Event{ID: fmt.Sprint("more", k), RunID: "r", Sequence: int64(10 + k), Time: begin.Add(time.Hour), Type: unloop.MessageSent}
			submit(t, p, append(again, more)...)
		}
		if n := m.commits - commits; n != 6 {
			t.Errorf("%d commits, want 5 and one that repairs", n)
		}
		stop()
		for _, u := range sink.updates {
			if len(u.Raised)+len(u.Warnings) > 0 {
				t.Errorf("the sinks received %+v", u)
			}
		}
	})
}

func TestAWarningOfACommitWithEarlierEventsIsPublished(t *testing.T) {
	m, sink := newMemory(), &recorder{}
	p, stop := start(t, Options{Store: m, Sinks: []Sink{sink}})
	events := calls("r", 6)
	submit(t, p, events[:2]...)
	again := events[1].Clone()
	again.Sequence = 1000
	submit(t, p, append(events[2:], again)...)
	stop()
	if diff := cmp.Diff(inOrder(t, events), verdictOf(t, m, "r"), regardlessOfArrival); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if last := sink.updates[len(sink.updates)-1]; len(last.Raised) == 0 || len(last.Events) != 10 {
		t.Errorf("the sinks received %+v", last)
	}
}
