package sqlstore_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/internal/store/sqlstore"
	"github.com/unloop-ai/unloop/internal/store/storetest/postgres"
	"github.com/unloop-ai/unloop/policy"
)

func TestOpen(t *testing.T) {
	for name, database := range databases {
		t.Run(name, func(t *testing.T) {
			t.Run("committed records and secrets survive a restart", func(t *testing.T) { reopen(t, database(t)) })
			t.Run("a second server is kept out until the first has closed", func(t *testing.T) { secondServer(t, database(t)) })
			t.Run("tables of an earlier version are migrated", func(t *testing.T) { olderTables(t, database(t)) })
			t.Run("figures of an earlier version are kept", func(t *testing.T) { olderFigures(t, database(t)) })
			t.Run("notices that waited in an earlier version are due", func(t *testing.T) { waitingNotices(t, database(t)) })
			t.Run("tables of a later version are not changed", func(t *testing.T) { newerTables(t, database(t)) })
		})
	}
}

func reopen(t *testing.T, dsn string) {
	ctx := t.Context()
	first, err := sqlstore.Open(ctx, dsn, sqlstore.Options{Readers: 1})
	if err != nil {
		t.Fatal(err)
	}
	l := newLoad(10)
	if _, err := first.Commit(ctx, l.batch(100, 10)); err != nil {
		t.Fatal(err)
	}
	secret, err := first.Secret(ctx, "mask")
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	s := open(t, dsn)
	if arrival, run, err := s.Last(ctx); err != nil || arrival != 100 || run != 10 {
		t.Errorf("the last are %d and %d, error %v", arrival, run, err)
	}
	if again, err := s.Secret(ctx, "mask"); err != nil || !bytes.Equal(again, secret) {
		t.Errorf("the secret is another one, error %v", err)
	}
	if _, err := s.Commit(ctx, l.batch(100, 10)); err != nil {
		t.Error(err)
	}
}

// olderTables takes from tables what the migrations after the first gave them.
func olderTables(t *testing.T, dsn string) {
	ctx := t.Context()
	first, err := sqlstore.Open(ctx, dsn, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := newLoad(1).batch(1, 1)
	b.Runs[0].Preview.Novelty, b.Runs[0].SlowestEvent = []float64{1}, "e"
	for _, trace := range []string{"one", "two", "stray", "left"} {
		b.Spans = append(b.Spans, store.Span{Trace: trace, ID: "a", Received: time.Unix(1, 0)}, store.Span{Trace: trace, ID: "b", Received: time.Unix(2, 0)})
	}
	other := b.Runs[0]
	other.Number, other.ID = 2, "other"
	b.Runs = append(b.Runs, other)
	_, err = first.Commit(ctx, b)
	if err := errors.Join(err, first.Close()); err != nil {
		t.Fatal(err)
	}
	formerEvents(t, dsn)
	meddle(t, dsn, columnsOfLists...)
	meddle(t, dsn, columnsOfGuards...)
	meddle(t, dsn, columnsOfFigures...)
	meddle(t, dsn, tablesOfActs...)
	meddle(t, dsn, `ALTER TABLE events DROP COLUMN analysis`, `ALTER TABLE runs DROP COLUMN slowest`, `DROP TABLE traces`,
		`DROP INDEX runs_refold`, `ALTER TABLE runs DROP COLUMN refold`,
		`DROP INDEX deliveries_run`, `ALTER TABLE deliveries DROP COLUMN run`,
		`ALTER TABLE spans ADD COLUMN run BIGINT NOT NULL DEFAULT 0`, `CREATE INDEX spans_run ON spans (run, received)`,
		`UPDATE spans SET run = 1 WHERE trace = 'one' AND id = 'b'`, // what came first told of no run
		`UPDATE spans SET run = 1 WHERE trace = 'two' AND id = 'a'`, `UPDATE spans SET run = 2 WHERE trace = 'two' AND id = 'b'`,
		`UPDATE spans SET run = 99 WHERE trace = 'left'`, // a run that is no more
		`DELETE FROM goose_db_version WHERE version_id >= 2`)
	s := open(t, dsn)
	got, err := s.Run(ctx, b.Runs[0].ID)
	if err != nil || got == nil || got.Metrics.Events != 1 || len(got.Preview.Novelty) != 0 || got.SlowestEvent != "" || got.Refold != nil ||
		got.Status != store.Abandoned || got.Health.Status != policy.GradeStuck {
		t.Errorf("run %+v, error %v", got, err)
	}
	if _, err := s.Commit(ctx, &store.Batch{Runs: b.Runs}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Run(ctx, b.Runs[0].ID); err != nil || got.SlowestEvent != "e" {
		t.Errorf("after the second write the run is %+v, error %v", got, err)
	}
	eventsOfOlderTables(t, s, b.Events[0])
	spansOfOlderTables(t, s)
}

// formerEvents makes one table of PostgreSQL's events again, and takes away how SQLite finds events that changed.
func formerEvents(t *testing.T, dsn string) {
	t.Helper()
	if !strings.HasPrefix(dsn, "postgres://") {
		meddle(t, dsn, `DROP INDEX events_changed`, `ALTER TABLE events DROP COLUMN changed`, `DROP TABLE reindex`)
		return
	}
	meddle(t, dsn, `ALTER TABLE events DETACH PARTITION events_undated`, `DROP TABLE events`, `ALTER TABLE events_undated RENAME TO events`,
		`ALTER INDEX events_undated_arrival RENAME TO events_pkey`, `ALTER INDEX events_undated_id RENAME TO events_id`,
		`ALTER INDEX events_undated_order RENAME TO events_order`)
}

// tablesOfActs takes the tables away that hold what people did.
var tablesOfActs = []string{`DROP TABLE acts`, `DROP TABLE labels`, `DROP TABLE acknowledgements`, `DROP TABLE mutes`, `DROP TABLE alerts`}

// columnsOfGuards takes the columns away that tell of guards.
var columnsOfGuards = []string{
	`ALTER TABLE runs DROP COLUMN guarded_by`, `ALTER TABLE runs DROP COLUMN stop_calls`, `ALTER TABLE runs DROP COLUMN stop_tokens`,
	`ALTER TABLE runs DROP COLUMN stop_cost`, `ALTER TABLE decisions DROP COLUMN by_guard`,
	`UPDATE runs SET status = 'closed', health = 'Likely stuck'`,
}

// columnsOfLists takes away what lists of runs filter and sort by, and the full-text index.
var columnsOfLists = []string{
	`DROP INDEX IF EXISTS runs_list`, `DROP INDEX IF EXISTS runs_idle`, `DROP TABLE search`, `DROP TABLE IF EXISTS servers`, `DROP TABLE IF EXISTS partitions`,
	`ALTER TABLE runs DROP COLUMN agents`, `ALTER TABLE runs DROP COLUMN models`, `ALTER TABLE runs DROP COLUMN labels`,
	`ALTER TABLE runs DROP COLUMN events`, `ALTER TABLE runs DROP COLUMN duration`,
	`ALTER TABLE runs DROP COLUMN mean_latency`,
	`ALTER TABLE runs DROP COLUMN mean_novelty`, `ALTER TABLE runs DROP COLUMN most_called`, `DROP TABLE shadow_verdicts`,
	`DROP INDEX deliveries_due`, `ALTER TABLE deliveries DROP COLUMN due`, `ALTER TABLE deliveries DROP COLUMN holder`,
}

// columnsOfFigures brings back the columns of figures that one column replaced, with figures in them.
var columnsOfFigures = []string{
	`ALTER TABLE runs DROP COLUMN shown`,
	`ALTER TABLE runs ADD COLUMN events BIGINT NOT NULL DEFAULT 1`,
	`ALTER TABLE runs ADD COLUMN duration DOUBLE PRECISION NOT NULL DEFAULT 12.345`,
	`ALTER TABLE runs ADD COLUMN llm_calls BIGINT NOT NULL DEFAULT 3`,
	`ALTER TABLE runs ADD COLUMN retries BIGINT NOT NULL DEFAULT 4`,
	`ALTER TABLE runs ADD COLUMN handoffs BIGINT NOT NULL DEFAULT 5`,
	`ALTER TABLE runs ADD COLUMN errors BIGINT NOT NULL DEFAULT 9007199254740993`,
	`ALTER TABLE runs ADD COLUMN mean_latency DOUBLE PRECISION NOT NULL DEFAULT 0.25`,
	`ALTER TABLE runs ADD COLUMN busiest_tool TEXT DEFAULT 'a "tool"'`,
	`ALTER TABLE runs ADD COLUMN busiest_agent TEXT`,
}

// olderFigures sees that figures in columns of their own are moved into one.
func olderFigures(t *testing.T, dsn string) {
	ctx := t.Context()
	first, err := sqlstore.Open(ctx, dsn, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := newLoad(1).batch(1, 1)
	b.Runs[0].Metrics.ToolCalls, b.Runs[0].Metrics.Cost = 7, 0.5
	_, err = first.Commit(ctx, b)
	if err := errors.Join(err, first.Close()); err != nil {
		t.Fatal(err)
	}
	formerEvents(t, dsn)
	meddle(t, dsn, columnsOfLists...)
	meddle(t, dsn, columnsOfGuards...)
	meddle(t, dsn, columnsOfFigures...)
	meddle(t, dsn, tablesOfActs...)
	meddle(t, dsn, `ALTER TABLE events DROP COLUMN analysis`, `ALTER TABLE runs ADD COLUMN glance TEXT NOT NULL DEFAULT ''`,
		`UPDATE runs SET glance = '{"tools":[{"name":"\"news\":","calls":2}],"news":[0.5],"health":[{"number":1,"score":90}]}'`,
		`DELETE FROM goose_db_version WHERE version_id >= 6`)
	s := open(t, dsn)
	got, err := s.Run(ctx, b.Runs[0].ID)
	if err != nil || got == nil {
		t.Fatalf("run %v, error %v", got, err)
	}
	if n, err := s.Index(ctx, 10); n != 1 || err != nil {
		t.Errorf("of its event %d are indexed, error %v", n, err)
	}
	longer := b.Runs[0]
	longer.Number, longer.ID, longer.Metrics.Duration = 2, "longer", 12.5
	if _, err := s.Commit(ctx, &store.Batch{Runs: []store.Run{longer}}); err != nil {
		t.Fatal(err)
	}
	runs, _, err := s.Runs(ctx, store.Filter{}, store.Order{Key: store.ByDuration}, store.Page{Limit: 10})
	if err != nil || len(runs) != 2 || runs[0].ID != "longer" {
		t.Errorf("sorted by duration: %d runs, error %v", len(runs), err)
	}
	if got.MeanNovelty != 0.5 {
		t.Errorf("the mean novelty is %v, want that of its preview", got.MeanNovelty)
	}
	if runs, _, err = s.Runs(ctx, store.Filter{}, store.Order{Key: store.ByTool}, store.Page{Limit: 1}); err != nil || runs[0].ID != got.ID {
		t.Errorf("sorted by tools: %+v, error %v", runs, err)
	}
	tool := `a "tool"`
	metrics := store.Metrics{
		Events: 1, Duration: 12.345, LLMCalls: 3, ToolCalls: 7, Retries: 4, Handoffs: 5, Errors: 9007199254740993, Cost: 0.5, MeanLatency: 0.25,
		Tokens: b.Runs[0].Metrics.Tokens, MaxLatency: b.Runs[0].Metrics.MaxLatency, BusiestTool: &tool,
	}
	if diff := cmp.Diff(metrics, got.Metrics); diff != "" {
		t.Errorf("totals (-want +got):\n%s", diff)
	}
	preview := store.Preview{
		Tools: []store.ToolCalls{{Name: `"news":`, Calls: 2}}, Novelty: []float64{0.5}, Health: []store.HealthAt{{Number: 1, Score: 90}},
	}
	if diff := cmp.Diff(preview, got.Preview); diff != "" {
		t.Errorf("preview (-want +got):\n%s", diff)
	}
}

// eventsOfOlderTables sees that an event without an analysis is as it was, and can be given one.
func eventsOfOlderTables(t *testing.T, s *sqlstore.Store, want store.Event) {
	t.Helper()
	ctx := t.Context()
	for _, analysis := range [][]byte{nil, []byte(`{"call":"a"}`)} {
		if want.Analysis = analysis; analysis != nil {
			if _, err := s.Commit(ctx, &store.Batch{Analyses: []store.Reanalyzed{{Arrival: want.Arrival, Run: want.Run, Analysis: analysis}}}); err != nil {
				t.Fatal(err)
			}
		}
		got, _, err := s.EventPage(ctx, want.Run, store.Page{Limit: 10})
		if err != nil || len(got) != 1 || got[0].ID != want.ID || !bytes.Equal(got[0].Body, want.Body) || !bytes.Equal(got[0].Analysis, analysis) {
			t.Errorf("events %+v, error %v; want %+v", got, err, want)
		}
	}
}

// spansOfOlderTables sees that each trace belongs to the runs that its spans named.
func spansOfOlderTables(t *testing.T, s *sqlstore.Store) {
	t.Helper()
	ctx := t.Context()
	left := func(when string, want ...string) {
		t.Helper()
		var got []string
		for _, trace := range []string{"one", "two", "stray", "left"} {
			spans, err := s.Spans(ctx, trace)
			if err != nil {
				t.Fatal(err)
			}
			if len(spans) > 0 {
				got = append(got, fmt.Sprint(trace, len(spans)))
			}
		}
		if !slices.Equal(want, got) {
			t.Errorf("%s there are spans of %v, want %v", when, got, want)
		}
	}
	drop := func(before int64) {
		t.Helper()
		if err := s.DropOrphanSpans(ctx, time.Unix(before, 0)); err != nil {
			t.Fatal(err)
		}
	}
	drop(2)
	left("before the last span of no run is old", "one2", "two2", "stray2", "left2")
	drop(3)
	left("without those of no run", "one2", "two2")
	if shared, err := s.SharedTraces(ctx, 1); err != nil || !slices.Equal(shared, []string{"two"}) {
		t.Errorf("the first run shares %v, %v", shared, err)
	}
	if _, err := s.Commit(ctx, &store.Batch{Deleted: []int64{1}}); err != nil {
		t.Fatal(err)
	}
	left("without the first run", "two2")
}

// meddle does to a closed store's tables what no program does.
func meddle(t *testing.T, dsn string, statements ...string) {
	t.Helper()
	driver := "sqlite"
	if strings.HasPrefix(dsn, "postgres") {
		driver = "pgx"
	}
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range statements {
		_, failed := db.ExecContext(t.Context(), statement)
		err = errors.Join(err, failed)
	}
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

func secondServer(t *testing.T, dsn string) {
	first, err := sqlstore.Open(t.Context(), dsn, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sqlstore.Open(t.Context(), dsn, sqlstore.Options{}); !errors.Is(err, store.ErrInUse) {
		t.Errorf("opening it again gives the error %v", err)
	}
	if err := first.Writable(t.Context()); err != nil {
		t.Errorf("the first cannot write any more: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, dsn)
}

func newerTables(t *testing.T, dsn string) {
	if err := open(t, dsn).Close(); err != nil {
		t.Fatal(err)
	}
	meddle(t, dsn, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, true)`)
	for range 2 { // what holds the first up does not hold the second up
		_, err := sqlstore.Open(t.Context(), dsn, sqlstore.Options{})
		if err == nil || !strings.Contains(err.Error(), "newer unloop") {
			t.Fatalf("opening it gives the error %v", err)
		}
		if isFile := !strings.HasPrefix(dsn, "postgres"); isFile != strings.Contains(err.Error(), dsn) {
			t.Errorf("a file is named, and an address is not: %v", err)
		}
	}
}

// TestIdleRunsOfAFileAreReadFromAnIndex holds what a server asks every few seconds: it must not read the rows of all running runs.
func TestIdleRunsOfAFileAreReadFromAnIndex(t *testing.T) {
	plan, err := open(t, filepath.Join(t.TempDir(), "idle.db")).IdlePlan(t.Context())
	if want := "SEARCH runs USING INDEX runs_idle (updated<?)"; plan != want || err != nil {
		t.Errorf("the plan is %q, want %q, error %v", plan, want, err)
	}
}

func TestFile(t *testing.T) {
	t.Run("new files are readable only by their owner", func(t *testing.T) {
		folder := t.TempDir()
		s := open(t, filepath.Join(folder, "a b?c#d%20'é.db"))
		if err := s.Writable(t.Context()); err != nil {
			t.Fatal(err)
		}
		files, err := os.ReadDir(folder)
		if err != nil || len(files) != 4 {
			t.Fatalf("there are %v, error %v", files, err)
		}
		for _, file := range files {
			info, err := file.Info()
			if err != nil || info.Mode() != 0o600 || !strings.HasPrefix(file.Name(), "a b?c#d%20'é.db") {
				t.Errorf("%s has mode %v, error %v", file.Name(), info.Mode(), err)
			}
		}
	})
	folder := t.TempDir()
	text := filepath.Join(folder, "text")
	if err := os.WriteFile(text, bytes.Repeat([]byte("no database "), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ says, path, want string }{
		{"a folder that is not there is named", filepath.Join(folder, "none", "x.db"), "none/x.db: its folder does not exist"},
		{"a folder is no database", folder, "it is a folder: name a file in it"},
		{"a file that is no database is left alone", text, "the file is not a SQLite database: name another file"},
		{"an empty path is an error", "", "the path is empty"},
	} {
		t.Run(c.says, func(t *testing.T) {
			for range 2 {
				_, err := sqlstore.Open(t.Context(), c.path, sqlstore.Options{})
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("the error is %v", err)
				}
			}
		})
	}
}

func TestServer(t *testing.T) {
	t.Run("a server that lost its lock cannot write beside the next one", func(t *testing.T) {
		dsn := postgres.Database(t)
		first := open(t, dsn)
		postgres.Disconnect(t, dsn)
		second := open(t, dsn)
		l := newLoad(1)
		if _, err := first.Commit(t.Context(), l.batch(1, 1)); !errors.Is(err, store.ErrInUse) {
			t.Errorf("committing gives the error %v", err)
		}
		if _, err := second.Commit(t.Context(), l.batch(1, 1)); err != nil {
			t.Error(err)
		}
	})
	t.Run("a server that lost its lock to another, which has gone since, cannot write any more", func(t *testing.T) {
		dsn := postgres.Database(t)
		first := open(t, dsn)
		postgres.Disconnect(t, dsn)
		second, err := sqlstore.Open(t.Context(), dsn, sqlstore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := second.Close(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := first.Commit(t.Context(), newLoad(1).batch(1, 1)); !errors.Is(err, store.ErrFenced) {
				t.Errorf("committing gives the error %v", err)
			}
		}
		open(t, dsn)
	})
	t.Run("a server whose connections broke takes its lock again", func(t *testing.T) {
		dsn := postgres.Database(t)
		s := open(t, dsn)
		l := newLoad(1)
		for range 3 {
			postgres.Disconnect(t, dsn)
			if _, err := s.Commit(t.Context(), l.batch(1, 1)); err != nil {
				t.Fatal(err)
			}
		}
		if arrival, _, err := s.Last(t.Context()); err != nil || arrival != 3 {
			t.Errorf("the last arrival is %d, error %v", arrival, err)
		}
	})
	t.Run("a server that is kept out leaves no connection behind", func(t *testing.T) {
		dsn := postgres.Database(t)
		open(t, dsn)
		if _, err := sqlstore.Open(t.Context(), dsn+"&application_name=kept_out", sqlstore.Options{}); !errors.Is(err, store.ErrInUse) {
			t.Fatalf("opening it again gives the error %v", err)
		}
		noneLeft(t, dsn, "kept_out")
	})
	t.Run("no server answers", func(t *testing.T) {
		_, err := sqlstore.Open(t.Context(), "postgres://u:hunter2@127.0.0.1:1/x", sqlstore.Options{})
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the error is %v", err)
		}
	})
	t.Run("the error for an invalid address hides the password", func(t *testing.T) {
		_, err := sqlstore.Open(t.Context(), "postgres://u:hunter2@host:port/x?sslmode=what", sqlstore.Options{})
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the error is %v", err)
		}
	})
}

// noneLeft waits until no connection has the name, which is a moment after it was closed.
func noneLeft(t *testing.T, dsn, name string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	left := 1
	for round := 0; round < 100 && left > 0; round++ {
		err = conn.QueryRow(t.Context(), `SELECT count(*) FROM (SELECT pg_sleep(0.05)) w, pg_stat_activity WHERE application_name = $1`, name).Scan(&left)
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.Close(t.Context()); err != nil || left > 0 {
		t.Errorf("%d connections are left, error %v", left, err)
	}
}
