package sqlstore_test

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/internal/store/sqlstore"
)

// saying returns an event of run 1 with a word.
func saying(arrival int64, id, word string) store.Event {
	return store.Event{
		Arrival: arrival, Run: 1, ID: id, Received: time.Unix(1, 0).UTC(), Position: store.Position{Sequence: int64(len(id))},
		Body: fmt.Appendf(nil, `{"event_id":%q,"type":"message","text":%q}`, id, word),
	}
}

// TestAnEventThatChangesWhileItIsIndexedIsIndexedAgain changes and deletes events between the two steps of Index.
func TestAnEventThatChangesWhileItIsIndexedIsIndexedAgain(t *testing.T) {
	for name, database := range databases {
		t.Run(name, func(t *testing.T) {
			s, ctx := open(t, database(t)), t.Context()
			commit := func(removed []string, events ...store.Event) {
				t.Helper()
				b := &store.Batch{Runs: []store.Run{{Number: 1, ID: "r", Started: time.Unix(1, 0)}}, Events: events}
				for _, id := range removed {
					b.Removed = append(b.Removed, store.EventRef{Run: 1, ID: id})
				}
				if _, err := s.Commit(ctx, b); err != nil {
					t.Fatal(err)
				}
			}
			around := func(between func()) {
				t.Helper()
				if err := s.IndexAround(ctx, 100, between); err != nil {
					t.Fatal(err)
				}
			}
			commit(nil, saying(1, "a", "former"), saying(2, "bb", "gone"), saying(3, "ccc", "stays"), saying(4, "dddd", ""))
			around(func() { commit([]string{"a", "bb", "dddd"}, saying(5, "a", "second"), saying(6, "dddd", "late")) })
			around(func() { commit([]string{"a"}, saying(7, "a", "third")) }) // where an event keeps its row, it is to be indexed again
			for n := 1; n > 0; {
				var err error
				if n, err = s.Index(ctx, 1); err != nil {
					t.Fatal(err)
				}
			}
			for word, want := range map[string]int{"former": 0, "second": 0, "third": 1, "gone": 0, "stays": 1, "late": 1} {
				if n, err := s.CountRuns(ctx, store.Filter{Text: word}); n != want || err != nil {
					t.Errorf("%q finds %d runs, want %d; error %v", word, n, want, err)
				}
			}
		})
	}
}

// TestEventsOfBeforeTheyKeptTheirRowsAreReadAndChanged migrates a file whose events have no column for changes.
func TestEventsOfBeforeTheyKeptTheirRowsAreReadAndChanged(t *testing.T) {
	path, ctx := filepath.Join(t.TempDir(), "former.db"), t.Context()
	if err := sqlstore.MigrateTo(ctx, path, 20); err != nil {
		t.Fatal(err)
	}
	var want []store.Event
	former, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	for k := range int64(100) {
		e := saying(k+1, fmt.Sprintf("%0*d", k+1, k), fmt.Sprint("word", k))
		want = append(want, e)
		_, err := former.Exec(`INSERT INTO events (arrival, run, id, at_sequence, at_time, at_tie, received, body, analysis) VALUES (?, 1, ?, ?, 0, 0, ?, ?, NULL)`,
			e.Arrival, e.ID, e.Position.Sequence, e.Received.UnixNano(), e.Body)
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := former.Close(); err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	all := func() (events []store.Event) {
		t.Helper()
		if events, _, err = s.EventsSince(ctx, 1, 0, 1000); err != nil {
			t.Fatal(err)
		}
		return events
	}
	if diff := cmp.Diff(want, all()); diff != "" {
		t.Errorf("after the migration (-before +after):\n%s", diff)
	}
	change := &store.Batch{Runs: []store.Run{{Number: 1, ID: "r", Started: time.Unix(1, 0), Arrival: 201}}, Removed: []store.EventRef{{Run: 1, ID: want[0].ID}, {Run: 1, ID: want[98].ID}}}
	first, late := saying(200, want[0].ID, "changed"), saying(201, want[98].ID, "changed")
	change.Events = []store.Event{first, late}
	if _, err := s.Commit(ctx, change); err != nil {
		t.Fatal(err)
	}
	want = append(append(want[1:98:98], want[99]), first, late)
	if diff := cmp.Diff(want, all()); diff != "" {
		t.Errorf("after a change (-want +got):\n%s", diff)
	}
	if arrival, _, err := s.Last(ctx); arrival != 201 || err != nil {
		t.Errorf("the last arrival is %d, error %v", arrival, err)
	}
}

func TestAnEventThatChangesAtItsPositionKeepsItsRow(t *testing.T) {
	path, ctx := filepath.Join(t.TempDir(), "rows.db"), t.Context()
	s := open(t, path)
	moved := saying(4, "bb", "moved")
	moved.Position.Sequence++
	for _, events := range [][]store.Event{
		{saying(1, "a", "former"), saying(2, "bb", "former")},
		{saying(3, "a", "changed"), saying(5, "ccc", "new")},
		{moved},
		{saying(6, "a", "changed again")},
	} {
		b := &store.Batch{Runs: []store.Run{{Number: 1, ID: "r", Started: time.Unix(1, 0)}}, Events: events}
		for _, e := range events {
			b.Removed = append(b.Removed, store.EventRef{Run: 1, ID: e.ID})
		}
		if _, err := s.Commit(ctx, b); err != nil {
			t.Fatal(err)
		}
	}
	reader, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	var rows string
	err = reader.QueryRowContext(ctx, `SELECT group_concat(id || ' ' || arrival || ' ' || changed, ', ' ORDER BY id) FROM events`).Scan(&rows)
	if err := errors.Join(err, reader.Close()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("a 1 6, bb 4 0, ccc 5 0", rows); diff != "" {
		t.Errorf("ids with their first and latest arrivals (-want +got):\n%s", diff)
	}
}
