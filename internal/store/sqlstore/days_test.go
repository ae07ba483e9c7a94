package sqlstore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"

	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/internal/store/sqlstore"
	"github.com/unloop-ai/unloop/internal/store/storetest/postgres"
)

const day = 24 * time.Hour

// today is a noon that is the same for the whole test.
func today() time.Time { return time.Now().UTC().Truncate(day).Add(12 * time.Hour) }

// dated makes batches of runs that were created on given days, with three events each.
type dated struct {
	s       *sqlstore.Store
	arrival int64
	runs    int64
}

func (d *dated) batch(created time.Time, status string, updated time.Time) *store.Batch {
	d.runs++
	number := d.s.FirstNumber(created) + d.runs
	b := &store.Batch{Runs: []store.Run{{
		Number: number, ID: fmt.Sprint("run-", d.runs), Name: "a run", Status: status, Started: created, Ended: updated, Updated: updated,
	}}}
	for k := range int64(3) {
		d.arrival++
		b.Events = append(b.Events, store.Event{
			Arrival: d.arrival, Run: number, ID: fmt.Sprint("e", k), Received: updated, Position: store.Position{Sequence: k, Time: k, Tie: d.arrival},
			Body: []byte(`{"type":"message","text":"needle ` + fmt.Sprint(k) + `"}`),
		})
		b.Runs[0].Arrival = d.arrival
	}
	return b
}

func (d *dated) commit(t *testing.T, b *store.Batch) store.Run {
	t.Helper()
	duplicates, err := d.s.Commit(t.Context(), b)
	if err != nil || len(duplicates) > 0 {
		t.Fatalf("committing: error %v, duplicates %v", err, duplicates)
	}
	return b.Runs[0]
}

// texts returns the rows of a query with one column of text.
func texts(t testing.TB, dsn, query string, args ...any) []string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := conn.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	rows, err := conn.Query(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// partitionsOf returns the names of the partitions of events.
func partitionsOf(t *testing.T, dsn string) []string {
	t.Helper()
	return texts(t, dsn, `SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'events'::regclass ORDER BY 1`)
}

func named(days ...time.Time) (names []string) {
	for _, d := range days {
		names = append(names, d.Format("events_20060102"))
	}
	return append(names, "events_undated")
}

func TestPartitionsAreCreatedBeforeTheyAreNeededAndOnDemand(t *testing.T) {
	dsn := postgres.Database(t)
	s := open(t, dsn+"&pool_max_conns=2") // one of them reads
	now := today()
	if diff := cmp.Diff(named(now, now.Add(day), now.Add(2*day)), partitionsOf(t, dsn)); diff != "" {
		t.Errorf("at the start (-want +got):\n%s", diff)
	}
	d := &dated{s: s}
	for _, created := range []time.Time{now.Add(-40 * day), now.Add(9 * day), now.Add(9 * day), now} { // a clock that jumps
		d.commit(t, d.batch(created, store.Running, now))
	}
	if diff := cmp.Diff(named(now.Add(-40*day), now, now.Add(day), now.Add(2*day), now.Add(9*day)), partitionsOf(t, dsn)); diff != "" {
		t.Errorf("after the commits (-want +got):\n%s", diff)
	}
	if err := s.Maintain(t.Context(), now.Add(day)); err != nil {
		t.Fatal(err)
	}
	if got := partitionsOf(t, dsn); !slices.Contains(got, named(now.Add(3 * day))[0]) {
		t.Errorf("on the next day there are %v", got)
	}
	b := d.batch(now, store.Running, now)
	b.Events[0].Run = 1 << 60
	if _, err := s.Commit(t.Context(), b); err == nil {
		t.Error("a run whose number is too large was written")
	}
}

func TestTimesOfEventsCreateNoPartitions(t *testing.T) {
	dsn := postgres.Database(t)
	s := open(t, dsn)
	before := partitionsOf(t, dsn)
	d := &dated{s: s}
	b := d.batch(today(), store.Running, today())
	for k := range int64(200) {
		e := b.Events[0]
		d.arrival++
		e.ID, e.Arrival, e.Position = fmt.Sprint("hostile", k), d.arrival, store.Position{Time: (k - 100) * int64(400*day)}
		b.Events = append(b.Events, e)
	}
	d.commit(t, b)
	if diff := cmp.Diff(before, partitionsOf(t, dsn)); diff != "" {
		t.Errorf("partitions (-before +after):\n%s", diff)
	}
}

func TestAnIDIsUniqueInARunOfAnyDay(t *testing.T) {
	s := open(t, postgres.Database(t))
	now := today()
	d := &dated{s: s}
	old := d.batch(now.Add(-3*day), store.Running, now)
	d.commit(t, old)
	again := *old
	again.Events = slices.Clone(old.Events)
	for k := range again.Events {
		again.Events[k].Arrival, again.Events[k].Received = 1000+int64(k), now.Add(day)
	}
	again.Events[2].ID = "new"
	duplicates, err := s.Commit(t.Context(), &again)
	number := old.Runs[0].Number
	if diff := cmp.Diff([]store.EventRef{{Run: number, ID: "e0"}, {Run: number, ID: "e1"}}, duplicates); diff != "" || err != nil {
		t.Errorf("error %v, duplicates (-want +got):\n%s", err, diff)
	}
}

// TestReadsOfARunUseThePartitionOfItsDay counts which tables PostgreSQL looked into.
func TestReadsOfARunUseThePartitionOfItsDay(t *testing.T) {
	server := postgres.Database(t)
	dsn := server + "&application_name=reads-of-a-run"
	d := &dated{s: open(t, dsn)}
	now := today()
	var b *store.Batch
	for k := range 5 {
		b = d.batch(now.Add(time.Duration(k-4)*day), store.Completed, now)
		d.commit(t, b)
	}
	if n, err := d.s.Index(t.Context(), 100); n != 15 || err != nil {
		t.Fatalf("%d events are indexed, error %v", n, err)
	}
	if err := d.s.Close(); err != nil { // what a connection counted is known at its end
		t.Fatal(err)
	}
	const query = `SELECT relname || ' ' || coalesce(seq_scan, 0) || ' ' || coalesce(idx_scan, 0) FROM pg_stat_user_tables
		WHERE schemaname = current_schema() AND relname ~ '^(events|search)_' AND relname NOT LIKE '%' || $1 ORDER BY 1`
	own := now.Format("20060102")
	reader := open(t, dsn)
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	postgres.Left(t, server, "reads-of-a-run")
	before := texts(t, server, query, own)
	if len(before) < 10 {
		t.Fatalf("the counts are %v", before)
	}
	reader, err := sqlstore.OpenUnstarted(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	readAll(t, reader, b.Runs[0].Number)
	changed := b.Events[1]
	if _, err := reader.Commit(t.Context(), &store.Batch{
		Events:   b.Events,
		Analyses: []store.Reanalyzed{{Run: changed.Run, Arrival: changed.Arrival, Analysis: []byte(`{}`)}},
		Removed:  []store.EventRef{{Run: changed.Run, ID: "e2"}}, Deleted: []int64{changed.Run},
	}); err != nil {
		t.Error(err)
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	postgres.Left(t, server, "reads-of-a-run")
	if diff := cmp.Diff(before, texts(t, server, query, own)); diff != "" {
		t.Errorf("scans of the partitions of other days (-before +after):\n%s", diff)
	}
}

// everything is what can be read of a run.
type everything struct {
	Row      *store.Run
	All      []store.Event
	Next     []string
	Furthest store.Position
	Known    map[string]store.Position
	Page     []store.Event
	Back     []store.Event
	Since    []store.Event
	ByID     []store.Event
	Warnings []store.Warning
}

func readAll(t *testing.T, s *sqlstore.Store, number int64) (e everything) {
	t.Helper()
	ctx := t.Context()
	ids := []string{"e0", "e2", "none"}
	var errs []error
	for _, read := range []func() error{
		func() error {
			return s.Events(ctx, number, store.Start, func(x *store.Event) error {
				kept := *x
				kept.Body, kept.Analysis = slices.Clone(x.Body), slices.Clone(x.Analysis)
				e.All = append(e.All, kept)
				return nil
			})
		},
		func() error {
			return s.NextEvents(ctx, number, store.Start, 2, func(x *store.Event) error {
				e.Next = append(e.Next, x.ID)
				return nil
			})
		},
		func() (err error) { e.Furthest, err = s.Furthest(ctx, number); return err },
		func() (err error) { e.Known, err = s.Known(ctx, number, ids); return err },
		func() (err error) { e.Page, _, err = s.EventPage(ctx, number, store.Page{Limit: 100}); return err },
		func() (err error) {
			e.Back, _, err = s.EventPage(ctx, number, store.Page{Limit: 100, Backward: true})
			return err
		},
		func() (err error) { e.Since, _, err = s.EventsSince(ctx, number, 1, 100); return err },
		func() (err error) { e.ByID, err = s.EventsOf(ctx, number, ids); return err },
		func() (err error) { e.Warnings, err = s.Warnings(ctx, number); return err },
	} {
		errs = append(errs, read())
	}
	if diff := cmp.Diff(make([]error, len(errs)), errs, cmpopts.EquateErrors()); diff != "" {
		t.Errorf("errors of reads:\n%s", diff)
	}
	if len(e.All) == 0 || len(e.Since) == 0 || len(e.ByID) == 0 {
		t.Errorf("run %d has %d events, %d since and %d by id", number, len(e.All), len(e.Since), len(e.ByID))
	}
	return e
}

func TestADayIsDroppedOnceNoRunOfItIsLeft(t *testing.T) {
	dsn := postgres.Database(t)
	s := open(t, dsn)
	ctx, now, d := t.Context(), today(), &dated{s: s}
	const age = 30 * day
	old, mixed := now.Add(-40*day), now.Add(-31*day)
	var expired []string
	for range 3 {
		expired = append(expired, d.commit(t, d.batch(old, store.Completed, old.Add(time.Hour))).ID)
	}
	d.commit(t, d.batch(mixed, store.Completed, mixed)) // within the additional time of two days
	young := d.commit(t, d.batch(mixed, store.Running, now))
	veteran := d.commit(t, d.batch(mixed, store.Failed, mixed.Add(-2*day))) // as a restored clock leaves it
	if _, err := s.Index(ctx, 100); err != nil {
		t.Fatal(err)
	}
	older := func() []string {
		ids, err := s.OlderThan(ctx, now.Add(-age), 100)
		if err != nil {
			t.Fatal(err)
		}
		return ids
	}
	if diff := cmp.Diff(expired, older()); diff != "" {
		t.Fatalf("old runs (-want +got):\n%s", diff)
	}
	numbers := []int64{d.s.FirstNumber(old) + 1, d.s.FirstNumber(old) + 2, d.s.FirstNumber(old) + 3}
	if _, err := s.Commit(ctx, &store.Batch{Deleted: numbers}); err != nil {
		t.Fatal(err)
	}
	table := old.Format("events_20060102")
	if n := texts(t, dsn, `SELECT count(*)::text FROM `+table); n[0] != "9" {
		t.Errorf("of 9 events that go with the partition, %s are left", n)
	}
	if diff := cmp.Diff([]string{veteran.ID}, older()); diff != "" {
		t.Errorf("then (-want +got):\n%s", diff)
	}
	if err := s.Maintain(ctx, now); err != nil {
		t.Fatal(err)
	}
	if got := partitionsOf(t, dsn); slices.Contains(got, table) || !slices.Contains(got, mixed.Format("events_20060102")) {
		t.Errorf("partitions %v", got)
	}
	if _, err := s.Commit(ctx, &store.Batch{Deleted: []int64{veteran.Number}}); err != nil {
		t.Fatal(err)
	}
	if n := texts(t, dsn, `SELECT count(*)::text FROM `+mixed.Format("events_20060102")); n[0] != "6" {
		t.Errorf("a run of a day with other runs is deleted, and %s of the others' 6 events are left", n)
	}
	if e := readAll(t, s, young.Number); len(e.All) != 3 {
		t.Errorf("the young run has %d events", len(e.All))
	}
	if n := texts(t, dsn, `SELECT count(*)::text FROM search`); n[0] != "6" {
		t.Errorf("%s events are in the index", n)
	}
}

func TestADropThatWasInterruptedIsCompleted(t *testing.T) {
	dsn := postgres.Database(t)
	s := open(t, dsn)
	now := today()
	past := now.Add(-5 * day)
	d := &dated{s: s}
	number := d.commit(t, d.batch(past, store.Completed, past)).Number
	if _, err := s.Commit(t.Context(), &store.Batch{Deleted: []int64{number}}); err != nil {
		t.Fatal(err)
	}
	table := past.Format("events_20060102")
	postgres.Exec(t, dsn, `ALTER TABLE events DETACH PARTITION `+table)
	both := make(chan error, 2)
	for range cap(both) {
		go func() { both <- s.Maintain(t.Context(), now) }()
	}
	if err := errors.Join(<-both, <-both); err != nil {
		t.Fatal(err)
	}
	if err := s.Maintain(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	if left := texts(t, dsn, `SELECT relname::text FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relname ~ $1`, past.Format("20060102")); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
	d.commit(t, d.batch(past, store.Completed, past))
}
