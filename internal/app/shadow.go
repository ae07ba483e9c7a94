package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/pipeline"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/internal/store/sqlstore"
	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/profile"
)

// Bounds of what is judged under the shadow profile.
const (
	shadowBatch  = 50      // runs that are judged in a row
	shadowEvents = 200_000 // of a run; a longer one is not judged
	shadowItems  = 200     // runs in an answer
)

// shadow judges recorded runs under the shadow profile of the configuration.
type shadow struct {
	store   *sqlstore.Store
	profile *profile.Profile // nil for none
	judge   string           // names the profile, its settings and the version of the program in the stored verdicts
}

func (p *components) newShadow() (*shadow, error) {
	loaded, err := p.config.LoadShadow()
	if err != nil {
		return nil, err
	}
	judge, err := json.Marshal([]any{p.config.Shadow.Profile, p.config.Profile, p.config.Shadow.Settings, p.version})
	if err != nil {
		return nil, fmt.Errorf("name the shadow profile: %w", err)
	}
	return &shadow{p.store, loaded, string(judge)}, nil
}

// judgeShadows judges recorded runs under the shadow profile until ctx is done. It judges a run with new events again. The verdicts lag while
// many events arrive.
func (p *components) judgeShadows(ctx context.Context) error {
	if p.shadow.profile == nil {
		return nil
	}
	judged := int64(-1) // the arrival up to which all runs are judged
	return p.inBackground(ctx, "judging runs under the shadow profile failed", func(ctx context.Context) (int, error) {
		return p.shadow.judgeDue(ctx, &judged)
	})
}

// judgeDue judges the next runs and returns their number. If none is due, it sets judged to the latest arrival. It does nothing until a later
// event arrives.
func (s *shadow) judgeDue(ctx context.Context, judged *int64) (int, error) {
	latest, _, err := s.store.Last(ctx)
	if err != nil || latest == *judged {
		return 0, err
	}
	ids, err := s.store.ShadowDue(ctx, s.judge, shadowBatch)
	if err != nil {
		return 0, err
	}
	if len(ids) == 0 {
		*judged = latest
	}
	var failed error // of the first run that failed; the others are judged
	for _, id := range ids {
		if err := s.judgeRun(ctx, id); err != nil && failed == nil {
			failed = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return len(ids), failed
}

// judgeRun judges a run and stores the verdict.
func (s *shadow) judgeRun(ctx context.Context, id string) error {
	row, err := s.store.Run(ctx, id)
	if err != nil || row == nil {
		return err
	}
	v := store.ShadowVerdict{Run: row.Number, Judge: s.judge, Arrival: row.Arrival}
	again, err := s.Judge(ctx, row, shadowEvents)
	switch {
	case errors.Is(err, pipeline.ErrTooLong):
		v.WorstAction = store.NotJudged
	case err != nil:
		return fmt.Errorf("run %s: %w", id, err)
	default:
		v.WorstAction = again.WorstAction
		if len(again.Decisions) > 0 {
			v.FirstEvent, v.FirstNumber = again.Decisions[0].EventID, again.Decisions[0].Number
		}
	}
	return s.store.KeepShadow(ctx, v)
}

// Judge judges a run. It returns nil without a shadow profile, and pipeline.ErrTooLong after most events.
func (s *shadow) Judge(ctx context.Context, run *store.Run, most int) (*pipeline.Replayed, error) {
	if s.profile == nil {
		return nil, nil
	}
	return pipeline.Replay(ctx, s.store, s.profile, run, most)
}

// Runs compares the verdicts of the shadow profile with the recorded decisions.
func (s *shadow) Runs(ctx context.Context, recorded, judged *policy.Action) (api.ShadowRuns, error) {
	answer := api.ShadowRuns{Counts: []api.ShadowCount{}, Items: []api.ShadowRun{}}
	if s.profile == nil {
		return answer, nil
	}
	answer.Configured, answer.Profile = true, s.profile.Name()
	var err error
	if answer.Runs, err = s.store.CountRuns(ctx, store.Filter{}); err != nil {
		return answer, err
	}
	counts, err := s.store.ShadowCounts(ctx, s.judge)
	if err != nil {
		return answer, err
	}
	for _, c := range counts {
		if c.Shadow == store.NotJudged {
			answer.TooLong += c.Runs
			continue
		}
		answer.Judged += c.Runs
		answer.Counts = append(answer.Counts, api.ShadowCount{Decision: c.Recorded.String(), Shadow: c.Shadow.String(), Runs: c.Runs})
	}
	runs, err := s.store.ShadowRuns(ctx, store.ShadowQuery{Judge: s.judge, Recorded: recorded, Shadow: judged, Limit: shadowItems})
	for k := range runs {
		answer.Items = append(answer.Items, shadowRunOf(&runs[k]))
	}
	return answer, err
}

func shadowRunOf(r *store.ShadowRun) api.ShadowRun {
	wire := api.ShadowRun{
		RunID: r.ID, Name: r.Name, Project: r.Project, StartedAt: api.TimeOrNull(r.Started), Decision: r.Recorded.String(), Shadow: r.WorstAction.String(),
	}
	if r.Untimed {
		wire.StartedAt = nil
	}
	if r.FirstEvent != "" {
		wire.EventID, wire.EventNumber = &r.FirstEvent, &r.FirstNumber
	}
	return wire
}
