package pipeline

import (
	"context"
	"errors"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/profile"
)

// ErrTooLong says that a run has more events than are judged anew.
var ErrTooLong = errors.New("the run has more events than are judged anew")

// Replayed is what a profile makes of a recorded run.
type Replayed struct {
	Profile           string
	Events            int // that were folded
	Cut               int // of these, whose content was not stored whole
	Health            policy.Health
	HealthHistory     []store.HealthAt // how the health went
	WorstAction       policy.Action
	FirstWarningAt    time.Time   // when the first warning was raised; zero without one
	UsageAfterWarning store.Usage // since then
	Warnings          []store.Warning
	Decisions         []store.Decision // the first 10,000
}

// Replay judges a recorded run anew, as the pipeline would have under the profile, and records nothing. It ends with ErrTooLong
// behind so many events, and with ctx's error when that is done. Of a run that goes on it sees a part.
func Replay(ctx context.Context, from Store, judge *profile.Profile, row *store.Run, most int) (*Replayed, error) {
	r := &run{row: *row, fold: newFold(judge, row.ID)}
	out := &Replayed{Profile: judge.Name()}
	err := from.Events(ctx, row.Number, store.Start, func(e *store.Event) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if out.Events >= most {
			return ErrTooLong
		}
		event, err := store.Decode(e.Body)
		if err != nil {
			return nil // the pipeline left it out too, and has said so
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
	out.Health, out.WorstAction = r.fold.session.Health(), policyAction(s.WorstAction)
	out.FirstWarningAt, out.UsageAfterWarning, out.HealthHistory = s.FirstWarningAt, r.fold.usageAfterWarning(), s.Health
	out.Warnings = warningsOf(r)
	return out, nil
}
