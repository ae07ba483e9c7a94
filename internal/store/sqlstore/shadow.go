package sqlstore

import (
	"context"
	"fmt"

	"github.com/unloop-ai/unloop/internal/store"
)

// KeepShadow writes the verdict of a run, in place of the earlier one. Nothing is written if the run does not exist.
func (s *Store) KeepShadow(ctx context.Context, v store.ShadowVerdict) error {
	_, err := s.write.ExecContext(ctx, `INSERT INTO shadow_verdicts (run, judge, arrival, worst, first_event, first_number)
		SELECT number, $2, $3, $4, $5, $6 FROM runs WHERE number = $1
		ON CONFLICT (run) DO UPDATE SET judge = excluded.judge, arrival = excluded.arrival, worst = excluded.worst,
		first_event = excluded.first_event, first_number = excluded.first_number`,
		v.Run, store.Text(v.Judge), v.Arrival, int64(v.WorstAction), store.Key(v.FirstEvent), int64(v.FirstNumber))
	if err != nil {
		return fmt.Errorf("write a shadow verdict: %w", err)
	}
	return nil
}

// ShadowDue returns ids of runs without a current verdict of a judge: those without any first, the latest created first, then
// those whose verdict is the oldest.
func (s *Store) ShadowDue(ctx context.Context, judge string, most int) ([]string, error) {
	ids, err := s.runIDs(ctx, `SELECT id FROM runs WHERE number IN (
		SELECT r.number FROM runs r LEFT JOIN shadow_verdicts v ON v.run = r.number
		WHERE v.run IS NULL OR v.judge <> $1 OR v.arrival < r.arrival
		ORDER BY CASE WHEN v.run IS NULL THEN 0 ELSE 1 END, COALESCE(v.arrival, 0), r.number DESC LIMIT $2) ORDER BY number DESC`,
		store.Text(judge), limit(most))
	if err != nil {
		return nil, fmt.Errorf("list the runs that the shadow profile has not judged: %w", err)
	}
	return ids, nil
}

// ShadowCounts counts the runs with a verdict of a judge, by both decisions.
func (s *Store) ShadowCounts(ctx context.Context, judge string) (counts []store.ShadowCount, err error) {
	query := `SELECT r.worst, v.worst, COUNT(*) FROM shadow_verdicts v JOIN runs r ON r.number = v.run WHERE v.judge = $1
		GROUP BY r.worst, v.worst ORDER BY r.worst, v.worst`
	err = s.each(ctx, query, []any{store.Text(judge)}, func(row scanner) error {
		var c store.ShadowCount
		err := row.Scan(&c.Recorded, &c.Shadow, &c.Runs)
		counts = append(counts, c)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count shadow verdicts: %w", err)
	}
	return counts, nil
}

// ShadowRuns returns verdicts beside the recorded decisions, of the latest started runs first.
func (s *Store) ShadowRuns(ctx context.Context, q store.ShadowQuery) (runs []store.ShadowRun, err error) {
	w := &where{}
	w.add("v.judge = ?", store.Text(q.Judge))
	w.add("v.worst <> ?", int64(store.NotJudged))
	if q.Recorded != nil {
		w.add("r.worst = ?", int64(*q.Recorded))
	}
	if q.Shadow != nil {
		w.add("v.worst = ?", int64(*q.Shadow))
	}
	if q.Recorded == nil && q.Shadow == nil {
		w.add("r.worst <> v.worst")
	}
	query := fmt.Sprintf(`SELECT r.number, r.id, CASE r.name WHEN '' THEN r.id ELSE r.name END, r.project, r.started, r.shown, r.worst, v.judge, v.arrival, v.worst, v.first_event, v.first_number
		FROM shadow_verdicts v JOIN runs r ON r.number = v.run%s ORDER BY r.started DESC, r.number DESC LIMIT %d`, w, limit(q.Limit))
	err = s.each(ctx, query, w.args, func(row scanner) error {
		var v store.ShadowRun
		var started int64
		var figures string
		err := row.Scan(&v.Run, &v.ID, &v.Name, &v.Project, &started, &figures, &v.Recorded, &v.Judge, &v.Arrival, &v.WorstAction, &v.FirstEvent, &v.FirstNumber)
		if err != nil {
			return err
		}
		var run store.Run
		err = decodeShown(figures, &run)
		v.Started, v.Untimed = fromNanos(started), run.Untimed
		runs = append(runs, v)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list shadow verdicts: %w", err)
	}
	return runs, nil
}
