package sqlstore

import (
	"context"
	"fmt"
	"strings"

	"github.com/unloop-ai/unloop/internal/store"
)

// A row of SQLite's table of events keeps its key when the event changes in its place: the arrival stays, and changed is the arrival of
// the new form. Package store knows only the latest arrival, which is the higher of both. PostgreSQL has no such column: it deletes and
// inserts, because an update of a row writes a new row and its index entries anyway. See ADR 20.

// atSamePlace is the end of the statement that changes events. It changes no event that got another position, because SQLite would
// write the entry in the index of positions for all.
const atSamePlace = ` ON CONFLICT (run, id) DO UPDATE SET changed = excluded.arrival, received = excluded.received, body = excluded.body,
	analysis = excluded.analysis WHERE at_sequence = excluded.at_sequence AND at_time = excluded.at_time AND at_tie = excluded.at_tie`

// sinceChanged selects the keys and latest arrivals of the first $3 events of the run $1 after the arrival $2. The plus signs prevent a
// scan of all later arrivals: the part of an index that belongs to the run is shorter. The inner limits keep SQLite from sorting all.
const sinceChanged = `SELECT place, latest FROM (SELECT arrival AS place, +arrival AS latest FROM events WHERE run = $1 AND +arrival > $2
		AND arrival NOT IN (SELECT arrival FROM events WHERE run = $1 AND changed > $2 AND changed > 0) ORDER BY latest LIMIT $3)
	UNION ALL SELECT place, latest FROM (SELECT arrival AS place, changed AS latest FROM events
		WHERE run = $1 AND changed > $2 AND changed > 0 ORDER BY latest LIMIT $3) ORDER BY latest LIMIT $3`

// readColumns returns columns of events with the latest arrival in place of the first.
func (d *database) readColumns(columns string) string {
	return strings.Replace(columns, "arrival", d.latest, 1)
}

// divide divides the events of a batch into those that replace a removed one and the others. It also returns the events that are
// removed only. Without changes in place, nothing replaces.
func (w *writing) divide(b *store.Batch) (removed []store.EventRef, changed, added []store.Event) {
	if !w.changes || len(b.Removed) == 0 || len(b.Events) == 0 {
		return b.Removed, nil, b.Events
	}
	replaced := make(map[store.EventRef]bool, len(b.Removed)) // false until there is an event
	for _, r := range b.Removed {
		replaced[store.EventRef{Run: r.Run, ID: store.Key(r.ID)}] = false
	}
	changed = make([]store.Event, 0, min(len(b.Removed), len(b.Events)))
	for k := range b.Events {
		e := &b.Events[k]
		ref := store.EventRef{Run: e.Run, ID: store.Key(e.ID)}
		if twice, ok := replaced[ref]; !ok || twice {
			added = append(added, *e)
			continue
		}
		replaced[ref] = true
		changed = append(changed, *e)
	}
	for _, r := range b.Removed {
		if !replaced[store.EventRef{Run: r.Run, ID: store.Key(r.ID)}] {
			removed = append(removed, r)
		}
	}
	return removed, changed, added
}

// change writes events in the place of those with their ids. It deletes and inserts those whose position changed, and the others of
// their statement.
func (w *writing) change(ctx context.Context, events []store.Event) error {
	var moved []store.Event
	err := insert(ctx, w, &w.bulks.changed, events, w.eventArguments, func(part []store.Event, written int64) error {
		if written < int64(len(part)) {
			moved = append(moved, part...)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(moved) > 0 {
		refs := make([]store.EventRef, len(moved))
		for k := range moved {
			refs[k] = store.EventRef{Run: moved[k].Run, ID: moved[k].ID}
		}
		if err := w.remove(ctx, refs); err != nil {
			return err
		}
		if _, err := w.events(ctx, moved); err != nil {
			return err
		}
	}
	return w.reindex(ctx, events)
}

// reindex deletes changed events from the full-text index, and notes that they are to be indexed again. Those that the index does not
// have yet come into it in their new form.
func (w *writing) reindex(ctx context.Context, changed []store.Event) error {
	if !w.searchable || len(changed) == 0 {
		return nil
	}
	indexed, err := indexedUpTo(ctx, w.tx)
	if err != nil || indexed == 0 {
		return err
	}
	var found []searchEntry
	for len(changed) > 0 {
		run, n, first := changed[0].Run, 0, changed[0].Arrival
		for ; n < len(changed) && changed[n].Run == run; n++ {
			first = min(first, changed[n].Arrival)
		}
		changed = changed[n:]
		rows, err := w.tx.StmtContext(ctx, w.bulks.changedSince).QueryContext(ctx, run, first, indexed)
		err = eachOf(rows, err, func(row scanner) error {
			e := searchEntry{run: run}
			err := row.Scan(&e.arrival)
			found = append(found, e)
			return err
		})
		if err != nil {
			return fmt.Errorf("look for indexed events: %w", err)
		}
	}
	for _, e := range found {
		if _, err := w.tx.StmtContext(ctx, w.bulks.forgotten).ExecContext(ctx, e.run, e.arrival); err != nil {
			return fmt.Errorf("delete an event from the index: %w", err)
		}
		if _, err := w.tx.StmtContext(ctx, w.bulks.reindexed).ExecContext(ctx, e.arrival); err != nil {
			return fmt.Errorf("note an event to index: %w", err)
		}
	}
	return nil
}

// prepareChanges prepares the statements that change events in their place.
func (s *Store) prepareChanges(ctx context.Context, all *bulks) (err error) {
	if !s.changes {
		return nil
	}
	if all.changedSince, err = s.write.PrepareContext(ctx, `SELECT arrival FROM events WHERE run = $1 AND changed >= $2 AND changed > 0 AND arrival <= $3`); err != nil {
		return fmt.Errorf("prepare to look for indexed events: %w", err)
	}
	if all.reindexed, err = s.write.PrepareContext(ctx, noteReindex); err != nil {
		return fmt.Errorf("prepare to note events to index: %w", err)
	}
	return nil
}
