package sqlstore_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/internal/store/sqlstore"
	"github.com/unloop-ai/unloop/internal/store/storetest/postgres"
)

// TestTablesWithoutPartitionsAreMigrated reads all of a database before and after the migration that partitions it.
func TestTablesWithoutPartitionsAreMigrated(t *testing.T) {
	dsn, ctx := postgres.Database(t), t.Context()
	older, err := sqlstore.OpenAt(ctx, dsn, 11, "mean_novelty DOUBLE PRECISION", "most_called TEXT")
	if err != nil {
		t.Fatal(err)
	}
	b := history11(40, 25)
	if _, err := older.Commit(ctx, b); err != nil {
		t.Fatal(err)
	}
	before := map[int64]everything{}
	for k := range b.Runs {
		e := readAll(t, older, b.Runs[k].Number)
		if e.Row, err = older.Run(ctx, b.Runs[k].ID); err != nil || e.Row == nil {
			t.Fatalf("run %v, error %v", e.Row, err)
		}
		before[b.Runs[k].Number] = e
	}
	if err := older.Close(); err != nil {
		t.Fatal(err)
	}
	postgres.Exec(t, dsn, `ALTER TABLE runs DROP COLUMN mean_novelty, DROP COLUMN most_called`)
	postgres.Exec(t, dsn, `INSERT INTO search (rowid, words) SELECT run << 36 | arrival, array_to_tsvector(ARRAY['word' || run]) FROM events`)
	postgres.Exec(t, dsn, `INSERT INTO settings (name, value) VALUES ('indexed', '1000')`)

	s := open(t, dsn)
	for number, want := range before {
		got := readAll(t, s, number)
		if got.Row, err = s.Run(ctx, want.Row.ID); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("run %d (-before +after):\n%s", number, diff)
		}
	}
	found, _, err := s.Runs(ctx, store.Filter{Text: "word7"}, store.Order{}, store.Page{Limit: 9})
	if err != nil || len(found) != 1 || found[0].Number != 7 {
		t.Errorf("the search finds %d runs, error %v", len(found), err)
	}
	if arrival, run, err := s.Last(ctx); arrival != 1000 || run != 40 || err != nil {
		t.Errorf("the last are %d and %d, error %v", arrival, run, err)
	}
	goesOn(t, s, b)
}

// history11 returns runs that are numbered as those before the migration.
func history11(runs, events int64) *store.Batch {
	b := &store.Batch{}
	arrival, started := int64(0), time.Date(2026, 5, 6, 0, 0, 0, 0, time.UTC)
	for number := int64(1); number <= runs; number++ {
		at := started.Add(time.Duration(number) * 5 * time.Hour)
		b.Runs = append(b.Runs, store.Run{
			Number: number, ID: fmt.Sprint("old-", number), Name: "a run", Status: store.Completed, Started: at, Ended: at, Updated: at, Arrival: arrival + events,
			MeanNovelty: 0.25, Preview: store.Preview{Novelty: []float64{0.5, 0}, Tools: []store.ToolCalls{{Name: "grep", Calls: 2}}},
		})
		b.Warnings = append(b.Warnings, store.Warning{Run: number, ID: fmt.Sprint("w", number), Rule: "same_call", Count: 3, Created: at})
		for k := range events {
			arrival++
			b.Events = append(b.Events, store.Event{
				Arrival: arrival, Run: number, ID: fmt.Sprint("e", k), Received: at, Position: store.Position{Sequence: events - k, Time: int64(k), Tie: arrival},
				Body: fmt.Appendf(nil, `{"event_id":"e%d"}`, k), Analysis: fmt.Appendf(nil, `{"repeats":%d}`, k),
			})
		}
	}
	return b
}

// goesOn sees that a run of before the migration gets further events, knows its ids, and can be deleted.
func goesOn(t *testing.T, s *sqlstore.Store, b *store.Batch) {
	t.Helper()
	ctx := t.Context()
	first := b.Events[0]
	first.Arrival = 2000
	more := first
	more.Arrival, more.ID = 2001, "more"
	duplicates, err := s.Commit(ctx, &store.Batch{Events: []store.Event{first, more}})
	if diff := cmp.Diff([]store.EventRef{{Run: 1, ID: "e0"}}, duplicates); diff != "" || err != nil {
		t.Errorf("error %v, duplicates (-want +got):\n%s", err, diff)
	}
	if n := len(readAll(t, s, 1).All); n != 26 {
		t.Errorf("the run has %d events", n)
	}
	if _, err := s.Commit(ctx, &store.Batch{Deleted: []int64{1}}); err != nil {
		t.Error(err)
	}
	if known, err := s.Known(ctx, 1, []string{"e0"}); err != nil || len(known) > 0 {
		t.Errorf("of the deleted run %v is known, error %v", known, err)
	}
	if n := len(readAll(t, s, 2).All); n != 25 {
		t.Errorf("the next run has %d events", n)
	}
}

// waitingNotices opens a database of the version before notices were due in the rows of deliveries.
func waitingNotices(t *testing.T, dsn string) {
	ctx := t.Context()
	older, err := sqlstore.Open(ctx, dsn, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 5, 6, 0, 0, 0, 0, time.UTC)
	_, err = older.Commit(ctx, &store.Batch{Runs: []store.Run{
		{Number: 1, ID: "r", Name: "a run", Status: store.Running, Started: at, Updated: at},
	}})
	if err := errors.Join(err, older.Close()); err != nil {
		t.Fatal(err)
	}
	integer, blob, text := "INTEGER", "BLOB", func(s string) string { return fmt.Sprintf("X'%x'", s) }
	if strings.HasPrefix(dsn, "postgres") {
		integer, blob, text = "BIGINT", "BYTEA", func(s string) string { return fmt.Sprintf(`'\x%x'`, s) }
	}
	meddle(t, dsn, `DROP INDEX deliveries_due`, `ALTER TABLE deliveries DROP COLUMN due`, `ALTER TABLE deliveries DROP COLUMN holder`,
		`CREATE TABLE waiting_notices (endpoint TEXT NOT NULL, run `+integer+` NOT NULL, warning TEXT NOT NULL, since `+integer+` NOT NULL,
			state `+blob+` NOT NULL, PRIMARY KEY (endpoint, warning))`,
		`INSERT INTO deliveries (warning, endpoint, level, at, run) VALUES ('sent', 'hook', 'raised', 1, 1), ('halted', 'hook', 'raised', 1, 1)`,
		`INSERT INTO waiting_notices VALUES ('hook', 1, 'new', 2, `+text(`{"run_id":"r","raised_at":3}`)+`),
			('hook', 1, 'sent', 3, `+text(`{"run_id":"r","raised_at":-1}`)+`),
			('hook', 1, 'halted', 4, `+text(`{"run_id":"r","raised_at":3,"decision":{"Run":1,"Action":"halt","Code":"c"}}`)+`)`,
		`DELETE FROM goose_db_version WHERE version_id >= 22`)

	s := open(t, dsn)
	first, _, err := s.DueWarnings(ctx, "hook", "", 9)
	want := []store.DueWarning{{Endpoint: "hook", Run: 1, RunID: "r", Warning: "new"}, {Endpoint: "hook", Run: 1, RunID: "r", Warning: "halted"}}
	if diff := cmp.Diff(want, first); diff != "" || err != nil {
		t.Errorf("error %v, due (-want +got):\n%s", err, diff)
	}
	for _, d := range want {
		due, _, err := s.DueLevels(ctx, d, "")
		if level := map[string]string{"new": "raised", "halted": "halt"}[d.Warning]; err != nil || len(due) != 1 || due[0].Level != level {
			t.Errorf("due of %s: %+v, error %v, want %s", d.Warning, due, err, level)
		}
	}
	for _, warning := range []string{"sent", "halted"} {
		if levels, err := s.SentLevels(ctx, "hook", warning); err != nil || !slices.Equal(levels, []string{"raised"}) {
			t.Errorf("sent of %s: %v, error %v", warning, levels, err)
		}
	}
}
