// Package storetest holds what every store of records must do, whatever the database: the pipeline and those who answer questions
// rely on it and on nothing else.
package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
)

// Store is all that a store can be asked for.
type Store interface {
	Last(ctx context.Context) (arrival, run int64, err error)
	Run(ctx context.Context, id string) (*store.Run, error)
	Checkpoints(ctx context.Context, run int64) ([]store.Checkpoint, error)
	Events(ctx context.Context, run int64, behind store.Position, each func(*store.Event) error) error
	NextEvents(ctx context.Context, run int64, behind store.Position, limit int, each func(*store.Event) error) error
	Furthest(ctx context.Context, run int64) (store.Position, error)
	Refolding(ctx context.Context) ([]string, error)
	Known(ctx context.Context, run int64, ids []string) (map[string]store.Position, error)
	Spans(ctx context.Context, trace string) ([]store.Span, error)
	SharedTraces(ctx context.Context, run int64) ([]string, error)
	Idle(ctx context.Context, before time.Time, limit int) ([]string, error)
	Unflushed(ctx context.Context) ([]string, error)
	Commit(ctx context.Context, b *store.Batch) (doubled []store.EventRef, err error)
	CommitTogether(ctx context.Context, batches []*store.Batch) error

	Runs(ctx context.Context, f store.Filter, p store.Page) (runs []store.Run, next string, err error)
	LatestRun(ctx context.Context) (*store.Run, error)
	RunsSince(ctx context.Context, arrival int64, limit int) ([]store.Run, error)
	EventPage(ctx context.Context, run int64, p store.Page) (events []store.Event, next string, err error)
	EventsSince(ctx context.Context, run, arrival int64, limit int) ([]store.Event, error)
	EventsOf(ctx context.Context, run int64, ids []string) ([]store.Event, error)
	Warnings(ctx context.Context, run int64) ([]store.Warning, error)
	Decisions(ctx context.Context, run int64, p store.Page) (decisions []store.Decision, next string, err error)
	Overview(ctx context.Context, since, until time.Time, step time.Duration) (store.Overview, error)

	Size(ctx context.Context) (bytes int64, err error)
	Oldest(ctx context.Context, limit int) ([]string, error)
	OlderThan(ctx context.Context, before time.Time, limit int) ([]string, error)
	Reclaim(ctx context.Context) error
	DropOrphanSpans(ctx context.Context, before time.Time) error

	Claim(ctx context.Context, endpoint string, run int64, warning, level string) (bool, error)
	Unclaim(ctx context.Context, endpoint, warning, level string) error
	Secret(ctx context.Context, name string) ([]byte, error)
	DropSecrets(ctx context.Context, from, before string) error
	Ping(ctx context.Context) error
	Writable(ctx context.Context) error
}

// Run tests a kind of store. open returns a new one that holds nothing, and leaves closing it to t.Cleanup.
func Run(t *testing.T, open func(t *testing.T) Store) {
	t.Helper()
	for _, c := range []struct {
		says string
		test func(t *testing.T, s Store)
	}{
		{"an empty store holds nothing", empty},
		{"a run comes back as it was", runsRoundTrip},
		{"events come back as they were, in the order of their run", eventsRoundTrip},
		{"what belongs to a run comes back as it was", restRoundTrips},
		{"times come back to the nanosecond, and absurd ones at the end of what can be", timesRoundTrip},
		{"a known event is left out and reported, whatever else the batch holds", doubledEvents},
		{"batches together are written in their order, or not at all", together},
		{"a batch is written again as it was, where nobody knows whether it was", writtenAgain},
		{"of a changed event the new form stays", changedEvents},
		{"of equal keys in a batch the last stays", lastOfEquals},
		{"a batch that fails writes nothing, and the next one succeeds", failingBatch},
		{"a commit whose context is done writes nothing", doneContext},
		{"what was worked out behind a position is undone", undone},
		{"thinned checkpoints are gone", thinned},
		{"a deleted run leaves nothing behind, and takes nothing with it", deletedRun},
		{"a deleted run takes the claims of warnings that went before it", deletedRunWithoutWarnings},
		{"a deleted run's id may come again in the same batch", deletedAndNew},
		{"ids and names may be any bytes", hostileText},
		{"a body of 1 MiB comes back", largeBodies},
		{"numbers that nobody can spend do not spoil the sums", absurdNumbers},
		{"each filter chooses its runs", filters},
		{"pages of runs stay where they are while runs start", runPages},
		{"events and decisions come by pages", eventPages},
		{"a page of large events is short, and the next goes on", heavyPages},
		{"a cursor of no list, or of another, is refused", badCursors},
		{"events since an arrival come in the order of arrival", eventsSince},
		{"runs since an arrival come in the order of their latest events", runsSince},
		{"events are found by id, however many are asked for", eventsByID},
		{"reading events stops where its caller wants", stopReading},
		{"idle runs and old ones are found, the oldest first", idleAndOld},
		{"a summary counts what began in its time", overview},
		{"a summary of no time, or of too many buckets, is refused", badBuckets},
		{"runs whose rows may be behind their events are told", unflushed},
		{"a run's events come some at a time, and their last position by itself", someEvents},
		{"runs that are marked to be folded again are found until the mark is gone", refolding},
		{"spans of no run are dropped when they are old", stray},
		{"a new analysis takes the place of the one before, and no deleted event comes back", newAnalyses},
		{"a deleted run takes its spans, but for those of traces of other runs", deletedSpans},
		{"an emptied run takes no spans", emptiedRun},
		{"the size grows with events and falls with deleted runs", size},
		{"who claims first is told so, until it is taken back", claims},
		{"a secret is made once", secrets},
		{"a store that stands says so", stands},
		{"whoever reads during commits sees whole ones", readersMeanwhile},
	} {
		t.Run(c.says, func(t *testing.T) { c.test(t, open(t)) })
	}
}

// noon is when the tests' runs start.
var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// run returns a run that just started.
func run(number int64, id string) store.Run {
	return store.Run{Number: number, ID: id, Name: "fix the tests", Project: "p", Status: store.Running, Started: noon, Updated: noon, Arrival: number}
}

// event returns an event at a place of its run.
func event(arrival, run int64, id string, sequence int64) store.Event {
	return store.Event{
		Arrival: arrival, Run: run, ID: id, Position: store.Position{Sequence: sequence, Time: sequence, Tie: arrival}, Received: noon,
		Body: []byte(`{"event_id":"` + id + `"}`), Analysis: []byte(`{"call":"` + id + `"}`),
	}
}

// tb is a test, or a round of one with drawn values.
type tb interface {
	Helper()
	Context() context.Context
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// commit writes a batch that holds nothing the store has.
func commit(t tb, s Store, b store.Batch) {
	t.Helper()
	doubled, err := s.Commit(t.Context(), &b)
	if err != nil {
		t.Fatalf("committing: %v", err)
	}
	if len(doubled) > 0 {
		t.Fatalf("committing left out %v", doubled)
	}
}

// must returns what a question was answered with.
func must[T any](t tb) func(answer T, err error) T {
	return func(answer T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
}

// eventsOf returns all events of a run, in its order.
func eventsOf(t tb, s Store, run int64, behind store.Position) (events []store.Event) {
	t.Helper()
	err := s.Events(t.Context(), run, behind, func(e *store.Event) error {
		kept := *e
		kept.Body, kept.Analysis = append([]byte(nil), e.Body...), append([]byte(nil), e.Analysis...)
		events = append(events, kept)
		return nil
	})
	if err != nil {
		t.Fatalf("reading events: %v", err)
	}
	return events
}

// ids returns the ids of events.
func ids(events []store.Event) []string {
	all := []string{}
	for k := range events {
		all = append(all, events[k].ID)
	}
	return all
}

// runIDs returns the ids of runs.
func runIDs(runs []store.Run) []string {
	all := []string{}
	for k := range runs {
		all = append(all, runs[k].ID)
	}
	return all
}
