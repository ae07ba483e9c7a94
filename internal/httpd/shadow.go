package httpd

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/pipeline"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
)

// Shadow judges runs under the shadow profile of the configuration.
type Shadow interface {
	// Runs compares the verdicts of the shadow profile with the recorded decisions. It lists the runs with the two decisions. Without
	// both, it lists the runs whose decisions differ.
	Runs(ctx context.Context, recorded, shadow *policy.Action) (api.ShadowRuns, error)
	// Judge judges a run. It returns nil without a shadow profile, and pipeline.ErrTooLong after most events.
	Judge(ctx context.Context, run *store.Run, most int) (*pipeline.Replayed, error)
}

type (
	shadowAnswer struct{ Body api.Shadow }
	shadowQuery  struct {
		Decision string `query:"decision" enum:"allow,warn,block,halt" doc:"Only runs with this recorded decision."`
		Shadow   string `query:"shadow_decision" enum:"allow,warn,block,halt" doc:"Only runs with this decision of the shadow profile."`
	}
	shadowRunsAnswer struct{ Body api.ShadowRuns }
)

func (r *replays) shadowRoutes() {
	query(r.Server, r.operation(http.MethodGet, "/api/shadow", Read, "runs", "compare-shadow", "Compare the shadow profile",
		"Compares the decisions of the shadow profile with the recorded ones: the numbers of runs, and the runs that the query selects. Without a "+
			"query, it lists the runs whose decisions differ. The server judges runs in the background, the latest first. It judges a run with new "+
			"events again."), r.shadowRuns)
	query(r.Server, r.operation(http.MethodGet, "/api/runs/{id}/shadow", Read, "runs", "get-shadow", "Get a run's shadow decisions",
		"Returns what the shadow profile of the configuration would have decided. Its decisions have no effect. The limits are those of a replay."), r.shadow)
}

func (r *replays) shadowRuns(ctx context.Context, q *shadowQuery) (*shadowRunsAnswer, error) {
	action := func(name string) *policy.Action {
		if name == "" {
			return nil
		}
		return new(decisionOf(name))
	}
	found, err := r.Shadow.Runs(ctx, action(q.Decision), action(q.Shadow))
	if err != nil {
		return nil, fmt.Errorf("compare the shadow profile: %w", err)
	}
	return &shadowRunsAnswer{found}, nil
}

func (r *replays) shadow(ctx context.Context, q *RunPath) (*shadowAnswer, error) {
	run, err := r.runOf(ctx, q.run())
	if err != nil {
		return nil, err
	}
	bounded, done, err := r.turn(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	again, err := r.Shadow.Judge(bounded, run, replayEvents)
	switch {
	case errors.Is(err, pipeline.ErrTooLong):
		return nil, tooLong()
	case err != nil:
		return nil, fmt.Errorf("judge a run in shadow: %w", err)
	case again == nil:
		return &shadowAnswer{}, nil
	}
	return &shadowAnswer{api.Shadow{Configured: true, Replay: new(replayOf(run.ID, map[string]string{}, again))}}, nil
}
