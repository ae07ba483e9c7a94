package pipeline

import (
	"context"
	"errors"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/profile"
)

// ErrTooLong means that a run has more events than a replay may evaluate.
var ErrTooLong = errors.New("the run has too many events to replay")

// Replayed is the result of a replay of a recorded run.
type Replayed struct {
	Profile           string
	Events            int // folded events
	Cut               int // folded events whose content is not stored completely
	Health            policy.Health
	HealthHistory     []store.HealthAt // the health at the beginning and at each change
	WorstAction       policy.Action
	FirstWarningAt    time.Time   // time of the first warning; zero without one
	UsageAfterWarning store.Usage // usage since FirstWarningAt
	Warnings          []store.Warning
	Decisions         []store.Decision // the first 10,000
}

// Replay evaluates a recorded run as the pipeline would have under the profile, and records nothing. It returns ErrTooLong after most
// events, the error of ctx if ctx is done, and ErrPanic after a panic. Of a run that is still being recorded it may see only a part.
func Replay(ctx context.Context, from Store, judge *profile.Profile, row *store.Run, most int) (out *Replayed, err error) {
	defer recovered(&err)
	r := &run{row: *row, fold: newFold(judge, row.ID)}
	out = &Replayed{Profile: judge.Name()}
	err = from.Events(ctx, row.Number, store.Start, func(e *store.Event) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if out.Events >= most {
			return ErrTooLong
		}
		event, err := store.Decode(e.Body)
		if err != nil {
			return nil // the pipeline skips it too and reports it
		}
		d := r.fold.add(event, placementOf(e))
		if d.Action != policy.Allow && len(out.Decisions) < maxDecisions {
			out.Decisions = append(out.Decisions, decisionOf(r, &d, e.Position, e.ID))
		}
		out.Events++
		if store.Marked(e.Body) {
			out.Cut++
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s := &r.fold.s
	out.Health, out.WorstAction = r.fold.session.Health(), policy.Action(s.WorstAction)
	out.FirstWarningAt, out.UsageAfterWarning, out.HealthHistory = s.FirstWarningAt, r.fold.usageAfterWarning(), s.Health
	out.Warnings = warningsOf(r)
	return out, nil
}
