package sqlstore_test

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/internal/store/sqlstore"
	"github.com/unloop-ai/unloop/internal/store/storetest/postgres"
	"github.com/unloop-ai/unloop/policy"
)

var (
	sizeEvents = flag.Int64("size.events", 20_000, "events of BenchmarkSize")
	sizeOfRun  = flag.Int64("size.of-run", 50, "events of each of its runs")
	sizeDays   = flag.Int64("size.days", 5, "days over which BenchmarkSize distributes the runs")
	sizeWords  = flag.Int("size.words", 50, "words of each event")
	sizeCopies = flag.Int64("size.copies", 0, "how often BenchmarkSize copies the runs to the days before")
	sizeFound  = flag.Int64("size.indexed-copies", 1, "how many of the copies the full-text index has, whose building takes longest")
)

const emptyDays = 40 // further days, with one run each

// sized is a PostgreSQL with a history in it.
type sized struct {
	s       *sqlstore.Store
	dsn     string
	h       *history
	arrival int64
	runs    int64
	start   time.Time
	numbers []int64 // of some runs
}

// batch returns the next runs with their events, and the words of these as PostgreSQL reads them for COPY.
func (z *sized) batch(created time.Time, runs int) (b *store.Batch, words []byte) {
	b = &store.Batch{}
	var text bytes.Buffer
	for range runs {
		z.runs++
		r := z.h.run(z.runs)
		r.Number, r.Started = z.s.FirstNumber(created)+z.runs, created
		r.Ended, r.Updated = created.Add(time.Minute), created.Add(time.Minute)
		if r.Warnings > 0 {
			b.Warnings = append(b.Warnings, store.Warning{Run: r.Number, ID: r.ID, Rule: "same_call_same_result", Tool: "bash", Count: 9, Message: "bash was called 9 times"})
		}
		for range *sizeOfRun {
			z.arrival++
			e := z.h.event(z.arrival, r.Number, *sizeWords)
			b.Events = append(b.Events, e)
			decoded, err := store.Decode(e.Body)
			if err != nil {
				panic(err)
			}
			fmt.Fprintf(&text, "%d\t%d\t'%s'\n", r.Number, e.Arrival, strings.Join(store.Words(decoded), "' '"))
		}
		r.Arrival = z.arrival
		if z.runs%80 == 0 {
			z.numbers = append(z.numbers, r.Number)
		}
		b.Runs = append(b.Runs, r)
	}
	return b, text.Bytes()
}

// fill writes the history. The index of words is built at the end, at once, which takes less time than a server's index in the background.
func (z *sized) fill(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, z.dsn)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, `DROP INDEX search_words`); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	batches, texts := make(chan *store.Batch, 2), make(chan []byte, 2)
	group.Go(func() error {
		defer close(batches)
		defer close(texts)
		total := *sizeEvents / *sizeOfRun
		for z.runs < total {
			created := z.start.Add(time.Duration(float64(z.runs) / float64(total) * float64(*sizeDays) * float64(day)))
			b, words := z.batch(created, int(min(80, total-z.runs)))
			for _, send := range []func() bool{
				func() bool { return sent(ctx, batches, b) },
				func() bool { return sent(ctx, texts, words) },
			} {
				if !send() {
					return ctx.Err()
				}
			}
		}
		return nil
	})
	group.Go(func() error {
		for b := range batches {
			if _, err := z.s.Commit(ctx, b); err != nil {
				return err
			}
		}
		return nil
	})
	group.Go(func() error {
		for words := range texts {
			if _, err := conn.PgConn().CopyFrom(ctx, bytes.NewReader(words), `COPY search (run, arrival, words) FROM STDIN`); err != nil {
				return err
			}
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return err
	}
	if err := z.copyRuns(context.WithoutCancel(ctx), conn); err != nil {
		return err
	}
	for _, statement := range []string{
		`SET maintenance_work_mem = '2GB'`, `CREATE INDEX search_words ON search USING gin (words)`,
		fmt.Sprintf(`INSERT INTO settings (name, value) VALUES ('indexed', '%d')`, z.arrival), `ANALYZE`,
	} {
		if _, err := conn.Exec(context.WithoutCancel(ctx), statement); err != nil {
			return err
		}
	}
	return nil
}

// copyRuns copies the runs of the history to the days before, which takes the server a fraction of the time of new ones. The copies have
// the same texts and other numbers, ids and times.
func (z *sized) copyRuns(ctx context.Context, conn *pgx.Conn) error {
	first, written := z.s.FirstNumber(z.start), z.numbers
	for k := int64(1); k <= *sizeCopies; k++ {
		earlier := z.start.Add(-time.Duration(k**sizeDays) * day)
		numbers, nanos, arrivals := first-z.s.FirstNumber(earlier), int64(z.start.Sub(earlier)), k*z.span()
		for _, c := range []struct {
			table, key string
			changed    map[string]string
		}{
			{"runs", "number", map[string]string{
				"number": minus("number", numbers), "id": fmt.Sprintf("id || '-%d'", k), "arrival": minus("arrival", arrivals),
				"started": minus("started", nanos), "ended": minus("ended", nanos), "updated": minus("updated", nanos),
			}},
			{"warnings", "run", map[string]string{"run": minus("run", numbers), "id": fmt.Sprintf("id || '-%d'", k)}},
			{"events", "run", map[string]string{"run": minus("run", numbers), "arrival": minus("arrival", arrivals)}},
			{"search", "run", map[string]string{"run": minus("run", numbers), "arrival": minus("arrival", arrivals)}},
		} {
			if c.table == "search" && k > *sizeFound {
				continue
			}
			if err := copyRows(ctx, conn, c.table, c.changed, fmt.Sprintf("%s >= %d", c.key, first)); err != nil {
				return err
			}
		}
		for _, number := range written {
			z.numbers = append(z.numbers, number-numbers)
		}
	}
	return nil
}

// span is more than the number of the events that are not copies.
func (z *sized) span() int64 { return *sizeEvents + (emptyDays+*sizeDays)**sizeOfRun }

func minus(column string, by int64) string { return fmt.Sprintf("%s - %d", column, by) }

// copyRows inserts the chosen rows of a table again, with changed columns.
func copyRows(ctx context.Context, conn *pgx.Conn, table string, changed map[string]string, chosen string) error {
	rows, err := conn.Query(ctx, `SELECT attname FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped`, table)
	if err != nil {
		return err
	}
	columns, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	values := make([]string, len(columns))
	for k, column := range columns {
		values[k] = cmp.Or(changed[column], column)
	}
	_, err = conn.Exec(ctx, fmt.Sprintf(`INSERT INTO %s (%s) SELECT %s FROM %[1]s WHERE %[4]s`, table, strings.Join(columns, ", "), strings.Join(values, ", "), chosen))
	return err
}

func sent[T any](ctx context.Context, to chan<- T, value T) bool {
	select {
	case to <- value:
		return true
	case <-ctx.Done():
		return false
	}
}

// newSized opens an empty PostgreSQL that has partitions for many days, and fills it.
func newSized(b *testing.B) *sized {
	dsn := postgres.Database(b)
	z := &sized{s: open(b, dsn), dsn: dsn, h: &history{source: rand.New(rand.NewPCG(1, 2))}}
	z.arrival = *sizeCopies * z.span() // the copies have lower ones
	z.h.words = rand.NewZipf(z.h.source, 1.1, 8, vocabulary)
	z.start = time.Now().UTC().Truncate(day).Add(-time.Duration(*sizeDays-1) * day)
	for k := range emptyDays + *sizeDays {
		batch, _ := z.batch(z.start.Add(time.Duration(k-emptyDays)*day), 1)
		if _, err := z.s.Commit(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	began := time.Now()
	if err := z.fill(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.Logf("%d runs with %d events each, and %d copies of them, in %v", z.runs, *sizeOfRun, *sizeCopies, time.Since(began).Round(time.Second))
	for _, line := range texts(b, dsn, `SELECT t || ': ' || pg_size_pretty(sum(pg_table_size(inhrelid))) || ', indexes ' || pg_size_pretty(sum(pg_indexes_size(inhrelid)))
		FROM unnest(ARRAY['events', 'search']) t JOIN pg_inherits ON inhparent = t::regclass GROUP BY t
		UNION ALL SELECT 'runs: ' || pg_size_pretty(pg_total_relation_size('runs'))`) {
		b.Log(line)
	}
	return z
}

// BenchmarkSize measures what the pages and the API ask of a PostgreSQL with many events. The flags -size.events and -size.days set how
// many, and on how many days.
func BenchmarkSize(b *testing.B) {
	z := newSized(b)
	s, ctx := z.s, b.Context()
	number := func() int64 { return z.numbers[z.h.source.IntN(len(z.numbers))] }
	loops := []policy.Action{policy.Warn, policy.Block, policy.Halt}
	page := store.Page{Limit: 200}
	list := func(f store.Filter, o store.Order) func() error {
		return func() error { _, _, err := s.Runs(ctx, f, o, page); return err }
	}
	count := func(f store.Filter) func() error {
		return func() error { _, err := s.CountRuns(ctx, f); return err }
	}
	for _, c := range []struct {
		says string
		ask  func() error
	}{
		{"events_of_a_run", func() error { _, _, err := s.EventPage(ctx, number(), page); return err }},
		{"events_of_a_run_from_its_end", func() error {
			_, _, err := s.EventPage(ctx, number(), store.Page{Limit: 200, Backward: true})
			return err
		}},
		{"events_since_an_arrival", func() error { _, _, err := s.EventsSince(ctx, number(), 1, 100); return err }},
		{"ids_that_are_known", func() error { _, err := s.Known(ctx, number(), []string{"e1", "e2", "e3"}); return err }},
		{"last_position_of_a_run", func() error { _, err := s.Furthest(ctx, number()); return err }},
		{"last_arrival", func() error { _, _, err := s.Last(ctx); return err }},
		{"list_of_all", list(store.Filter{}, store.Order{})},
		{"list_of_all/count", count(store.Filter{})},
		{"list_of_looping_by_name", list(store.Filter{Decisions: loops}, store.Order{Key: store.ByName, Ascending: true})},
		{"list_by_cost", list(store.Filter{}, store.Order{Key: store.ByCost})},
		{"list_of_a_tool_and_a_project", list(store.Filter{Tool: "tool_7", Project: "project-7"}, store.Order{})},
		{"list_of_a_rule", list(store.Filter{Warning: "same_call_same_result"}, store.Order{})},
		{"list_of_metadata", list(store.Filter{Label: "prompt=v7"}, store.Order{})},
		{"text_common", list(store.Filter{Text: "w0"}, store.Order{})},
		{"text_common/count", count(store.Filter{Text: "w0"})},
		{"text_two_words", list(store.Filter{Text: "w300 w500"}, store.Order{})},
		{"text_two_words/count", count(store.Filter{Text: "w300 w500"})},
		{"text_rare", list(store.Filter{Text: "w150000"}, store.Order{})},
		{"text_of_none", list(store.Filter{Text: "nothing has this"}, store.Order{})},
		{"text_common_looping_by_cost", list(store.Filter{Text: "w10", Decisions: loops}, store.Order{Key: store.ByCost})},
		{"overview_of_all_days", func() error {
			_, err := s.Overview(ctx, store.OverviewQuery{Filter: store.Filter{Since: z.start.Add(-time.Duration(*sizeCopies**sizeDays) * day), Until: z.start.Add(time.Duration(*sizeDays) * day)}, Step: time.Hour})
			return err
		}},
		{"index_500_events", func() error { return z.index(ctx) }},
		{"commit_500_events", func() error { b, _ := z.batch(time.Now(), 10); _, err := s.Commit(ctx, b); return err }},
	} {
		b.Run(c.says, func(b *testing.B) {
			for b.Loop() {
				if err := c.ask(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	z.expire(b)
}

// index writes 500 events and indexes them.
func (z *sized) index(ctx context.Context) error {
	b, _ := z.batch(time.Now(), 10)
	if _, err := z.s.Commit(ctx, b); err != nil {
		return err
	}
	_, err := z.s.Index(ctx, 500)
	return err
}

// expire reports what it takes to delete the first of the days.
func (z *sized) expire(b *testing.B) {
	ctx, began, deleted := b.Context(), time.Now(), 0
	first := z.s.FirstNumber(z.start)
	rows := texts(b, z.dsn, fmt.Sprintf(`SELECT number::text FROM runs WHERE number BETWEEN %d AND %d`, first, z.s.FirstNumber(z.start.Add(day))-1))
	ids, err := z.s.OlderThan(ctx, z.start.Add(day+time.Hour), 1)
	if err != nil || len(ids) != 1 {
		b.Fatalf("old runs %v, error %v", ids, err)
	}
	for len(rows) > 0 {
		batch := &store.Batch{}
		for _, row := range rows[:min(100, len(rows))] {
			var number int64
			if _, err := fmt.Sscan(row, &number); err != nil {
				b.Fatal(err)
			}
			batch.Deleted = append(batch.Deleted, number)
		}
		rows = rows[len(batch.Deleted):]
		deleted += len(batch.Deleted)
		if _, err := z.s.Commit(ctx, batch); err != nil {
			b.Fatal(err)
		}
	}
	records := time.Since(began)
	began = time.Now()
	if err := z.s.Maintain(ctx, z.start.Add(60*day)); err != nil {
		b.Fatal(err)
	}
	b.Logf("a day of %d runs is deleted: their records in %v, the partitions in %v", deleted, records.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
}
