package sink

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/unloop-ai/unloop/internal/store"
)

// Retries of a notice.
const (
	firstWait = time.Second      // approximate wait between the first two attempts; it doubles
	MaxWait   = time.Minute      // the longest wait, unless the target asks for more
	GiveUp    = 15 * time.Minute // since the first attempt
)

// letter is a notice that is being sent.
type letter struct {
	*worker
	target *Target
	about  store.DueWarning
	due    []store.Notice // what it tells of
	stored string         // its level in the store
	level  string         // its level for people
}

// errNotDue ends the attempts to send a notice that another server sends or has sent, or that nobody wants any more.
var errNotDue = errors.New("the notice is not due any more")

// deliver sends the notice and marks it. What the target does not accept is dropped until the warning changes. The error is that of the
// store. A notice whose sending was cut off stays due.
func (l *letter) deliver(ctx context.Context, n Notice) error {
	err := l.attempt(ctx, n)
	refused, _ := errors.AsType[*Refusal](err)
	switch {
	case err == nil:
		l.counts.sent.Add(1)
		l.mark(ctx, l.about.Warning, slices.Concat(l.due, l.ofRun()))
		return nil
	case errors.Is(err, errNotDue):
		l.memory.done(l.about.Warning)
		return nil
	case ctx.Err() != nil && (refused == nil || !refused.Final):
		return nil
	}
	l.counts.failed.Add(1)
	l.log.Warn("a notice could not be delivered", "warning", l.about.Warning, "run", n.Run.ID, "error", err)
	return l.drop(ctx, l.about.Warning, l.due)
}

// attempt sends a notice until the target accepts or refuses it, or GiveUp has passed.
func (l *letter) attempt(ctx context.Context, n Notice) error {
	until := time.Now().Add(GiveUp)
	waits := backoff.ExponentialBackOff{InitialInterval: firstWait, RandomizationFactor: 0.5, Multiplier: 2, MaxInterval: MaxWait}
	err := l.target.Notifier.Send(ctx, n)
	for err != nil {
		refused, _ := errors.AsType[*Refusal](err)
		if refused != nil && refused.Final || ctx.Err() != nil {
			return err
		}
		pause := waits.NextBackOff() // random, so that targets do not retry at the same time
		if refused != nil {
			pause = max(pause, refused.After)
		}
		if time.Now().Add(pause).After(until) {
			return err
		}
		l.counts.retried.Add(1)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
		isDue, failed := l.isDue(ctx)
		if failed != nil {
			continue // without the store it is unknown whether another server has sent it
		}
		if !isDue {
			return errNotDue
		}
		err = l.target.Notifier.Send(ctx, n)
	}
	return nil
}

// isDue reports whether the notice is still due, and this server is the one that sends it.
func (l *letter) isDue(ctx context.Context) (bool, error) {
	due, silenced, err := l.records.DueLevels(ctx, l.about, l.holder)
	if err != nil || silenced || !slices.ContainsFunc(due, func(n store.Notice) bool { return n.Level == l.stored }) {
		return false, err
	}
	told, err := l.alreadyTold(ctx)
	return !told, err
}

// ofRun returns the levels of the run that the notice tells of, if the target is notified of each once per run. The run has notices of its
// own, in the place of a warning. A notice about a level includes the levels below it.
func (l *letter) ofRun() (notices []store.Notice) {
	if !l.target.OncePerRun {
		return nil
	}
	for _, level := range escalations[:rank(l.level)+1] {
		notices = append(notices, store.Notice{Endpoint: l.key, Run: l.about.Run, Warning: runKey(l.about.Run), Level: level})
	}
	return notices
}

// alreadyTold reports whether the target was notified of the level of the run, if it is notified of each once per run.
func (l *letter) alreadyTold(ctx context.Context) (bool, error) {
	if !l.target.OncePerRun {
		return false, nil
	}
	levels, err := l.records.SentLevels(ctx, l.key, runKey(l.about.Run))
	return slices.Contains(levels, l.level), err
}

// runKey stands for a run in the place of a warning.
func runKey(run int64) string { return "run:" + strconv.FormatInt(run, 10) }
