package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
)

// searchSQL is the SQL of the full-text index that differs between the databases. The table search has a row with the words of each
// indexed event. In SQLite the key of the row is searchID. In PostgreSQL it is run and arrival, and the table has the partitions of the
// events.
type searchSQL struct {
	write  func(ctx context.Context, tx *sql.Tx, entries []searchEntry) error // inserts the events that still exist and have words
	found  string                                                             // selects the runs with events that match $1, before the run $2
	last   int64                                                              // more than the number of any run
	quote  string                                                             // precedes and follows each word
	and    string                                                             // separates the words
	forget string                                                             // deletes the event with the arrival $2 of the run $1
	drop   string                                                             // deletes the run $1
	clear  string
}

var (
	sqliteSearch = searchSQL{
		write: indexEach,
		found: `SELECT rowid >> 36 FROM search WHERE search MATCH $1 AND rowid < ($2 << 36) ORDER BY rowid DESC`, last: 1<<(63-arrivalBits) - 1,
		quote: `"`, and: " AND ",
		forget: `DELETE FROM search WHERE rowid = ($1 << 36) | ($2 & 68719476735)`,
		drop:   `DELETE FROM search WHERE rowid BETWEEN $1 << 36 AND (($1 + 1) << 36) - 1`,
		clear:  `INSERT INTO search (search) VALUES ('delete-all'); DELETE FROM reindex`,
	}
	postgresSearch = searchSQL{
		write: indexTogether,
		found: `SELECT run FROM search WHERE words @@ CAST($1 AS TSQUERY) AND run < $2 ORDER BY run DESC`, last: math.MaxInt64,
		quote: `'`, and: " & ",
		forget: `DELETE FROM search WHERE run = $1 AND arrival = $2`,
		drop:   `DELETE FROM search WHERE run = $1`,
		clear:  `TRUNCATE search`,
	}
)

const (
	arrivalBits  = 36      // bits of a searchID for the arrival
	maxIndexed   = 8 << 20 // bytes of bodies that Index reads at once
	maxFound     = 1000    // maximum number of runs that a search returns
	searchPage   = 2000    // indexed events that a search reads at once
	searchRounds = 64      // maximum number of pages that a search reads
)

// searchID returns the rowid of an event in search. The rows of a run are adjacent, and runs are in the order of their numbers.
func searchID(run, arrival int64) int64 { return run<<arrivalBits | arrival&(1<<arrivalBits-1) }

// Index adds the next events to the full-text index, in the order of arrival: at most the given number, and about 8 MiB. It returns the
// number of added events; 0 means that the index has all events. Commits wait while it writes. It may be called while others use the
// store, but not concurrently with itself.
func (s *Store) Index(ctx context.Context, most int) (indexed int, err error) {
	if !s.searchable {
		return 0, nil
	}
	after, err := indexedUpTo(ctx, s.read)
	if err != nil {
		return 0, err
	}
	entries, again, err := s.next(ctx, after, most)
	if err != nil || len(entries) == 0 {
		return 0, err
	}
	if err := s.index(ctx, entries, again); err != nil {
		return 0, err
	}
	return len(entries), nil
}

// next returns the entries to index next. again means that they were indexed before their events changed.
func (s *Store) next(ctx context.Context, after int64, most int) (entries []searchEntry, again bool, err error) {
	if entries, err = s.due(ctx, after, most); err != nil || len(entries) > 0 {
		return entries, true, err
	}
	entries, err = s.unindexed(ctx, after, most)
	return entries, false, err
}

// index writes entries as one transaction.
func (s *Store) index(ctx context.Context, entries []searchEntry, again bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	w, err := s.begin(ctx)
	if err != nil {
		return fmt.Errorf("begin to index events: %w", err)
	}
	defer w.release()
	write := s.writeIndex
	if again {
		write = s.writeAgain
	}
	if err := write(ctx, w.tx, entries); err != nil {
		return errors.Join(fmt.Errorf("index events: %w", err), w.tx.Rollback())
	}
	if err := w.tx.Commit(); err != nil {
		return fmt.Errorf("finish to index events: %w", err)
	}
	return nil
}

// searchEntry is an event in the index.
type searchEntry struct {
	run, arrival int64 // of its row
	latest       int64 // arrival, which tells whether the event was changed
	words        string
}

// unindexed returns the entries of the events after an arrival.
func (s *Store) unindexed(ctx context.Context, after int64, most int) (entries []searchEntry, err error) {
	settled, err := s.settled(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the clock of the database: %w", err)
	}
	return s.entries(ctx, `SELECT run, arrival, `+s.latest+`, body FROM events WHERE arrival > $1 AND arrival <= $3 ORDER BY arrival LIMIT $2`,
		after, most, settled)
}

// entries returns the entries of the events that a query selects: about 8 MiB.
func (s *Store) entries(ctx context.Context, query string, args ...any) (entries []searchEntry, err error) {
	var body sql.RawBytes
	size := 0
	err = s.each(ctx, query, args, func(row scanner) error {
		var e searchEntry
		if err := row.Scan(&e.run, &e.arrival, &e.latest, &body); err != nil {
			return err
		}
		event, err := store.Decode(body)
		if err == nil { // an unreadable event has no words
			e.words = store.Text(strings.Join(store.Words(event), " "))
		}
		entries = append(entries, e)
		if size += len(body); size > maxIndexed {
			return errFull
		}
		return nil
	})
	if err != nil && !errors.Is(err, errFull) {
		return nil, fmt.Errorf("read events to index: %w", err)
	}
	return entries, nil
}

// settled returns the arrival up to which no event can come any more. Arrivals follow the clock of the database.
func (s *Store) settled(ctx context.Context) (arrival int64, err error) {
	if !s.cluster {
		return math.MaxInt64, nil
	}
	var now time.Time
	err = s.read.QueryRowContext(ctx, `SELECT clock_timestamp()`).Scan(&now)
	return store.ArrivalAt(now.Add(-store.ArrivalWindow), Partitions), err
}

func (s *Store) writeIndex(ctx context.Context, tx *sql.Tx, entries []searchEntry) error {
	last := entries[len(entries)-1].arrival
	if err := s.search.write(ctx, tx, entries); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO settings (name, value) VALUES ('indexed', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
		strconv.AppendInt(nil, last, 10))
	return err
}

// indexTogether writes all entries with one statement of PostgreSQL.
func indexTogether(ctx context.Context, tx *sql.Tx, entries []searchEntry) error {
	entries = slices.DeleteFunc(entries, func(e searchEntry) bool { return e.words == "" })
	runs, arrivals, words := make([]int64, len(entries)), make([]int64, len(entries)), make([]string, len(entries))
	for k, e := range entries {
		runs[k], arrivals[k], words[k] = e.run, e.arrival, e.words
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO search (run, arrival, words)
		SELECT e.run, e.arrival, array_to_tsvector(string_to_array(i.words, ' '))
		FROM unnest(CAST($1 AS BIGINT[]), CAST($2 AS BIGINT[]), CAST($3 AS TEXT[])) AS i (run, arrival, words)
		JOIN events e ON e.run = i.run AND e.arrival = i.arrival ON CONFLICT DO NOTHING`, runs, arrivals, words)
	return err
}

// indexedUpTo returns the arrival of the last event that was indexed, or 0.
func indexedUpTo(ctx context.Context, q querier) (arrival int64, err error) {
	var text []byte
	err = q.QueryRowContext(ctx, `SELECT value FROM settings WHERE name = 'indexed'`).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err == nil {
		arrival, err = strconv.ParseInt(string(text), 10, 64)
	}
	if err != nil {
		return 0, fmt.Errorf("read how far events are indexed: %w", err)
	}
	return arrival, nil
}

// clearSearch deletes the index, as one transaction: how far events are indexed must never outlast the index, because the events up to
// there would not be indexed again.
func (s *Store) clearSearch(ctx context.Context) error {
	after, err := indexedUpTo(ctx, s.read)
	if err != nil || after == 0 {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w, err := s.begin(ctx)
	if err != nil {
		return fmt.Errorf("begin to delete the full-text index: %w", err)
	}
	defer w.release()
	for _, query := range []string{s.search.clear, `DELETE FROM settings WHERE name = 'indexed'`} {
		if _, err := w.tx.ExecContext(ctx, query); err != nil {
			return errors.Join(fmt.Errorf("delete the full-text index: %w", err), w.tx.Rollback())
		}
	}
	if err := w.tx.Commit(); err != nil {
		return fmt.Errorf("finish to delete the full-text index: %w", err)
	}
	return nil
}

// unindex deletes events from the index, which are deleted already. Those that it does not have yet will not come into it.
func (w *writing) unindex(ctx context.Context, deleted []searchEntry) error {
	if !w.searchable || len(deleted) == 0 {
		return nil
	}
	indexed, err := indexedUpTo(ctx, w.tx)
	if err != nil {
		return err
	}
	for _, e := range deleted {
		if e.arrival > indexed {
			continue
		}
		if _, err := w.tx.StmtContext(ctx, w.bulks.forgotten).ExecContext(ctx, e.run, e.arrival); err != nil {
			return fmt.Errorf("delete an event from the index: %w", err)
		}
	}
	return nil
}

// unindexRun deletes the events of a run from the index.
func (w *writing) unindexRun(ctx context.Context, run int64) error {
	if !w.searchable {
		return nil
	}
	return w.exec(ctx, "delete a run from the index", w.search.drop, run)
}

// runsWith returns the numbers of runs with an event that has all words of the text, the latest created first: at most maxFound.
func (s *Store) runsWith(ctx context.Context, text string) (runs []int64, err error) {
	words := store.QueryWords(text)
	if !s.searchable || len(words) == 0 {
		return nil, nil
	}
	for k := range words {
		words[k] = s.search.quote + words[k] + s.search.quote
	}
	query := fmt.Sprintf(`%s LIMIT %d`, s.search.found, searchPage)
	before := s.search.last
	for range searchRounds {
		read := 0
		err = s.each(ctx, query, []any{strings.Join(words, s.search.and), before}, func(row scanner) error {
			var run int64
			err := row.Scan(&run)
			read++
			if len(runs) == 0 || runs[len(runs)-1] != run {
				runs = append(runs, run)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("search events: %w", err)
		}
		if read < searchPage || len(runs) >= maxFound {
			break
		}
		before = runs[len(runs)-1] // the run is found, so its other events are skipped
	}
	return runs[:min(len(runs), maxFound)], nil
}
