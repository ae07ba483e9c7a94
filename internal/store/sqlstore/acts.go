package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"

	"github.com/unloop-ai/unloop/internal/store"
)

const actColumns = "number, at, who, action, run, run_id, warning, rule, tool, project, value, note"

// Act carries out the action and writes it to the audit log, both or neither. It sets the act's number. The time of the act must be
// set. The error is store.ErrNoMute for the end of a mute that does not exist, and store.ErrNoAlert for an alert that does not
// exist.
func (s *Store) Act(ctx context.Context, a *store.Act) error {
	w, err := s.begin(ctx)
	if err != nil {
		return fmt.Errorf("begin an act: %w", err)
	}
	defer w.release()
	if err := w.act(ctx, a); err != nil {
		return errors.Join(fmt.Errorf("write an act: %w", err), w.tx.Rollback())
	}
	if err := w.tx.Commit(); err != nil {
		return fmt.Errorf("finish an act: %w", err)
	}
	return nil
}

func (w *writing) act(ctx context.Context, a *store.Act) error {
	tx := w.tx
	if w.cluster { // elsewhere one connection writes
		if _, err := tx.ExecContext(ctx, `LOCK TABLE acts IN SHARE ROW EXCLUSIVE MODE`); err != nil {
			return err
		}
	}
	if err := tx.QueryRowContext(ctx, `SELECT COALESCE(MAX(number), 0) + 1 FROM acts`).Scan(&a.Number); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO acts (`+actColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		a.Number, toNanos(a.At), store.Text(a.Who), a.Action, a.Run, store.Key(a.RunID), store.Key(a.Warning), store.Key(a.Rule), store.Text(a.Tool),
		store.Text(a.Project), store.Text(a.Value), store.Text(a.Note))
	if err != nil {
		return err
	}
	return effect(ctx, tx, a)
}

// effect writes what the act changes. An act on a run that was deleted in the meantime changes nothing.
func effect(ctx context.Context, tx *sql.Tx, a *store.Act) error {
	exec := func(query string, args ...any) error {
		_, err := tx.ExecContext(ctx, query, args...)
		return err
	}
	switch a.Action {
	case store.ActLabel:
		if a.Value == "" {
			return exec(`DELETE FROM labels WHERE run = $1`, a.Run)
		}
		return exec(`INSERT INTO labels (run, label, note, who, at) SELECT number, $2, $3, $4, $5 FROM runs WHERE number = $1
			ON CONFLICT (run) DO UPDATE SET label = excluded.label, note = excluded.note, who = excluded.who, at = excluded.at`,
			a.Run, a.Value, store.Text(a.Note), store.Text(a.Who), toNanos(a.At))
	case store.ActAcknowledge:
		return exec(`INSERT INTO acknowledgements (run, warning, who, at) SELECT number, $2, $3, $4 FROM runs WHERE number = $1
			ON CONFLICT (run, warning) DO NOTHING`, a.Run, store.Key(a.Warning), store.Text(a.Who), toNanos(a.At))
	case store.ActUnacknowledge:
		return exec(`DELETE FROM acknowledgements WHERE run = $1 AND warning = $2`, a.Run, store.Key(a.Warning))
	case store.ActMute:
		return exec(`INSERT INTO mutes (act) VALUES ($1)`, a.Number)
	case store.ActUnmute:
		return unmute(ctx, tx, a.Value)
	case store.ActAddAlert, store.ActChangeAlert, store.ActDeleteAlert:
		return effectOnAlert(ctx, tx, a)
	case store.ActApply:
		return applySetting(ctx, tx, a.Setting)
	}
	return nil
}

func unmute(ctx context.Context, tx *sql.Tx, number string) error {
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return store.ErrNoMute
	}
	result, err := tx.ExecContext(ctx, `DELETE FROM mutes WHERE act = $1`, n)
	if err != nil {
		return err
	}
	if rows, err := result.RowsAffected(); err != nil || rows == 0 {
		return errors.Join(err, store.ErrNoMute)
	}
	return nil
}

// Acts returns a page of the audit log, the latest first, and the cursor of the next page.
func (s *Store) Acts(ctx context.Context, p store.Page) (acts []store.Act, next string, err error) {
	behind := []any{int64(1<<63 - 1)}
	if p.Cursor != "" {
		if behind, err = parse(p.Cursor, "acts", 1); err != nil {
			return nil, "", err
		}
	}
	most := limit(p.Limit)
	acts, err = s.acts(ctx, `SELECT `+actColumns+` FROM acts WHERE number < $1 ORDER BY number DESC LIMIT $2`, behind[0], most+1)
	if err != nil {
		return nil, "", fmt.Errorf("read the audit log: %w", err)
	}
	if len(acts) > most {
		acts = acts[:most]
		next = cursor("acts", acts[most-1].Number)
	}
	return acts, next, nil
}

// LastAct returns the number of the latest act, or 0. The servers of a cluster see by it that a person changed something.
func (s *Store) LastAct(ctx context.Context) (number int64, err error) {
	if err := s.read.QueryRowContext(ctx, `SELECT COALESCE(MAX(number), 0) FROM acts`).Scan(&number); err != nil {
		return 0, fmt.Errorf("read the number of the latest act: %w", err)
	}
	return number, nil
}

// Mutes returns the mutes in force, the earliest first.
func (s *Store) Mutes(ctx context.Context) ([]store.Act, error) {
	mutes, err := s.acts(ctx, `SELECT `+actColumns+` FROM acts WHERE number IN (SELECT act FROM mutes) ORDER BY number`)
	if err != nil {
		return nil, fmt.Errorf("read the mutes: %w", err)
	}
	return mutes, nil
}

func (s *Store) acts(ctx context.Context, query string, args ...any) (acts []store.Act, err error) {
	err = s.each(ctx, query, args, func(row scanner) error {
		var a store.Act
		var at int64
		err := row.Scan(&a.Number, &at, &a.Who, &a.Action, &a.Run, &a.RunID, &a.Warning, &a.Rule, &a.Tool, &a.Project, &a.Value, &a.Note)
		a.At = fromNanos(at)
		acts = append(acts, a)
		return err
	})
	return acts, err
}

// LabelOf returns the label of a run; its Label is "" for none.
func (s *Store) LabelOf(ctx context.Context, run int64) (store.Label, error) {
	labels, err := s.labels(ctx, `WHERE run = $1`, run)
	if err != nil || len(labels) == 0 {
		return store.Label{}, err
	}
	return labels[0], nil
}

// Labels returns the labels of runs, the latest first: at most limit labels.
func (s *Store) Labels(ctx context.Context, most int) ([]store.Label, error) {
	return s.labels(ctx, `ORDER BY labels.at DESC, run LIMIT $1`, most)
}

func (s *Store) labels(ctx context.Context, which string, args ...any) (labels []store.Label, err error) {
	query := `SELECT run, runs.id, label, note, who, labels.at FROM labels JOIN runs ON runs.number = run ` + which
	err = s.each(ctx, query, args, func(row scanner) error {
		var l store.Label
		var at int64
		err := row.Scan(&l.Run, &l.RunID, &l.Label, &l.Note, &l.Who, &at)
		l.At = fromNanos(at)
		labels = append(labels, l)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read labels: %w", err)
	}
	return labels, nil
}

// Acknowledged returns which warnings of a run people have seen.
func (s *Store) Acknowledged(ctx context.Context, run int64) (seen []store.Acknowledgement, err error) {
	err = s.each(ctx, `SELECT warning, who, at FROM acknowledgements WHERE run = $1 ORDER BY at, warning`, []any{run}, func(row scanner) error {
		var x store.Acknowledgement
		var at int64
		err := row.Scan(&x.Warning, &x.Who, &at)
		x.At = fromNanos(at)
		seen = append(seen, x)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read acknowledgements: %w", err)
	}
	return seen, nil
}
