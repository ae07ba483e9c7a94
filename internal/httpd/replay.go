package httpd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/pipeline"
	"github.com/unloop-ai/unloop/internal/store"
)

// Judge lists the rules and the profiles, and replays recorded runs.
type Judge interface {
	// Replay evaluates a run under a profile with changed settings. It returns pipeline.ErrTooLong after most events, and
	// SettingErrors if the profile or its settings are invalid.
	Replay(ctx context.Context, run *store.Run, profile string, settings map[string]string, most int) (*pipeline.Replayed, error)
	Rules() []api.Rule
	Profiles() []api.Profile
}

// SettingErrors are the errors of a profile and its settings.
type SettingErrors []SettingError

// SettingError is an error of a setting, or of the name of the profile if Setting is empty.
type SettingError struct{ Setting, Reason string }

func (e SettingErrors) Error() string {
	reasons := make([]string, len(e))
	for i := range e {
		reasons[i] = e[i].Reason
	}
	return strings.Join(reasons, "; ")
}

// Limits of a replay. There is one at a time, because it uses a whole processor core.
const (
	replayEvents = 200_000
	replayTime   = 10 * time.Second
	replayBody   = 64 << 10 // bytes of a request
)

type (
	replayQuery struct {
		RunPath
		Body api.Question
	}
	replayAnswer struct{ Body api.Replay }
)

// replays runs one replay at a time.
type replays struct {
	*Server
	busy sync.Mutex
}

func (s *Server) replayRoutes() {
	op := s.operation(http.MethodPost, "/api/runs/{id}/replay", Read, "runs", "replay-run", "Replay a run",
		"Evaluates a recorded run with another profile or other settings, and returns the warnings and decisions. Nothing is recorded. The "+
			"server replays one run at a time, for 10 seconds at most. It refuses runs of more than 200,000 events.")
	op.MaxBodyBytes = replayBody
	r := &replays{Server: s}
	query(s, op, r.replay)
	r.suggestionRoutes()
	r.shadowRoutes()
}

// turn reserves the only place for replays and bounds their time. Calling done ends both.
func (r *replays) turn(ctx context.Context) (bounded context.Context, done func(), err error) {
	if !r.busy.TryLock() {
		return nil, nil, busy(http.StatusTooManyRequests, "another replay is running; the server runs one at a time")
	}
	bounded, end := context.WithTimeout(ctx, replayTime)
	return bounded, func() { end(); r.busy.Unlock() }, nil
}

func (r *replays) replay(ctx context.Context, q *replayQuery) (*replayAnswer, error) {
	run, err := r.runOf(ctx, q.run())
	if err != nil {
		return nil, err
	}
	if run.Metrics.Events > replayEvents {
		return nil, tooLong()
	}
	bounded, done, err := r.turn(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	name, settings := q.Body.Profile, settingsOf(q.Body.Settings)
	if name == "" {
		name = run.Profile
	}
	again, err := r.Judge.Replay(bounded, run, name, settings, replayEvents)
	var wrong SettingErrors
	switch {
	case errors.As(err, &wrong) && len(wrong) > 0:
		return nil, wrong.problem(http.StatusUnprocessableEntity, "settings.")
	case errors.Is(err, pipeline.ErrTooLong):
		return nil, tooLong()
	case err != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
		return nil, problem(http.StatusServiceUnavailable, "", fmt.Sprintf("the replay took longer than %v", replayTime))
	case err != nil:
		return nil, fmt.Errorf("replay a run: %w", err)
	}
	return &replayAnswer{replayOf(run.ID, settings, again)}, nil
}

// settingsOf returns the settings in the form of the command line: the content of a string, or the JSON of other values.
func settingsOf(sent map[string]json.RawMessage) map[string]string {
	settings := make(map[string]string, len(sent))
	for name, value := range sent {
		text := string(value)
		if quoted := new(string); json.Unmarshal(value, quoted) == nil && text != "null" {
			text = *quoted
		}
		settings[name] = text
	}
	return settings
}

func tooLong() *Problem {
	return problem(http.StatusUnprocessableEntity, "id", fmt.Sprintf("the run has more than %d events, the limit of a replay", replayEvents))
}

// problem returns the errors as a problem. The names of the settings are prefixed with place.
func (e SettingErrors) problem(status int, place string) *Problem {
	all := make([]api.EventError, len(e))
	for i, wrong := range e {
		all[i] = api.EventError{Index: i, Field: "profile", Reason: wrong.Reason}
		if wrong.Setting != "" {
			all[i].Field = place + wrong.Setting
		}
	}
	p := problem(status, all[0].Field, all[0].Reason)
	p.Detail = e.Error()
	if len(all) > 1 {
		p.Errors = all
	}
	return p
}

func replayOf(run string, settings map[string]string, again *pipeline.Replayed) api.Replay {
	return api.Replay{
		RunID: run, Profile: again.Profile, Settings: settings, Events: again.Events, Cut: again.Cut, HealthScore: again.Health.Score,
		HealthStatus: string(again.Health.Status), Health: api.HealthPoints(again.HealthHistory), WorstDecision: again.WorstAction.String(),
		WarnedAt: api.TimeOrNull(again.FirstWarningAt), After: api.UsageOf(again.UsageAfterWarning), Warnings: api.WarningsOf(run, api.InOrder(again.Warnings)),
		Decisions: api.DecisionsOf(run, again.Decisions),
	}
}
