package httpd

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/store"
)

// Tuner finds settings that suit the labels of runs, and writes them into the configuration.
type Tuner interface {
	// Suggest returns what it has found by the end of ctx.
	Suggest(ctx context.Context) (api.Suggestions, error)
	// Apply writes a setting into the configuration file, or into the database of a cluster, and returns which. It writes the act to the
	// audit log. Its error is NotApplied where the setting cannot be written.
	Apply(ctx context.Context, by *store.Act, s api.NewSetting) (file string, err error)
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
	applyAnswer struct{ Body api.Applied }
)

func (r *replays) suggestionRoutes() {
	query(r.Server, r.operation(http.MethodGet, "/api/suggestions", Read, "rules", "suggest", "Suggest thresholds",
		"Replays the labelled runs and recent runs with other thresholds, for each rule and tool. It returns those that drop false alarms and keep all "+
			"loops, and those that catch missed loops without a false alarm. It takes 10 seconds at most, and counts as the one replay at a time."), r.suggest)
	query(r.Server, r.operation(http.MethodPost, "/api/suggestions/apply", Admin, "rules", "apply-setting", "Apply a threshold",
		"Writes a setting into the server's configuration file, or into the database of a cluster. New runs are evaluated with it at once, and at "+
			"other servers of a cluster within a second. A run in memory keeps its thresholds. Guards over HTTP and the proxy use the setting from the "+
			"next start. The act is written to the audit log."), r.apply)
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
