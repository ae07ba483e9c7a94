package httpd

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/pipeline"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
)

// Tuner finds settings that suit the labels of runs, and writes them into the configuration.
type Tuner interface {
	// Suggest returns what it has found by the end of ctx.
	Suggest(ctx context.Context) (api.Suggestions, error)
	// Apply writes a setting into the configuration file, or into the database of a cluster, and returns which. It writes the act to the
	// audit log. Its error is NotApplied where the setting cannot be written.
	Apply(ctx context.Context, by *store.Act, s api.NewSetting) (file string, err error)
	// ShadowRuns compares the shadow profile's verdicts with the recorded decisions. It lists the runs with two decisions; without
	// both, those in which they differ.
	ShadowRuns(ctx context.Context, recorded, shadow *policy.Action) (api.ShadowRuns, error)
	// Shadow judges a run under the shadow profile. It returns nil without one.
	Shadow(ctx context.Context, run *store.Run, most int) (*pipeline.Replayed, error)
}

// NotApplied says why a setting cannot be written.
type NotApplied string

func (e NotApplied) Error() string { return string(e) }

type (
	suggestionsAnswer struct{ Body api.Suggestions }
	applyQuery        struct {
		Person
		Body api.NewSetting
	}
	applyAnswer  struct{ Body api.Applied }
	shadowAnswer struct{ Body api.Shadow }
	shadowQuery  struct {
		Decision string `query:"decision" enum:"allow,warn,block,halt" doc:"Only runs with this recorded decision."`
		Shadow   string `query:"shadow_decision" enum:"allow,warn,block,halt" doc:"Only runs with this decision of the shadow profile."`
	}
	shadowRunsAnswer struct{ Body api.ShadowRuns }
)

func (r *replays) suggestionRoutes() {
	query(r.Server, r.operation(http.MethodGet, "/api/suggestions", Read, "rules", "suggest", "Suggest thresholds",
		"Replays the labelled runs and recent runs with other thresholds, for each rule and tool. It returns those that drop false alarms and keep all "+
			"loops, and those that catch missed loops without a false alarm. It takes 10 seconds at most, and shares the one place of replays."), r.suggest)
	query(r.Server, r.operation(http.MethodPost, "/api/suggestions/apply", Admin, "rules", "apply-setting", "Apply a threshold",
		"Writes a setting into the server's configuration file, or into the database of a cluster, whose servers all use it within a second. New runs are evaluated with it at once; a run in memory keeps its thresholds. Guards over HTTP and the proxy use it from the next start. The act is written to the audit log."), r.apply)
	query(r.Server, r.operation(http.MethodGet, "/api/shadow", Read, "runs", "compare-shadow", "Compare the shadow profile",
		"How the shadow profile of the configuration judges all recorded runs, beside the recorded decisions: numbers of runs, and those in which both differ, or that the query selects. "+
			"The server judges in the background, the latest runs first, and runs with new events again."), r.shadowRuns)
	query(r.Server, r.operation(http.MethodGet, "/api/runs/{id}/shadow", Read, "runs", "get-shadow", "Get a run's shadow decisions",
		"What the shadow profile of the configuration would have decided. It acts on nothing. The limits are those of a replay."), r.shadow)
}

// turn takes the place of replays, and returns a bounded context and the end of both.
func (r *replays) turn(ctx context.Context) (bounded context.Context, done func(), err error) {
	if !r.busy.TryLock() {
		return nil, nil, busy(http.StatusTooManyRequests, "another replay is running; the server runs one at a time")
	}
	bounded, end := context.WithTimeout(ctx, replayTime)
	return bounded, func() { end(); r.busy.Unlock() }, nil
}

func (r *replays) suggest(ctx context.Context, _ *struct{}) (*suggestionsAnswer, error) {
	bounded, done, err := r.turn(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	found, err := r.Tuner.Suggest(bounded)
	if err != nil {
		return nil, fmt.Errorf("suggest thresholds: %w", err)
	}
	return &suggestionsAnswer{found}, nil
}

func (r *replays) apply(ctx context.Context, q *applyQuery) (*applyAnswer, error) {
	s := &q.Body
	a := store.Act{
		At: time.Now(), Who: r.actor(q.Authorization), Action: store.ActApply, Tool: s.Tool,
		Value: s.Setting + "=" + strconv.FormatFloat(s.Value, 'f', -1, 64), Note: r.Name(s.Note),
	}
	file, err := r.Tuner.Apply(ctx, &a, *s)
	var not NotApplied
	if errors.As(err, &not) {
		return nil, problem(http.StatusConflict, "setting", not.Error())
	}
	if err != nil {
		return nil, fmt.Errorf("apply a setting: %w", err)
	}
	return &applyAnswer{api.Applied{File: file, Act: api.ActOf(&a)}}, nil
}

func (r *replays) shadowRuns(ctx context.Context, q *shadowQuery) (*shadowRunsAnswer, error) {
	action := func(name string) *policy.Action {
		if name == "" {
			return nil
		}
		return new(decisionOf(name))
	}
	found, err := r.Tuner.ShadowRuns(ctx, action(q.Decision), action(q.Shadow))
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
	again, err := r.Tuner.Shadow(bounded, run, replayEvents)
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
