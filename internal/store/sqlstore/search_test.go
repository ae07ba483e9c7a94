package sqlstore_test

import (
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/internal/store/sqlstore"
)

func TestDisablingTheSearchDeletesTheIndex(t *testing.T) {
	for name, database := range databases {
		t.Run(name, func(t *testing.T) {
			dsn, ctx := database(t), t.Context()
			b := newLoad(1).batch(3, 1)
			for k := range b.Events {
				b.Events[k].Body = []byte(`{"type":"message","text":"needle"}`)
			}
			found := func(o sqlstore.Options, write bool) (indexed, runs int) {
				s, err := sqlstore.Open(ctx, dsn, o)
				if err != nil {
					t.Fatal(err)
				}
				defer func() {
					if err := s.Close(); err != nil {
						t.Error(err)
					}
				}()
				if write {
					if _, err := s.Commit(ctx, b); err != nil {
						t.Fatal(err)
					}
				}
				indexed, err = s.Index(ctx, 100)
				if err != nil {
					t.Fatal(err)
				}
				if runs, err = s.CountRuns(ctx, store.Filter{Text: "needle"}); err != nil {
					t.Fatal(err)
				}
				return indexed, runs
			}
			for _, c := range []struct {
				says          string
				options       sqlstore.Options
				indexed, runs int
			}{
				{"at first", sqlstore.Options{}, 3, 1},
				{"once it is indexed", sqlstore.Options{}, 0, 1},
				{"switched off", sqlstore.Options{NoSearch: true}, 0, 0},
				{"switched on again", sqlstore.Options{}, 3, 1},
			} {
				if indexed, runs := found(c.options, c.says == "at first"); indexed != c.indexed || runs != c.runs {
					t.Errorf("%s: %d events are indexed and %d runs found, want %d and %d", c.says, indexed, runs, c.indexed, c.runs)
				}
			}
		})
	}
}

// TestEventsThatChangeWhileTheSearchIsDisabledAreIndexedOnce changes events before the search is disabled, meanwhile and while the index is built again.
func TestAFailedDeletionOfTheIndexDeletesNothing(t *testing.T) {
	for name, database := range databases {
		t.Run(name, func(t *testing.T) {
			dsn, ctx := database(t), t.Context()
			s := open(t, dsn)
			b := newLoad(1).batch(3, 1)
			for k := range b.Events {
				b.Events[k].Body = []byte(`{"type":"message","text":"needle"}`)
			}
			if _, err := s.Commit(ctx, b); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Index(ctx, 100); err != nil {
				t.Fatal(err)
			}
			before, err := s.IndexedRows(ctx)
			if err != nil || before == 0 {
				t.Fatalf("%d rows are indexed: %v", before, err)
			}
			if err := s.KeepIndexed(ctx); err != nil {
				t.Fatal(err)
			}
			if err := s.ClearSearch(ctx); err == nil {
				t.Fatal("how far events are indexed was deleted")
			}
			if after, err := s.IndexedRows(ctx); err != nil || after != before {
				t.Errorf("%d of %d rows are indexed after the failure: %v", after, before, err)
			}
		})
	}
}

func TestEventsThatChangeWhileTheSearchIsDisabledAreIndexedOnce(t *testing.T) {
	for name, database := range databases {
		t.Run(name, func(t *testing.T) {
			dsn, ctx, arrival := database(t), t.Context(), int64(0)
			with := func(o sqlstore.Options, do func(s *sqlstore.Store)) {
				t.Helper()
				s, err := sqlstore.Open(ctx, dsn, o)
				if err != nil {
					t.Fatal(err)
				}
				do(s)
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			write := func(s *sqlstore.Store, word string, ids ...string) {
				t.Helper()
				b := &store.Batch{Runs: []store.Run{{Number: 1, ID: "r", Started: time.Unix(1, 0)}}}
				for _, id := range ids {
					arrival++
					b.Events = append(b.Events, saying(arrival, id, word+id))
					b.Removed = append(b.Removed, store.EventRef{Run: 1, ID: id})
				}
				if _, err := s.Commit(ctx, b); err != nil {
					t.Fatal(err)
				}
			}
			index := func(s *sqlstore.Store, most, want int) {
				t.Helper()
				if n, err := s.Index(ctx, most); n != want || err != nil {
					t.Errorf("%d events are indexed, want %d; error %v", n, want, err)
				}
			}
			with(sqlstore.Options{}, func(s *sqlstore.Store) {
				write(s, "first", "a", "bb", "ccc", "dddd")
				index(s, 100, 4)
				write(s, "second", "a", "bb")
			})
			with(sqlstore.Options{NoSearch: true}, func(s *sqlstore.Store) { write(s, "third", "bb", "ccc") })
			with(sqlstore.Options{}, func(s *sqlstore.Store) {
				index(s, 2, 2)
				write(s, "fourth", "a", "dddd")
				for n := 1; n > 0; {
					var err error
					if n, err = s.Index(ctx, 1); err != nil {
						t.Fatal(err)
					}
				}
				found := map[string]bool{"fourtha": true, "thirdbb": true, "thirdccc": true, "fourthdddd": true}
				for _, word := range []string{"first", "second", "third", "fourth"} {
					for _, id := range []string{"a", "bb", "ccc", "dddd"} {
						if n, err := s.CountRuns(ctx, store.Filter{Text: word + id}); (n == 1) != found[word+id] || err != nil {
							t.Errorf("%q finds %d runs, error %v", word+id, n, err)
						}
					}
				}
				write(s, "", "a", "bb", "ccc", "dddd")
				for word := range found { // each event was in the index once
					if n, err := s.CountRuns(ctx, store.Filter{Text: word}); n != 0 || err != nil {
						t.Errorf("after the event changed, %q finds %d runs, error %v", word, n, err)
					}
				}
			})
			with(sqlstore.Options{NoSearch: true}, func(*sqlstore.Store) {})
			with(sqlstore.Options{}, func(s *sqlstore.Store) {
				index(s, 100, 4)
				index(s, 100, 0)
			})
		})
	}
}

// TestEventsIndexedAtOnceAreOneSegment holds what indexing costs: SQLite merges segments, so one for each event doubles the cost.
func TestEventsIndexedAtOnceAreOneSegment(t *testing.T) {
	s, b := open(t, filepath.Join(t.TempDir(), "index.db")), new(store.Batch)
	for arrival := range int64(12) {
		b.Events = append(b.Events, store.Event{
			Arrival: arrival + 1, Run: 3 - arrival%3, ID: strconv.FormatInt(arrival, 10), Received: time.Unix(1, 0),
			Body: []byte(`{"type":"message","text":"word"}`),
		})
	}
	if _, err := s.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Index(t.Context(), 100); n != 12 || err != nil {
		t.Fatalf("%d events are indexed, error %v", n, err)
	}
	if n, err := s.SearchSegments(t.Context()); n != 1 || err != nil {
		t.Errorf("the index has %d segments, error %v", n, err)
	}
}
