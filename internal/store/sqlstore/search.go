package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
)

// searchSQL is the SQL of the full-text index that differs between the databases. The table search has a row with the words of each
// indexed event. Its rowid is searchID.
type searchSQL struct {
	insert string // inserts rowid and words, if the event with the arrival exists
	match  string // the condition for the words of a query
	quote  string // precedes and follows each word
	and    string // separates the words
	clear  string
}

var (
	sqliteSearch = searchSQL{
		insert: `INSERT INTO search (rowid, words) SELECT $1, $2 WHERE EXISTS (SELECT 1 FROM events WHERE arrival = $3)`,
		match:  `search MATCH $1`, quote: `"`, and: " AND ",
		clear: `INSERT INTO search (search) VALUES ('delete-all')`,
	}
	postgresSearch = searchSQL{
		insert: `INSERT INTO search (rowid, words) SELECT CAST($1 AS BIGINT), array_to_tsvector(string_to_array($2, ' '))
			WHERE EXISTS (SELECT 1 FROM events WHERE arrival = $3) ON CONFLICT DO NOTHING`,
		match: `words @@ CAST($1 AS TSQUERY)`, quote: `'`, and: " & ",
		clear: `TRUNCATE search`,
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
	after, err := s.indexedUpTo(ctx)
	if err != nil {
		return 0, err
	}
	entries, err := s.unindexed(ctx, after, most)
	if err != nil || len(entries) == 0 {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w, err := s.begin(ctx)
	if err != nil {
		return 0, fmt.Errorf("begin to index events: %w", err)
	}
	defer w.release()
	if err := s.writeIndex(ctx, w.tx, entries); err != nil {
		return 0, errors.Join(fmt.Errorf("index events: %w", err), w.tx.Rollback())
	}
	if err := w.tx.Commit(); err != nil {
		return 0, fmt.Errorf("finish to index events: %w", err)
	}
	return len(entries), nil
}

// searchEntry is an event in the index.
type searchEntry struct {
	run, arrival int64
	words        string
}

// unindexed returns the entries of the events after an arrival.
func (s *Store) unindexed(ctx context.Context, after int64, most int) (entries []searchEntry, err error) {
	var body sql.RawBytes
	size := 0
	err = s.each(ctx, `SELECT run, arrival, body FROM events WHERE arrival > $1 AND arrival <= $3 ORDER BY arrival LIMIT $2`, []any{after, most, s.settled()}, func(row scanner) error {
		var e searchEntry
		if err := row.Scan(&e.run, &e.arrival, &body); err != nil {
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

// settled returns the arrival up to which no event can come any more.
func (s *Store) settled() int64 {
	if !s.cluster {
		return math.MaxInt64
	}
	return store.ArrivalAt(time.Now().Add(-store.ArrivalWindow), Partitions)
}

func (s *Store) writeIndex(ctx context.Context, tx *sql.Tx, entries []searchEntry) error {
	insert, err := tx.PrepareContext(ctx, s.search.insert)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.words == "" {
			continue
		}
		if _, err := insert.ExecContext(ctx, searchID(e.run, e.arrival), e.words, e.arrival); err != nil {
			return errors.Join(err, insert.Close())
		}
	}
	if err := insert.Close(); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO settings (name, value) VALUES ('indexed', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
		strconv.AppendInt(nil, entries[len(entries)-1].arrival, 10))
	return err
}

// indexedUpTo returns the arrival of the last event that was indexed, or 0.
func (s *Store) indexedUpTo(ctx context.Context) (arrival int64, err error) {
	var text []byte
	err = s.read.QueryRowContext(ctx, `SELECT value FROM settings WHERE name = 'indexed'`).Scan(&text)
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

// clearSearch deletes the index.
func (s *Store) clearSearch(ctx context.Context) error {
	after, err := s.indexedUpTo(ctx)
	if err != nil || after == 0 {
		return err
	}
	for _, query := range []string{s.search.clear, `DELETE FROM settings WHERE name = 'indexed'`} {
		if _, err := s.write.ExecContext(ctx, query); err != nil {
			return fmt.Errorf("delete the full-text index: %w", err)
		}
	}
	return nil
}

// unindex deletes an event from the index.
func (w *writing) unindex(ctx context.Context, run, arrival int64) error {
	if !w.searchable {
		return nil
	}
	return w.exec(ctx, "delete an event from the index", `DELETE FROM search WHERE rowid = $1`, searchID(run, arrival))
}

// unindexRun deletes the events of a run from the index.
func (w *writing) unindexRun(ctx context.Context, run int64) error {
	if !w.searchable {
		return nil
	}
	return w.exec(ctx, "delete a run from the index", `DELETE FROM search WHERE rowid BETWEEN $1 AND $2`, searchID(run, 0), searchID(run+1, 0)-1)
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
	query := fmt.Sprintf(`SELECT rowid FROM search WHERE %s AND rowid < $2 ORDER BY rowid DESC LIMIT %d`, s.search.match, searchPage)
	before := searchID(1<<(63-arrivalBits)-1, 0)
	for range searchRounds {
		read := 0
		err = s.each(ctx, query, []any{strings.Join(words, s.search.and), before}, func(row scanner) error {
			var id int64
			err := row.Scan(&id)
			read++
			if run := id >> arrivalBits; len(runs) == 0 || runs[len(runs)-1] != run {
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
		before = searchID(runs[len(runs)-1], 0) // the run is found, so its other events are skipped
	}
	return runs[:min(len(runs), maxFound)], nil
}
