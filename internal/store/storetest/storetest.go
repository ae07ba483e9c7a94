// Package storetest is the conformance test of stores. The pipeline and the APIs rely on the behaviour that it tests.
package storetest

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/store"
)

// Store is the interface of a store for all its users.
type Store interface {
	Last(ctx context.Context) (arrival, run int64, err error)
	FirstNumber(created time.Time) int64
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
	Commit(ctx context.Context, b *store.Batch) (duplicates []store.EventRef, err error)
	CommitTogether(ctx context.Context, batches []*store.Batch) error

	Runs(ctx context.Context, f store.Filter, o store.Order, p store.Page) (runs []store.Run, next string, err error)
	CountRuns(ctx context.Context, f store.Filter) (int, error)
	Index(ctx context.Context, most int) (indexed int, err error)
	LatestRun(ctx context.Context) (*store.Run, error)
	RunsSince(ctx context.Context, arrival int64, limit int) ([]store.Run, error)
	EventPage(ctx context.Context, run int64, p store.Page) (events []store.Event, next string, err error)
	EventsSince(ctx context.Context, run, arrival int64, limit int) (events []store.Event, more bool, err error)
	Arrivals(ctx context.Context, run int64, ids []string) (map[string]int64, error)
	EventsOf(ctx context.Context, run int64, ids []string) ([]store.Event, error)
	Warnings(ctx context.Context, run int64) ([]store.Warning, error)
	Decisions(ctx context.Context, run int64, p store.Page) (decisions []store.Decision, next string, err error)
	Overview(ctx context.Context, q store.OverviewQuery) (store.Overview, error)

	Size(ctx context.Context) (bytes int64, err error)
	Oldest(ctx context.Context, limit int) ([]string, error)
	OlderThan(ctx context.Context, before time.Time, limit int) ([]string, error)
	Reclaim(ctx context.Context) error
	Maintain(ctx context.Context, now time.Time) error
	DropOrphanSpans(ctx context.Context, before time.Time) error

	DueWarnings(ctx context.Context, endpoint, holder string, most int) (first []store.DueWarning, total int, err error)
	DueLevels(ctx context.Context, d store.DueWarning, holder string) (due []store.Notice, silenced bool, err error)
	SentLevels(ctx context.Context, endpoint, warning string) ([]string, error)
	MarkSent(ctx context.Context, notices []store.Notice) error
	DropNotices(ctx context.Context, notices []store.Notice) error
	DropDue(ctx context.Context, endpoint string) error
	KeepShadow(ctx context.Context, v store.ShadowVerdict) error
	ShadowDue(ctx context.Context, judge string, limit int) ([]string, error)
	ShadowCounts(ctx context.Context, judge string) ([]store.ShadowCount, error)
	ShadowRuns(ctx context.Context, q store.ShadowQuery) ([]store.ShadowRun, error)
	Act(ctx context.Context, a *store.Act) error
	Acts(ctx context.Context, p store.Page) (acts []store.Act, next string, err error)
	Mutes(ctx context.Context) ([]store.Act, error)
	Alerts(ctx context.Context) ([]store.Alert, error)
	LabelOf(ctx context.Context, run int64) (store.Label, error)
	Labels(ctx context.Context, most int) ([]store.Label, error)
	Acknowledged(ctx context.Context, run int64) ([]store.Acknowledgement, error)
	Secret(ctx context.Context, name string) ([]byte, error)
	DropSecrets(ctx context.Context, from, before string) error
	Ping(ctx context.Context) error
	Writable(ctx context.Context) error
}

// Run tests a store. The function open returns a new, empty store and registers its cleanup with t.Cleanup.
func Run(t *testing.T, open func(t *testing.T) Store) {
	t.Helper()
	for _, c := range []struct {
		says string
		test func(t *testing.T, s Store)
	}{
		{"an empty store has no records", empty},
		{"a stored run is read unchanged", runsRoundTrip},
		{"events come back as they were, in the order of their run", eventsRoundTrip},
		{"the records of a run come back as they were", restRoundTrips},
		{"times come back to the nanosecond, and absurd ones as the nearest possible time", timesRoundTrip},
		{"a known event is skipped and reported, and the rest of the batch is written", duplicateEvents},
		{"batches together are written in their order, or not at all", together},
		{"a batch can be committed twice", writtenAgain},
		{"a changed event has its new form", changedEvents},
		{"the last of several rows with one key is kept", lastOfEquals},
		{"a batch that fails writes nothing, and the next one succeeds", failingBatch},
		{"a commit whose context is done writes nothing", doneContext},
		{"results after a position are invalidated", invalidated},
		{"pruned checkpoints are deleted", prunedCheckpoints},
		{"deleting a run deletes all its records and no others", deletedRun},
		{"deleting a run deletes the notices of its deleted warnings", deletedRunWithoutWarnings},
		{"the id of a deleted run can be used in the same batch", deletedAndNew},
		{"ids and names may be any bytes", hostileText},
		{"a body of 1 MiB comes back", largeBodies},
		{"absurd numbers do not affect sums", absurdNumbers},
		{"each filter selects its runs", filters},
		{"a filter of names, decisions and metadata selects its runs", moreFilters},
		{"runs are counted as they are listed", counts},
		{"runs are sorted by each key, both ways, on any pages", sorted},
		{"a run is found by the words of an event", searchEvents},
		{"an event that is deleted or changed is not found by its former words", searchDeleted},
		{"of many matching runs the latest are found", searchMany},
		{"an overview compares with the period before, and groups runs", overviewGroups},
		{"an overview of some runs leaves the others out", overviewFilter},
		{"new runs do not move pages of runs", runPages},
		{"events and decisions are returned in pages", eventPages},
		{"a page of large events is short, and the next page continues", heavyPages},
		{"an invalid cursor and one of another list are rejected", badCursors},
		{"events since an arrival come in the order of arrival", eventsSince},
		{"runs since an arrival come in the order of their latest events", runsSince},
		{"events are found by id, however many are asked for", eventsByID},
		{"the caller can stop reading events", stopReading},
		{"idle runs and old ones are found, the oldest first", idleAndOld},
		{"an overview counts the runs that started in its time", overview},
		{"an overview of no time or of too many buckets is rejected", badBuckets},
		{"runs with unflushed rows are found", unflushed},
		{"a part of the events and the last position can be read", someEvents},
		{"marked runs are found until the mark is removed", refolding},
		{"old spans without a run are deleted", orphanSpans},
		{"a new analysis replaces the old one, and deleted events stay deleted", newAnalyses},
		{"deleting a run deletes its spans, except those of traces of other runs", deletedSpans},
		{"deleting an emptied run deletes no spans", emptiedRun},
		{"the size grows with events and falls with deleted runs", size},
		{"notices are due until they are sent, the longest waiting first", dueNotices},
		{"the first notice of a level is kept, until it is dropped", firstNotices},
		{"nobody is notified of an acknowledged warning", acknowledgedWarnings},
		{"nobody is notified of a muted rule for its tool and project, until it is unmuted", mutedWarnings},
		{"a shadow verdict is due until it is of the latest event and judge, and goes with its run", shadowVerdicts},
		{"a label is the latest that was given, and goes with its run", labels},
		{"the audit log has each act, the latest first, and keeps those of deleted runs", auditLog},
		{"alerts come back as they were, until they are deleted", alerts},
		{"a secret is created once", secrets},
		{"a working store reports that it works", working},
		{"readers see only complete commits", readersMeanwhile},
	} {
		t.Run(c.says, func(t *testing.T) { c.test(t, open(t)) })
	}
	changes(t, open)
}

// noon is when the tests' runs start.
var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// run returns a run that has just started.
func run(number int64, id string) store.Run {
	return store.Run{Number: number, ID: id, Name: "fix the tests", Project: "p", Status: store.Running, Started: noon, Updated: noon, Arrival: number}
}

// event returns an event at a position of its run.
func event(arrival, run int64, id string, sequence int64) store.Event {
	return store.Event{
		Arrival: arrival, Run: run, ID: id, Position: store.Position{Sequence: sequence, Time: sequence, Tie: arrival}, Received: noon,
		Body: []byte(`{"event_id":"` + id + `"}`), Analysis: []byte(`{"call":"` + id + `"}`),
	}
}

// tb is a test or a rapid test.
type tb interface {
	Helper()
	Context() context.Context
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// commit writes a batch without known events.
func commit(t tb, s Store, b store.Batch) {
	t.Helper()
	duplicates, err := s.Commit(t.Context(), &b)
	if err != nil {
		t.Fatalf("committing: %v", err)
	}
	if len(duplicates) > 0 {
		t.Fatalf("the commit skipped %v", duplicates)
	}
}

// must returns the answer of a call that must succeed.
func must[T any](t tb) func(answer T, err error) T {
	return func(answer T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
}

// eventsOf returns the events of a run after a position, in order.
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

// wholeBytes compares texts as a whole. cmp would compare each byte by reflection, which takes most of the time of a test of many events.
var wholeBytes = cmp.FilterValues(func(x, y []byte) bool { return len(x) > 0 && len(y) > 0 }, cmp.Comparer(bytes.Equal))
