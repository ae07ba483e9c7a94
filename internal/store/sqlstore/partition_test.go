package sqlstore_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/internal/store/sqlstore"
	"github.com/unloop-ai/unloop/internal/store/storetest/postgres"
)

// openCluster opens a store as a server of a cluster does.
func openCluster(t *testing.T, dsn string) *sqlstore.Store {
	t.Helper()
	s, err := sqlstore.Open(t.Context(), dsn, sqlstore.Options{Cluster: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func renew(t *testing.T, s *sqlstore.Store, name string) sqlstore.Owned {
	t.Helper()
	owned, err := s.Renew(t.Context(), store.Server{Name: name, Address: name, Works: true})
	if err != nil {
		t.Fatal(err)
	}
	return owned
}

// batchOf is a batch of one event of a run of the partition.
func batchOf(partition, k int, sequence uint64) *store.Batch {
	number := int64(sqlstore.Partitions + partition)
	arrival := number + int64(k*sqlstore.Partitions)
	at := time.Unix(int64(k), 0).UTC()
	return &store.Batch{
		Runs:     []store.Run{{Number: number, ID: fmt.Sprint("r", partition), Status: store.Running, Started: at, Updated: at, Arrival: arrival}},
		Events:   []store.Event{{Arrival: arrival, Run: number, ID: fmt.Sprint("e", k), Position: store.Position{Tie: arrival}, Received: at, Body: []byte(`{}`)}},
		Sequence: sequence, Flushed: arrival,
	}
}

func TestServersShareThePartitions(t *testing.T) {
	dsn := postgres.Database(t)
	a, b := openCluster(t, dsn), openCluster(t, dsn)
	if got := len(renew(t, a, "a").Epochs); got != sqlstore.Partitions {
		t.Fatalf("the first server owns %d", got)
	}
	if got := renew(t, b, "b"); len(got.Epochs) != 0 {
		t.Fatalf("the second takes %v from a server that is alive", got.Epochs)
	}
	owned := renew(t, a, "a")
	var expires time.Time
	postgres.Value(t, dsn, `SELECT expires FROM servers WHERE name = 'a'`, &expires)
	if lease := expires.Sub(owned.Now); lease <= 0 || lease > 3*time.Second {
		t.Errorf("the lease ends %v after its renewal, want at most 3s", lease)
	}
	if owned.Surplus != sqlstore.Partitions/2 {
		t.Errorf("the first has %d too many", owned.Surplus)
	}
	if err := a.Release(t.Context(), "a", []int{0, 1, 2}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[int]int64{0: 2, 1: 2, 2: 2}, renew(t, b, "b").Epochs); diff != "" {
		t.Errorf("what was given up gets another owner and epoch: %s", diff)
	}
	if err := a.Leave(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	var left int
	if postgres.Value(t, dsn, `SELECT COUNT(*) FROM partitions WHERE owner = 'a'`, &left); left != 0 {
		t.Errorf("a server that left still owns %d partitions", left)
	}
	if got := len(renew(t, b, "b").Epochs); got != sqlstore.Partitions {
		t.Errorf("the last server owns %d", got)
	}
	servers, partitions, err := b.Cluster(t.Context())
	if err != nil || len(servers) != 1 || len(partitions) != sqlstore.Partitions || partitions[9].Owner != "b" {
		t.Errorf("%v, %v, %v", servers, partitions, err)
	}
}

func TestAnOwnerThatLostItsPartitionWritesNothing(t *testing.T) {
	dsn := postgres.Database(t)
	a, b := openCluster(t, dsn), openCluster(t, dsn)
	old := a.Partition(5, renew(t, a, "a").Epochs[5])
	if _, err := old.Commit(t.Context(), batchOf(5, 1, 10)); err != nil {
		t.Fatal(err)
	}
	postgres.Exec(t, dsn, `UPDATE servers SET expires = clock_timestamp() - INTERVAL '1 s' WHERE name = 'a'`)
	young := b.Partition(5, renew(t, b, "b").Epochs[5])
	for _, tc := range []struct {
		name   string
		commit func() error
	}{
		{"alone", func() error { _, err := old.Commit(t.Context(), batchOf(5, 2, 11)); return err }},
		{"together", func() error { return old.CommitTogether(t.Context(), []*store.Batch{batchOf(5, 2, 11)}) }},
	} {
		if err := tc.commit(); !errors.Is(err, store.ErrPartition) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
	if err := young.CommitTogether(t.Context(), []*store.Batch{batchOf(5, 3, 12)}); err != nil {
		t.Fatal(err)
	}
	var ids []string
	err := b.Events(t.Context(), sqlstore.Partitions+5, store.Start, func(e *store.Event) error {
		ids = append(ids, e.ID)
		return nil
	})
	if diff := cmp.Diff([]string{"e1", "e3"}, ids); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	if at, err := young.Position(t.Context()); err != nil || at.Sequence != 12 {
		t.Errorf("%+v, %v", at, err)
	}
	if arrival, number, err := young.Last(t.Context()); err != nil || arrival != 4*sqlstore.Partitions+5 || number != sqlstore.Partitions+5 {
		t.Errorf("%d, %d, %v", arrival, number, err)
	}
}

func TestNothingIsWrittenBehindACommitThatFailed(t *testing.T) {
	s := openCluster(t, postgres.Database(t))
	p := s.Partition(0, renew(t, s, "a").Epochs[0])
	ended, end := context.WithCancel(t.Context())
	end()
	if err := p.CommitTogether(ended, []*store.Batch{batchOf(0, 1, 1)}); !errors.Is(err, store.ErrPartition) {
		t.Fatalf("%v", err)
	}
	if err := p.CommitTogether(t.Context(), []*store.Batch{batchOf(0, 2, 2)}); !errors.Is(err, store.ErrPartition) {
		t.Errorf("a later message hides the one that is missing: %v", err)
	}
	if at, err := p.Position(t.Context()); err != nil || at.Sequence != 0 {
		t.Errorf("%+v, %v", at, err)
	}
}

func TestNoticesOfAServerThatHasEndedAreTaken(t *testing.T) {
	s, ctx := openCluster(t, postgres.Database(t)), t.Context()
	p := s.Partition(0, renew(t, s, "a").Epochs[0])
	b := batchOf(0, 1, 1)
	for _, level := range []string{"raised", "block"} {
		b.Notices = append(b.Notices, store.Notice{Endpoint: "hook", Run: b.Runs[0].Number, Warning: "w", Level: level, Holder: "a", State: []byte("{}")})
	}
	if _, err := p.Commit(ctx, b); err != nil {
		t.Fatal(err)
	}
	take := func(holder string, want int64) {
		t.Helper()
		if taken, err := s.AdoptNotices(ctx, holder); taken != want || err != nil {
			t.Errorf("%s takes %d notices, error %v, want %d", holder, taken, err, want)
		}
	}
	renew(t, s, "b")
	take("b", 0) // the holder is alive
	if err := s.Leave(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	take("nobody", 0) // it has no lease
	if err := s.MarkSent(ctx, b.Notices[:1]); err != nil {
		t.Fatal(err)
	}
	take("b", 1)
	take("b", 0)
	if first, _, err := s.DueWarnings(ctx, "hook", "b", 9); len(first) != 1 || err != nil {
		t.Errorf("due %v, error %v", first, err)
	}
}

func TestAClusterAndASingleServerDoNotShareADatabase(t *testing.T) {
	ctx := t.Context()
	t.Run("a single server refuses the database of a cluster", func(t *testing.T) {
		dsn := postgres.Database(t)
		first, err := sqlstore.Open(ctx, dsn, sqlstore.Options{Cluster: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := sqlstore.Open(ctx, dsn, sqlstore.Options{}); !errors.Is(err, store.ErrShared) {
			t.Error(err)
		}
	})
	t.Run("a cluster refuses the runs of a single server", func(t *testing.T) {
		dsn := postgres.Database(t)
		single, err := sqlstore.Open(ctx, dsn, sqlstore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = single.Commit(ctx, batchOf(0, 1, 0))
		if err := errors.Join(err, single.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := sqlstore.Open(ctx, dsn, sqlstore.Options{Cluster: true}); !errors.Is(err, store.ErrShared) {
			t.Error(err)
		}
	})
}

// TestIdleRunsAreReadFromAnIndex holds what each of 64 owners asks every few seconds: it must not read the rows of all running runs.
func TestIdleRunsAreReadFromAnIndex(t *testing.T) {
	server := postgres.Database(t)
	s := openCluster(t, server+"&application_name=idle-runs")
	b := &store.Batch{}
	for k := range int64(3000) {
		number := sqlstore.Partitions * (k + 1)
		b.Runs = append(b.Runs, store.Run{Number: number, ID: fmt.Sprint(k), Status: store.Running, Updated: time.Unix(k, 0), Arrival: number})
	}
	if _, err := s.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	postgres.Exec(t, server, `ANALYZE runs`)
	idle, err := s.Partition(0, 0).Idle(t.Context(), time.Unix(2, 0), 10)
	if diff := cmp.Diff([]string{"0", "1"}, idle); diff != "" || err != nil {
		t.Errorf("error %v, idle runs (-want +got):\n%s", err, diff)
	}
	if err := s.Close(); err != nil { // what a connection counted is known at its end
		t.Fatal(err)
	}
	postgres.Left(t, server, "idle-runs")
	scans := texts(t, server, `SELECT coalesce(idx_scan, 0)::text FROM pg_stat_user_indexes WHERE schemaname = current_schema() AND indexrelname = 'runs_idle'`)
	if diff := cmp.Diff([]string{"1"}, scans); diff != "" {
		t.Errorf("scans of the index (-want +got):\n%s", diff)
	}
}

// shiftable returns the URL of an empty schema whose clock_timestamp a test can shift.
func shiftable(t *testing.T) (dsn string) {
	t.Helper()
	address, err := url.Parse(postgres.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	query := address.Query()
	query.Set("options", query.Get("options")+",pg_catalog") // behind the schema, whose function then is the first
	address.RawQuery = query.Encode()
	dsn = address.String()
	shiftClock(t, dsn, 0)
	return dsn
}

// shiftClock sets the clock of the database for one schema.
func shiftClock(t *testing.T, dsn string, by time.Duration) {
	t.Helper()
	postgres.Exec(t, dsn, fmt.Sprintf(`CREATE OR REPLACE FUNCTION clock_timestamp() RETURNS TIMESTAMPTZ LANGUAGE sql
		AS $$SELECT pg_catalog.clock_timestamp() + INTERVAL '%d s'$$`, by/time.Second))
}

func TestTheClockOfTheDatabaseSetBackFreesThePartitionsOfServersThatFailed(t *testing.T) {
	dsn := shiftable(t)
	a, b := openCluster(t, dsn), openCluster(t, dsn)
	shiftClock(t, dsn, 24*time.Hour)
	renew(t, a, "a")
	shiftClock(t, dsn, 0)
	if got := len(renew(t, b, "b").Epochs); got != sqlstore.Partitions {
		t.Errorf("after a server failed and the clock was set back by a day, another one owns %d partitions", got)
	}
	servers, _, err := b.Cluster(t.Context())
	if err != nil || len(servers) != 1 || servers[0].Name != "b" {
		t.Errorf("alive are %v, %v", servers, err)
	}
	if got := renew(t, a, "a"); len(got.Epochs) != 0 {
		t.Errorf("the server that lost its lease still owns %d partitions", len(got.Epochs))
	}
}

func TestAServerThatLeavesDeletesLeasesOfALaterClock(t *testing.T) {
	dsn := shiftable(t)
	a, b := openCluster(t, dsn), openCluster(t, dsn)
	shiftClock(t, dsn, 24*time.Hour)
	renew(t, a, "a")
	shiftClock(t, dsn, 0)
	renew(t, b, "b")
	if err := b.Leave(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	postgres.Exec(t, dsn, `DO $$ BEGIN IF EXISTS (SELECT FROM servers) THEN RAISE 'a server is left'; END IF; END $$`)
}

func TestTheFullTextIndexFollowsTheClockOfTheDatabase(t *testing.T) {
	for _, tc := range []struct {
		name  string
		clock time.Duration // of the database, before that of the server
	}{
		{"the clock of the server is a day ahead", -24 * time.Hour},
		{"the clock of the server is a day behind", 24 * time.Hour},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dsn := shiftable(t)
			shiftClock(t, dsn, tc.clock)
			s := openCluster(t, dsn)
			p := s.Partition(0, renew(t, s, "a").Epochs[0])
			now := time.Now().Add(tc.clock)
			for k, age := range []time.Duration{time.Minute, 0} { // the second one may come before another that gets a lower arrival
				b := batchOf(0, k+1, uint64(k+1))
				arrival := store.ArrivalAt(now.Add(-age), sqlstore.Partitions)
				b.Runs[0].Arrival, b.Events[0].Arrival, b.Flushed = arrival, arrival, arrival
				if err := p.CommitTogether(t.Context(), []*store.Batch{b}); err != nil {
					t.Fatal(err)
				}
			}
			if n, err := s.Index(t.Context(), 100); n != 1 || err != nil {
				t.Errorf("%d events are indexed, %v, want 1", n, err)
			}
		})
	}
}
