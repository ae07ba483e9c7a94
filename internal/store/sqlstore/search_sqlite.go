package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// noteReindex notes that the event with the key $1 is to be indexed again.
const noteReindex = `INSERT INTO reindex (arrival) VALUES ($1) ON CONFLICT DO NOTHING`

// due returns the first entries of events that changed after they were indexed. Of deleted ones it returns the key.
func (s *Store) due(ctx context.Context, indexed int64, most int) ([]searchEntry, error) {
	if !s.changes {
		return nil, nil
	}
	return s.entries(ctx, `SELECT COALESCE(run, 0), reindex.arrival, COALESCE(MAX(events.arrival, changed), 0), COALESCE(body, x'')
		FROM reindex LEFT JOIN events ON events.arrival = reindex.arrival WHERE reindex.arrival <= $1 ORDER BY reindex.arrival LIMIT $2`, indexed, most)
}

// writeAgain indexes events that were indexed before they changed. The commit that changed them has deleted them from the index.
func (s *Store) writeAgain(ctx context.Context, tx *sql.Tx, entries []searchEntry) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM reindex WHERE arrival IN (SELECT value FROM json_each($1))`, keys(entries)); err != nil {
		return err
	}
	return s.search.write(ctx, tx, entries)
}

// keys returns the keys of the events as JSON.
func keys(entries []searchEntry) string {
	text := []byte{'['}
	for k := range entries {
		if k > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, entries[k].arrival, 10)
	}
	return string(append(text, ']'))
}

// indexEach writes one entry after the other. SQLite keeps the words in memory until the transaction ends, unless the statement has a
// SELECT, or the rowids are not ascending. Then it would write a segment of the index for each event, and merge it with others.
func indexEach(ctx context.Context, tx *sql.Tx, entries []searchEntry) error {
	entries, err := remaining(ctx, tx, entries)
	if err != nil {
		return err
	}
	slices.SortFunc(entries, func(a, b searchEntry) int { return cmp.Compare(searchID(a.run, a.arrival), searchID(b.run, b.arrival)) })
	insert, err := tx.PrepareContext(ctx, `INSERT INTO search (rowid, words) VALUES ($1, $2)`)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.words == "" {
			continue
		}
		if _, err := insert.ExecContext(ctx, searchID(e.run, e.arrival), e.words); err != nil {
			return errors.Join(err, insert.Close())
		}
	}
	return insert.Close()
}

// remaining returns the entries whose events were not deleted since they were read. Events that changed since are to be indexed again,
// and their entries are not returned either.
func remaining(ctx context.Context, tx *sql.Tx, entries []searchEntry) ([]searchEntry, error) {
	latest := make(map[int64]int64, len(entries))
	err := eachRow(ctx, tx, `SELECT arrival, MAX(arrival, changed) FROM events WHERE arrival IN (SELECT value FROM json_each($1))`,
		[]any{keys(entries)}, func(row scanner) error {
			var key, last int64
			err := row.Scan(&key, &last)
			latest[key] = last
			return err
		})
	if err != nil {
		return nil, err
	}
	var same []searchEntry
	for _, e := range entries {
		switch last, there := latest[e.arrival]; {
		case !there:
		case last == e.latest:
			same = append(same, e)
		default:
			if _, err := tx.ExecContext(ctx, noteReindex, e.arrival); err != nil {
				return nil, fmt.Errorf("note an event to index: %w", err)
			}
		}
	}
	return same, nil
}
