package webhook

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
)

// How a message is tried again.
const (
	firstWait = time.Second      // between the first two attempts, about; it doubles
	maxWait   = time.Minute      // but for what the endpoint asks for
	giveUp    = 15 * time.Minute // since the first attempt
	quiet     = time.Minute      // between two lines of the log about dropped warnings
	atTheEnd  = 2 * time.Second  // to take claims back once all else has to end
)

// worker tells one endpoint.
type worker struct {
	endpoint Endpoint
	key      string
	options  *Options
	claims   Claims
	client   *http.Client
	queue    *queue
	closing  <-chan struct{}
	log      *slog.Logger
	counts   struct{ sent, retried, failed, dropped atomic.Int64 }
	lastDrop atomic.Int64 // when the log said so last, in Unix nanoseconds
}

// work sends until the sink closes and nothing is left, or ctx is done.
func (w *worker) work(ctx context.Context) {
	for ctx.Err() == nil {
		if n, told := w.queue.take(); n != nil {
			w.tell(ctx, n, told)
			continue
		}
		select {
		case <-w.queue.more:
		case <-ctx.Done():
		case <-w.closing:
			if w.queue.len() == 0 {
				return
			}
		}
	}
}

// dropped counts a warning that had no place, and says so now and then.
func (w *worker) dropped() {
	n := w.counts.dropped.Add(1)
	now, last := time.Now().UnixNano(), w.lastDrop.Load()
	if now-last >= int64(quiet) && w.lastDrop.CompareAndSwap(last, now) {
		w.log.Warn("the webhook's queue is full, warnings are dropped", "dropped", n)
	}
}

// tell sends what the endpoint has not been told of a warning, if there is anything.
func (w *worker) tell(ctx context.Context, n *notice, told stage) {
	to := n.stage()
	if told.covers(to) {
		return
	}
	fresh, err := w.claim(ctx, &n.warning, told.claims(to))
	if err == nil {
		w.queue.remember(n.warning.ID, to)
		level := n.headline(fresh)
		if level == "" {
			return
		}
		if err = w.deliver(ctx, n, level); err == nil {
			w.counts.sent.Add(1)
			return
		}
	}
	w.counts.failed.Add(1)
	w.log.Warn("a webhook message was given up", "warning", n.warning.ID, "run", n.run.ID, "error", err)
	w.queue.remember(n.warning.ID, stage{})
	w.unclaim(ctx, n.warning.ID, fresh)
}

// claim returns those of the levels that were not claimed before.
func (w *worker) claim(ctx context.Context, warning *store.Warning, levels []string) (fresh []string, err error) {
	for _, level := range levels {
		ok, err := w.claims.Claim(ctx, w.key, warning.Run, warning.ID, level)
		if err != nil {
			return fresh, err
		}
		if ok {
			fresh = append(fresh, level)
		}
	}
	return fresh, nil
}

// unclaim takes claims back, so that the warning is told when it grows, if only later. It has a little time when ctx is done.
func (w *worker) unclaim(ctx context.Context, warning string, levels []string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), atTheEnd)
	defer cancel()
	for _, level := range levels {
		if err := w.claims.Unclaim(ctx, w.key, warning, level); err != nil {
			w.log.Warn("a warning will not be told at this level any more", "warning", warning, "level", level, "error", err)
		}
	}
}

// deliver posts a message until it is taken, refused, or too late.
func (w *worker) deliver(ctx context.Context, n *notice, level string) error {
	body, err := w.message(n, level)
	if err != nil {
		return err
	}
	until := time.Now().Add(giveUp)
	for wait := firstWait; ; wait = min(2*wait, maxWait) {
		err := w.post(ctx, body)
		if err == nil {
			return nil
		}
		refused, _ := errors.AsType[*refusal](err)
		if refused != nil && refused.final || ctx.Err() != nil {
			return err
		}
		pause := wait/2 + rand.N(wait) // so that many do not come back at once
		if refused != nil {
			pause = max(pause, refused.after)
		}
		if time.Now().Add(pause).After(until) {
			return err
		}
		w.counts.retried.Add(1)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
}
