package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/client_golang/prometheus"
	"pgregory.net/rapid"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/profile"
)

// recorder is a sink that keeps what it is told.
type recorder struct{ updates []*store.Update }

func (r *recorder) Publish(u *store.Update) { r.updates = append(r.updates, u) }

// start returns a pipeline that works until stop is called.
func start(t testing.TB, o Options) (p *Pipeline, stop func()) {
	t.Helper()
	return startTuned(t, o, func(*Pipeline) {})
}

// startTuned does so, and changes the pipeline's bounds before it works.
func startTuned(t testing.TB, o Options, tune func(*Pipeline)) (p *Pipeline, stop func()) {
	t.Helper()
	if o.Profile == nil {
		o.Profile = defaultProfile(t)
	}
	o.Metrics = NewMetrics(prometheus.NewRegistry())
	p, err := New(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	tune(p)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- p.Run(ctx) }()
	return p, func() {
		t.Helper()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func defaultProfile(t testing.TB) *profile.Profile {
	t.Helper()
	p, err := profile.New(profile.Default)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var begin = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// call returns the two events of a call that always has the same answer.
func call(run string, n int) []*unloop.Event {
	id := fmt.Sprintf("%s-%d", run, n)
	at := begin.Add(time.Duration(n) * time.Second)
	return []*unloop.Event{
		{ID: id + "a", RunID: run, Sequence: int64(2*n + 1), Time: at, Type: unloop.ToolCallStarted, Tool: "search", CallID: id, Input: json.RawMessage(`{"q":"loops"}`)},
		{ID: id + "b", RunID: run, Sequence: int64(2*n + 2), Time: at, Type: unloop.ToolCallCompleted, Tool: "search", CallID: id, Output: json.RawMessage(`[]`)},
	}
}

func calls(run string, n int) (all []*unloop.Event) {
	for k := range n {
		all = append(all, call(run, k)...)
	}
	return all
}

func clones(events []*unloop.Event) (all []*unloop.Event) {
	for _, e := range events {
		all = append(all, e.Clone())
	}
	return all
}

func submit(t testing.TB, p *Pipeline, events ...*unloop.Event) Ack {
	t.Helper()
	receipt, err := p.Submit(context.Background(), &Submission{Events: clones(events)})
	if err != nil {
		t.Fatal(err)
	}
	return receipt
}

// verdict is what the store says of a run.
type verdict struct {
	Run       store.Run
	Warnings  []store.Warning
	Decisions []store.Decision
	Events    []string // ids in order
	Analyses  []string // of these
}

func verdictOf(t testing.TB, m *memory, id string) verdict {
	t.Helper()
	row, err := m.Run(context.Background(), id)
	if err != nil || row == nil {
		t.Fatalf("run %s: %v, %v", id, row, err)
	}
	v := verdict{Run: *row, Warnings: m.warningsOf(row.Number), Decisions: slices.Clone(m.decisions[row.Number])}
	slices.SortFunc(v.Decisions, func(a, b store.Decision) int { return a.Position.Compare(b.Position) })
	for _, e := range m.sorted(row.Number) {
		v.Events = append(v.Events, e.ID)
		v.Analyses = append(v.Analyses, string(e.Analysis))
	}
	return v
}

// regardlessOfArrival leaves out what depends on when and in which order events arrived.
var regardlessOfArrival = cmp.Options{
	cmpopts.IgnoreFields(store.Run{}, "Number", "Updated", "Arrival"),
	cmpopts.IgnoreFields(store.Warning{}, "Run"),
	cmpopts.IgnoreFields(store.Decision{}, "Run"),
	cmpopts.IgnoreFields(store.Position{}, "Tie"),
	cmpopts.EquateEmpty(),
}

// inOrder returns the verdict on events that came in order, all at once.
func inOrder(t testing.TB, events []*unloop.Event) verdict {
	t.Helper()
	m := newMemory()
	p, stop := start(t, Options{Store: m})
	submit(t, p, events...)
	stop()
	return verdictOf(t, m, events[0].RunID)
}

func TestALoopIsRecordedWithItsWarning(t *testing.T) {
	m, sink := newMemory(), &recorder{}
	p, stop := start(t, Options{Store: m, Sinks: []Sink{sink}})
	for k := range 8 {
		submit(t, p, call("r", k)...)
	}
	stop()
	v := verdictOf(t, m, "r")
	if len(v.Events) != 16 || v.Run.Metrics.ToolCalls != 8 || v.Run.Status != store.Running || v.Run.Project != "default" {
		t.Errorf("run %+v with events %v", v.Run, v.Events)
	}
	if len(v.Warnings) == 0 || v.Run.Warnings != len(v.Warnings) || v.Run.Health.Score == 100 || v.Warnings[0].Tool != "search" {
		t.Errorf("warnings %+v of run %+v", v.Warnings, v.Run)
	}
	if len(v.Decisions) == 0 || v.Run.WorstAction != v.Decisions[len(v.Decisions)-1].Action || v.Run.UsageAfterWarning.Calls == 0 {
		t.Errorf("decisions %+v of run %+v", v.Decisions, v.Run)
	}
	raised := 0
	for _, u := range sink.updates {
		raised += len(u.Raised)
	}
	if len(sink.updates) != 8 || raised != len(v.Warnings) {
		t.Errorf("%d updates with %d warnings raised, want 8 with %d", len(sink.updates), raised, len(v.Warnings))
	}
}

func TestTheVerdictDoesNotDependOnSubmissions(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		events := randomRun(random, rapid.IntRange(1, 60).Draw(rt, "calls"))
		want := inOrder(t, events)

		m := newMemory()
		mixed := append(clones(events), clones(events[:len(events)/3])...)
		random.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		live := rapid.IntRange(1, 3).Draw(rt, "live runs")
		p, stop := start(t, Options{Store: m, LiveRuns: live})
		doubled := 0
		for len(mixed) > 0 {
			n := rapid.IntRange(1, len(mixed)).Draw(rt, "batch")
			for _, r := range submit(t, p, mixed[:n]...).Events {
				if r.Duplicate {
					doubled++
				}
			}
			mixed = mixed[n:]
			if rapid.Bool().Draw(rt, "restart") {
				stop()
				p, stop = start(t, Options{Store: m, LiveRuns: live})
			}
			submit(t, p, calls(fmt.Sprint("other", random.IntN(9)), 1)...) // puts the run out of memory
		}
		stop()
		if doubled != len(events)/3 {
			rt.Errorf("%d events doubled, want %d", doubled, len(events)/3)
		}
		if diff := cmp.Diff(want, verdictOf(t, m, "r"), regardlessOfArrival); diff != "" {
			rt.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// randomRun returns a run of some calls, with repeats, failures, messages and perhaps an end.
func randomRun(random *rand.Rand, n int) (events []*unloop.Event) {
	add := func(e *unloop.Event) {
		k := len(events)
		e.ID, e.RunID, e.Sequence = fmt.Sprint("e", k), "r", int64(k+1)
		e.Time = begin.Add(time.Duration(k) * time.Second)
		events = append(events, e)
	}
	add(&unloop.Event{Type: unloop.RunStarted, Name: "a run"})
	for k := range n {
		id := fmt.Sprint("c", k)
		tool := []string{"search", "read", "bash"}[random.IntN(3)]
		input := json.RawMessage(fmt.Sprintf(`{"q":%d}`, random.IntN(3)))
		add(&unloop.Event{Type: unloop.ToolCallStarted, Tool: tool, CallID: id, Input: input, Cost: 0.25})
		if random.IntN(4) == 0 {
			add(&unloop.Event{Type: unloop.ToolCallFailed, Tool: tool, CallID: id, Error: json.RawMessage(`"no such file"`)})
		} else {
			add(&unloop.Event{Type: unloop.ToolCallCompleted, Tool: tool, CallID: id, Output: input})
		}
		if random.IntN(9) == 0 {
			add(&unloop.Event{Type: unloop.MessageSent, Role: unloop.RoleAssistant, Text: "I will try that again."})
		}
	}
	if random.IntN(2) == 0 {
		add(&unloop.Event{Type: []unloop.EventType{unloop.RunCompleted, unloop.RunFailed}[random.IntN(2)]})
	}
	return events
}

func TestLongRunsAreFoldedFromCheckpoints(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	events := randomRun(random, checkpointEvery+200)
	want := inOrder(t, events)
	late := []int{len(events) - 10, len(events) - checkpointEvery - 100, 10}
	for _, at := range late {
		t.Run(fmt.Sprint("event ", at, " comes last"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory()
				p, stop := start(t, Options{Store: m})
				submit(t, p, slices.Concat(events[:at], events[at+1:])...)
				submit(t, p, events[at])
				settle(p)
				stop()
				if diff := cmp.Diff(want, verdictOf(t, m, "r"), regardlessOfArrival); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if n := len(m.checkpoints[1]); n == 0 || n > 3 {
					t.Errorf("%d checkpoints", n)
				}
			})
		})
	}
}

func TestADuplicateAtAnotherPositionChangesNothing(t *testing.T) {
	m, sink := newMemory(), &recorder{}
	p, stop := start(t, Options{Store: m, Sinks: []Sink{sink}})
	events := calls("r", 6)
	want := inOrder(t, events)
	submit(t, p, events...)
	again := events[3].Clone()
	again.Sequence = 1000
	if r := submit(t, p, again); !r.Events[0].Duplicate {
		t.Error("the duplicate was not detected")
	}
	stop()
	if diff := cmp.Diff(want, verdictOf(t, m, "r"), regardlessOfArrival); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if last := sink.updates[len(sink.updates)-1]; len(last.Events) != 0 || len(last.Raised) != 0 {
		t.Errorf("the sinks received %+v", last)
	}
}

func TestEventsWithoutPositionsKeepTheOrderOfArrival(t *testing.T) {
	m := newMemory()
	p, stop := start(t, Options{Store: m})
	var want []string
	for _, e := range calls("r", 5) {
		e.Sequence, e.Time = 0, time.Time{}
		want = append(want, e.ID)
		submit(t, p, e)
		if r := submit(t, p, e); !r.Events[0].Duplicate {
			t.Errorf("%s is recorded twice", e.ID)
		}
	}
	stop()
	if diff := cmp.Diff(want, verdictOf(t, m, "r").Events); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAFailedCommitIsReportedAndDropped(t *testing.T) {
	m := newMemory()
	p, stop := start(t, Options{Store: m})
	events := calls("r", 6)
	submit(t, p, events[:4]...)
	m.mu.Lock()
	m.fail = errFull
	m.mu.Unlock()
	if _, err := p.Submit(context.Background(), &Submission{Events: clones(events[4:8])}); !errors.Is(err, errFull) {
		t.Errorf("error %v, want %v", err, errFull)
	}
	if err := p.Health(); !errors.Is(err, errFull) {
		t.Errorf("Health returns %v", err)
	}
	m.mu.Lock()
	m.fail = nil
	m.mu.Unlock()
	submit(t, p, events[4:]...)
	if err := p.Health(); err != nil {
		t.Errorf("Health returns %v", err)
	}
	stop()
	if diff := cmp.Diff(inOrder(t, events), verdictOf(t, m, "r"), regardlessOfArrival); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAFullQueueRejectsSubmissions(t *testing.T) {
	p, err := New(context.Background(), Options{
		Profile: defaultProfile(t), Store: newMemory(), Metrics: NewMetrics(prometheus.NewRegistry()), QueueEvents: 3,
	})
	if err != nil {
		t.Fatal(err)
	}
	waiting, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := p.Submit(waiting, &Submission{Events: calls("large", 4)}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that an empty queue accepts a submission of any size", err)
	}
	if _, err := p.Submit(context.Background(), &Submission{Events: calls("r", 1)}); !errors.Is(err, ErrBusy) {
		t.Errorf("error %v, want %v", err, ErrBusy)
	}
	ctx, end := context.WithCancel(context.Background())
	end()
	if err := p.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if n := p.Waiting(); n != 0 {
		t.Errorf("%d events wait after all is done", n)
	}
	if _, err := p.Submit(context.Background(), &Submission{Events: calls("r", 1)}); !errors.Is(err, ErrClosed) {
		t.Errorf("error %v, want %v", err, ErrClosed)
	}
}

func TestIdleRunsAreClosedAndReopened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, sink := newMemory(), &recorder{}
		p, stop := start(t, Options{Store: m, Sinks: []Sink{sink}, IdleClose: time.Minute})
		submit(t, p, calls("r", 2)...)
		time.Sleep(50 * time.Second)
		synctest.Wait()
		if v := verdictOf(t, m, "r"); v.Run.Status != store.Running {
			t.Errorf("the run is %s after 50 s", v.Run.Status)
		}
		time.Sleep(20 * time.Second)
		synctest.Wait()
		v := verdictOf(t, m, "r")
		if v.Run.Status != store.Abandoned || v.Run.Ended.IsZero() || sink.updates[len(sink.updates)-1].Run.Status != store.Abandoned {
			t.Errorf("the run is %s, ended %v", v.Run.Status, v.Run.Ended)
		}
		submit(t, p, call("r", 2)...)
		if v := verdictOf(t, m, "r"); v.Run.Status != store.Running || !v.Run.Ended.IsZero() {
			t.Errorf("after another call the run is %s, ended %v", v.Run.Status, v.Run.Ended)
		}
		stop()
	})
}

func TestADeletedRunLosesAllItsRecords(t *testing.T) {
	m, sink := newMemory(), &recorder{}
	p, stop := start(t, Options{Store: m, Sinks: []Sink{sink}})
	submit(t, p, calls("r", 6)...)
	submit(t, p, calls("s", 1)...)
	if _, err := p.Submit(context.Background(), &Submission{Deleted: []string{"r", "unknown"}}); err != nil {
		t.Fatal(err)
	}
	if row, _ := m.Run(context.Background(), "r"); row != nil || len(m.runs) != 1 || len(m.events[1]) != 0 || len(m.warnings[1]) != 0 {
		t.Errorf("of the run there is still %+v", row)
	}
	if !sink.updates[2].Deleted || sink.updates[2].Run.ID != "r" {
		t.Errorf("the sinks received %+v", sink.updates[2])
	}
	submit(t, p, calls("r", 1)...)
	stop()
	if v := verdictOf(t, m, "r"); v.Run.Metrics.ToolCalls != 1 {
		t.Errorf("begun again, the run has %+v", v.Run.Metrics)
	}
}

func TestEventsAfterADeletionStartANewRun(t *testing.T) {
	m := newMemory()
	p, err := New(context.Background(), Options{Profile: defaultProfile(t), Store: m, Metrics: NewMetrics(prometheus.NewRegistry())})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*Submission{{Events: calls("r", 3)}, {Deleted: []string{"r"}}, {Events: call("r", 7)}} {
		w, err := p.prepare(d) // they wait together
		if err != nil {
			t.Fatal(err)
		}
		p.queue <- w
	}
	ended, end := context.WithCancel(context.Background())
	end()
	if err := p.Run(ended); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"r-7a", "r-7b"}, verdictOf(t, m, "r").Events); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestARunCanBeAnnouncedBeforeItsEvents(t *testing.T) {
	m := newMemory()
	p, stop := start(t, Options{Store: m})
	info := Info{ID: "r", Name: "nightly", Project: "ops", Metadata: json.RawMessage(`{"k":1}`)}
	if _, err := p.Submit(context.Background(), &Submission{Runs: []Info{info}}); err != nil {
		t.Fatal(err)
	}
	row := verdictOf(t, m, "r").Run
	if row.Name != "nightly" || row.Project != "ops" || string(row.Metadata) != `{"k":1}` || row.Started.IsZero() || row.Health.Score != 100 {
		t.Errorf("run %+v", row)
	}
	submit(t, p, &unloop.Event{ID: "1", RunID: "r", Type: unloop.RunStarted, Name: "other"})
	submit(t, p, &unloop.Event{ID: "2", RunID: "r", Type: unloop.RunCompleted})
	stop()
	if row := verdictOf(t, m, "r").Run; row.Name != "nightly" || row.Status != store.Completed || row.Ended.IsZero() {
		t.Errorf("run %+v", row)
	}
}

func TestANewEventFoldsARunUnderTheNewProfile(t *testing.T) {
	m := newMemory()
	p, stop := start(t, Options{Store: m})
	submit(t, p, calls("r", 300)...)
	stop()
	other, err := profile.New("looplens")
	if err != nil {
		t.Fatal(err)
	}
	p, stop = start(t, Options{Store: m, Profile: other})
	submit(t, p, call("r", 300)...)
	stop()
	fresh := newMemory()
	p, stop = start(t, Options{Store: fresh, Profile: other})
	submit(t, p, calls("r", 301)...)
	stop()
	if diff := cmp.Diff(verdictOf(t, fresh, "r"), verdictOf(t, m, "r"), regardlessOfArrival); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRowsAreCurrentForReadersAndAfterACrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		p, stop := start(t, Options{Store: m})
		for k := range 2 {
			submit(t, p, call("r", k)...)
		}
		told := func() int { return verdictOf(t, m, "r").Run.Metrics.ToolCalls }
		if n := told(); n != 1 {
			t.Errorf("the row has %d calls at once, want the earlier ones", n)
		}
		if err := p.Flush(context.Background()); err != nil || told() != 2 {
			t.Errorf("after Flush the row has %d calls (%v), want 2", told(), err)
		}
		submit(t, p, call("r", 2)...)
		time.Sleep(rowEvery)
		synctest.Wait()
		if n := told(); n != 3 {
			t.Errorf("after an interval the row has %d calls, want 3", n)
		}
		submit(t, p, call("r", 3)...)
		submit(t, p, call("r", 4)...)
		if _, err := New(context.Background(), Options{Profile: defaultProfile(t), Store: m, Metrics: NewMetrics(prometheus.NewRegistry())}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(inOrder(t, calls("r", 5)).Run, verdictOf(t, m, "r").Run, regardlessOfArrival); diff != "" {
			t.Errorf("after a crash (-want +got):\n%s", diff)
		}
		stop()
	})
}

func TestARowLostWithAFailedCommitIsWrittenAtTheNextStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		p, stop := start(t, Options{Store: m})
		submit(t, p, call("r", 0)...)
		submit(t, p, call("r", 1)...) // its row is due
		m.mu.Lock()
		m.fail = errFull
		m.mu.Unlock()
		if _, err := p.Submit(context.Background(), &Submission{Events: call("r", 2)}); !errors.Is(err, errFull) {
			t.Errorf("error %v, want %v", err, errFull)
		}
		m.mu.Lock()
		m.fail = nil
		m.mu.Unlock()
		submit(t, p, call("s", 0)...) // all of its rows are written
		stop()
		_, stop = start(t, Options{Store: m})
		if n := verdictOf(t, m, "r").Run.Metrics.ToolCalls; n != 2 {
			t.Errorf("the row has %d calls, want 2", n)
		}
		stop()
	})
}
