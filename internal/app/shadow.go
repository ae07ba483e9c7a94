package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/pipeline"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
)

const (
	shadowEvery  = time.Second      // how often it is seen whether there are new events
	shadowAgain  = 10 * time.Second // the pause after an error
	shadowRest   = 4                // how many times as long as it took to judge runs the next ones wait
	shadowOnce   = 50               // runs that are judged in a row
	shadowEvents = 200_000          // of a run; a longer one is not judged
	shadowItems  = 200              // runs in an answer
)

// judgeShadows judges recorded runs under the shadow profile until ctx is done, and again when they have new events. It works for
// at most a fifth of the time, so the verdicts lag while many events arrive.
func (p *components) judgeShadows(ctx context.Context) error {
	if p.tuner.shadow == nil {
		return nil
	}
	done := int64(-1) // the arrival up to which all runs are judged
	for {
		began, pause := time.Now(), shadowEvery
		if p.leads() {
			runs, err := p.tuner.judgeDue(ctx, &done)
			if runs > 0 {
				pause = shadowRest * time.Since(began)
			}
			if err != nil && ctx.Err() == nil {
				p.log.Error("judging runs under the shadow profile did not succeed", "error", err)
				pause = shadowAgain
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// judgeDue judges the next runs, and returns how many. If none is due, it sets done to the latest arrival, up to which it then need
// not look again.
func (t *tuner) judgeDue(ctx context.Context, done *int64) (int, error) {
	latest, _, err := t.store.Last(ctx)
	if err != nil || latest == *done {
		return 0, err
	}
	ids, err := t.store.ShadowDue(ctx, t.shadowJudge, shadowOnce)
	if err != nil {
		return 0, err
	}
	if len(ids) == 0 {
		*done = latest
	}
	for k, id := range ids {
		if err := t.judgeShadow(ctx, id); err != nil {
			return k, err
		}
	}
	return len(ids), nil
}

func (t *tuner) judgeShadow(ctx context.Context, id string) error {
	row, err := t.store.Run(ctx, id)
	if err != nil || row == nil {
		return err
	}
	v := store.ShadowVerdict{Run: row.Number, Judge: t.shadowJudge, Arrival: row.Arrival}
	again, err := t.Shadow(ctx, row, shadowEvents)
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
	return t.store.KeepShadow(ctx, v)
}

// ShadowRuns compares the verdicts of the shadow profile with what is recorded.
func (t *tuner) ShadowRuns(ctx context.Context, recorded, shadow *policy.Action) (api.ShadowRuns, error) {
	answer := api.ShadowRuns{Counts: []api.ShadowCount{}, Items: []api.ShadowRun{}}
	if t.shadow == nil {
		return answer, nil
	}
	answer.Configured, answer.Profile = true, t.shadow.Name()
	var err error
	if answer.Runs, err = t.store.CountRuns(ctx, store.Filter{}); err != nil {
		return answer, err
	}
	counts, err := t.store.ShadowCounts(ctx, t.shadowJudge)
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
	runs, err := t.store.ShadowRuns(ctx, store.ShadowQuery{Judge: t.shadowJudge, Recorded: recorded, Shadow: shadow, Limit: shadowItems})
	for k := range runs {
		answer.Items = append(answer.Items, shadowRunOf(&runs[k]))
	}
	return answer, err
}

func shadowRunOf(r *store.ShadowRun) api.ShadowRun {
	wire := api.ShadowRun{
		RunID: r.ID, Name: r.Name, Project: r.Project, StartedAt: api.TimeOrNull(r.Started), Decision: r.Recorded.String(), Shadow: r.WorstAction.String(),
	}
	if r.FirstEvent != "" {
		wire.EventID, wire.EventNumber = &r.FirstEvent, &r.FirstNumber
	}
	return wire
}

// judgeOf identifies a profile with its settings and the version of the program, of which verdicts are.
func (p *components) judgeOf() string {
	text, err := json.Marshal([]any{p.config.Shadow.Profile, p.config.Profile, p.config.Shadow.Settings, p.version})
	if err != nil {
		panic(fmt.Sprintf("texts are JSON: %v", err))
	}
	return string(text)
}
