package app

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/internal/config"
	"github.com/unloop-ai/unloop/internal/pipeline"
	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/secondopinion"
)

// SecondOpinion returns the client that the configuration describes. It returns nil if no endpoint is configured. If the variable
// with the API key is not set, it logs a warning and returns nil. The function getenv returns the value of a variable.
func SecondOpinion(c *config.Config, getenv func(string) string, log *slog.Logger) (*secondopinion.Client, error) {
	s := &c.SecondOpinion
	if s.Endpoint == "" {
		return nil, nil
	}
	settings := secondopinion.Settings{
		Endpoint: s.Endpoint, Model: s.Model, Timeout: time.Duration(s.Timeout), PerRun: s.PerRun, PerHour: s.PerHour,
		MaxTokens: s.MaxTokens, Unmasked: c.Mask.Disabled, Patterns: c.Mask.Patterns,
	}
	if s.APIKeyEnv != "" {
		if settings.Key = getenv(s.APIKeyEnv); settings.Key == "" {
			log.Warn("second opinions are off: the variable with the API key is not set", "second_opinion.api_key_env", s.APIKeyEnv)
			return nil, nil
		}
	}
	return secondopinion.New(settings, log)
}

// GuardOpinion returns the second opinion of guards, or nil without a client. Decisions wait at most as long as wait for an
// answer.
func GuardOpinion(client *secondopinion.Client, wait time.Duration) *guard.SecondOpinion {
	if client == nil {
		return nil
	}
	return &guard.SecondOpinion{Reviewer: client, Wait: wait, Mask: client.Mask}
}

// Bounds of the questions of a server.
const (
	maxQuestions = 256 // maximum number of waiting questions; further ones are dropped
	askers       = 4   // number of concurrent questions
)

// questions asks the questions of a server's runs in the background, and submits the answers as events of the runs.
type questions struct {
	client  *secondopinion.Client
	model   string
	waiting chan question
	dropped atomic.Int64
	known   func(ctx context.Context, run string) (bool, error)
	submit  func(ctx context.Context, s *pipeline.Submission) (pipeline.Ack, error)
	log     *slog.Logger
}

type question struct {
	run string
	policy.Question
}

// ask queues a question. It never blocks: if maxQuestions wait, it drops the question.
func (q *questions) ask(run string, open policy.Question) {
	select {
	case q.waiting <- question{run, open}:
	default:
		q.dropped.Add(1)
	}
}

// work asks the questions until the context ends, which also ends open questions.
func (q *questions) work(ctx context.Context) error {
	var all sync.WaitGroup
	for range askers {
		all.Go(func() {
			for {
				select {
				case open := <-q.waiting:
					if err := q.answer(ctx, &open); err != nil && ctx.Err() == nil {
						q.log.Warn("a second opinion was not recorded", "run", open.run, "error", err)
					}
				case <-ctx.Done():
					return
				}
			}
		})
	}
	all.Wait()
	return nil
}

// answer asks the model and submits its answer. The client counts and logs questions without an answer.
func (q *questions) answer(ctx context.Context, open *question) error {
	opinion, err := q.client.Review(ctx, open.Question)
	if err != nil {
		return nil
	}
	event, err := open.Event(opinion)
	if err != nil {
		return err
	}
	known, err := q.known(ctx, open.run)
	if err != nil || !known { // if the run was deleted, an event would create it again
		return err
	}
	event.RunID, event.Model = open.run, q.model
	if _, err = q.submit(ctx, &pipeline.Submission{Events: []*unloop.Event{&event}}); err != nil {
		return fmt.Errorf("record a second opinion: %w", err)
	}
	return nil
}
