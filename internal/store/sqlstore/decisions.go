package sqlstore

import (
	"context"
	"fmt"

	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
)

const decisionColumns = "run, at_sequence, at_time, at_tie, number, event_id, action, code, message, by_guard"

type decisionKey struct {
	run    int64
	at     store.Position
	number int
}

// decisions writes decisions.
func (w *writing) decisions(ctx context.Context, decisions []store.Decision) error {
	decisions = lasts(decisions, func(d *store.Decision) decisionKey { return decisionKey{d.Run, d.Position, d.Number} })
	return insert(ctx, w, &w.bulks.decisions, decisions, func(to []any, d *store.Decision) []any {
		p := &d.Position
		return append(to, d.Run, p.Sequence, p.Time, p.Tie, int64(d.Number), store.Key(d.EventID), int64(d.Action), store.Text(d.Code),
			store.Text(d.Message), toInt(d.ByGuard))
	}, nil)
}

// Decisions returns a page of the decisions of the run in the order of their events, and the cursor of the next page, which is ""
// at the end. A cursor of another list is store.ErrCursor.
func (s *Store) Decisions(ctx context.Context, run int64, p store.Page) (decisions []store.Decision, next string, err error) {
	w := &where{}
	w.add("run = ?", run)
	if p.Cursor != "" {
		behind, err := parse(p.Cursor, "decisions", 4)
		if err != nil {
			return nil, "", err
		}
		w.add("(at_sequence, at_time, at_tie, number) > (?, ?, ?, ?)", behind...)
	}
	most := limit(p.Limit)
	query := fmt.Sprintf("SELECT %s FROM decisions%s ORDER BY at_sequence, at_time, at_tie, number LIMIT %d", decisionColumns, w, most+1)
	err = s.each(ctx, query, w.args, func(row scanner) error {
		if len(decisions) == most {
			last := &decisions[most-1]
			at := last.Position
			next = cursor("decisions", at.Sequence, at.Time, at.Tie, int64(last.Number))
			return nil
		}
		d, err := scanDecision(row)
		decisions = append(decisions, d)
		return err
	})
	if err != nil {
		return nil, "", fmt.Errorf("read the decisions of a run: %w", err)
	}
	return decisions, next, nil
}

func scanDecision(row scanner) (d store.Decision, err error) {
	var action, byGuard int64
	p := &d.Position
	err = row.Scan(&d.Run, &p.Sequence, &p.Time, &p.Tie, &d.Number, &d.EventID, &action, &d.Code, &d.Message, &byGuard)
	d.Action, d.ByGuard = policy.Action(action), byGuard != 0
	return d, err
}
