package sqlstore_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkInserts measures what SQLite alone takes for the rows of events: the same driver, table and settings as the store, and
// nothing besides. The events are of 1,000 runs in turn.
func BenchmarkInserts(b *testing.B) {
	for _, c := range []struct {
		name    string
		indexes []string
	}{
		{"no_index", nil},
		{"ids", []string{`CREATE UNIQUE INDEX events_id ON events (run, id)`}},
		{"ids_and_order", []string{
			`CREATE UNIQUE INDEX events_id ON events (run, id)`, `CREATE INDEX events_order ON events (run, at_sequence, at_time, at_tie)`,
		}},
	} {
		for _, size := range []int{500, 1600} {
			b.Run(fmt.Sprintf("%s/events=%d", c.name, size), func(b *testing.B) { insertEvents(b, c.indexes, size) })
		}
	}
}

func insertEvents(b *testing.B, indexes []string, size int) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "plain.db")+"?_pragma=journal_mode(wal)&_pragma=synchronous(full)"+
		"&_pragma=cache_size(-65536)&_pragma=wal_autocheckpoint(16000)")
	if err != nil {
		b.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	b.Cleanup(func() { _ = db.Close() })
	for _, statement := range append([]string{`CREATE TABLE events (arrival INTEGER PRIMARY KEY, run INTEGER NOT NULL, id TEXT NOT NULL,
		at_sequence INTEGER NOT NULL, at_time INTEGER NOT NULL, at_tie INTEGER NOT NULL, received INTEGER NOT NULL, body BLOB NOT NULL, analysis BLOB)`}, indexes...) {
		if _, err := db.Exec(statement); err != nil {
			b.Fatal(err)
		}
	}
	const together = 50 // rows of a statement
	insert, err := db.Prepare(`INSERT INTO events VALUES ` + strings.Repeat(`, (?, ?, ?, ?, ?, ?, ?, ?, ?)`, together)[2:])
	if err != nil {
		b.Fatal(err)
	}
	l := newLoad(1000)
	began := processor(b)
	for b.Loop() {
		tx, err := db.Begin()
		if err != nil {
			b.Fatal(err)
		}
		statement := tx.Stmt(insert)
		for range size / together {
			args := make([]any, 0, 9*together)
			for range together {
				l.arrival++
				args = append(args, l.arrival, l.arrival%1000, fmt.Sprintf("evt_%016x", l.source.Uint64()), l.arrival/1000, time.Now().UnixNano(), l.arrival,
					time.Now().UnixNano(), l.body, nil)
			}
			if _, err := statement.Exec(args...); err != nil {
				b.Fatal(err)
			}
		}
		if err := tx.Commit(); err != nil {
			b.Fatal(err)
		}
	}
	events := float64(size) * float64(b.N)
	b.ReportMetric(float64((processor(b)-began).Nanoseconds())/1e3/events, "cpu-µs/event")
	b.ReportMetric(events/b.Elapsed().Seconds(), "events/s")
}
