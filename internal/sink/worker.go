package sink

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/store"
)

// How a notice is tried again.
const (
	firstWait = time.Second      // between the first two attempts, about; it doubles
	MaxWait   = time.Minute      // the longest wait, unless the target asks for more
	GiveUp    = 15 * time.Minute // since the first attempt
	quiet     = time.Minute      // between two lines of the log about dropped warnings
	atTheEnd  = 2 * time.Second  // to take claims back once all else has to end
)

// worker tells one target.
type worker struct {
	Target
	claims   Claims
	queue    *queue
	closing  <-chan struct{}
	log      *slog.Logger
	counts   struct{ sent, retried, failed, dropped atomic.Int64 }
	sayDrops rate.Sometimes
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
	w.sayDrops.Do(func() { w.log.Warn("the queue is full, warnings are dropped", "dropped", n) })
}

// tell sends what the endpoint has not been told of a warning, if there is anything.
func (w *worker) tell(ctx context.Context, n *pending, told stage) {
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
	w.log.Warn("a notice was given up", "warning", n.warning.ID, "run", n.run.ID, "error", err)
	w.queue.remember(n.warning.ID, stage{})
	w.unclaim(ctx, n.warning.ID, fresh)
}

// claim returns those of the levels that were not claimed before.
func (w *worker) claim(ctx context.Context, warning *store.Warning, levels []string) (fresh []string, err error) {
	for _, level := range levels {
		ok, err := w.claims.Claim(ctx, w.Key, warning.Run, warning.ID, level)
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
		if err := w.claims.Unclaim(ctx, w.Key, warning, level); err != nil {
			w.log.Warn("a warning will not be told at this level any more", "warning", warning, "level", level, "error", err)
		}
	}
}

// deliver sends a notice until it is taken, refused, or too late.
func (w *worker) deliver(ctx context.Context, p *pending, level string) error {
	n := w.notice(p, level)
	until := time.Now().Add(GiveUp)
	for wait := firstWait; ; wait = min(2*wait, MaxWait) {
		err := w.Notifier.Send(ctx, n)
		if err == nil {
			return nil
		}
		refused, _ := errors.AsType[*Refusal](err)
		if refused != nil && refused.Final || ctx.Err() != nil {
			return err
		}
		pause := wait/2 + rand.N(wait) // so that many do not come back at once
		if refused != nil {
			pause = max(pause, refused.After)
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

// notice returns what is sent. Of the details of a warning, it has only why and try: the others quote the run.
func (w *worker) notice(p *pending, level string) Notice {
	var advice struct{ Why, Try string }
	_ = json.Unmarshal(p.warning.Details, &advice) // without advice, the notice still says what happened
	n := Notice{
		ID: w.noticeID(p, level), Level: level, Run: api.SummaryOf(&p.run), Warning: api.WarningOf(p.run.ID, &p.warning), Why: advice.Why, Try: advice.Try,
	}
	n.Run.Metadata, n.Warning.Details = nil, nil
	if p.decision != nil {
		n.Decision = &api.DecisionsOf(p.run.ID, []store.Decision{*p.decision})[0]
	}
	return n
}

func (w *worker) noticeID(p *pending, level string) string {
	if level == Grown {
		level = fmt.Sprint(p.stage().count)
	}
	sum := sha256.Sum256([]byte(w.Key + "\x00" + p.warning.ID + "\x00" + level))
	return "msg_" + hex.EncodeToString(sum[:12])
}
