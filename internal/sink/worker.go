package sink

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/cenkalti/backoff/v5"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/store"
)

// Retries of a notice.
const (
	firstWait   = time.Second      // approximate wait between the first two attempts; it doubles
	MaxWait     = time.Minute      // the longest wait, unless the target asks for more
	GiveUp      = 15 * time.Minute // since the first attempt
	quiet       = time.Minute      // between two log lines about dropped warnings
	unclaimTime = 2 * time.Second  // to delete claims after the context is done
)

// worker sends the notices of one target.
type worker struct {
	Target
	claims   Claims
	waiting  Waiting
	queue    *queue
	closing  <-chan struct{}
	stop     context.CancelFunc // ends the worker without sending what waits
	log      *slog.Logger
	counts   struct{ sent, retried, failed, dropped, kept atomic.Int64 }
	removed  atomic.Bool // the target was removed, and not replaced
	logDrops rate.Sometimes
}

// work sends notices until the sink is closed and the queue is empty, or ctx is done. In quiet hours it moves them to the store.
func (w *worker) work(ctx context.Context) {
	allSent := false // what waited in the store
	for ctx.Err() == nil {
		if left := w.Quiet.left(time.Now()); left > 0 {
			if allSent = false; !w.sleep(ctx, left) {
				return
			}
			continue
		}
		allSent = allSent || w.sendKept(ctx)
		if n, done := w.queue.take(); n != nil {
			w.send(ctx, n, done)
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

// dropped counts a dropped warning and logs the count now and then.
func (w *worker) dropped() {
	n := w.counts.dropped.Add(1)
	w.logDrops.Do(func() { w.log.Warn("the queue is full, warnings are dropped", "dropped", n) })
}

// send sends a notice about a warning if it has reached a level after done.
func (w *worker) send(ctx context.Context, n *pending, done stage) {
	to := n.stage()
	if done.covers(to) {
		return
	}
	level, fresh, err := w.claim(ctx, n, done.claims(to))
	if err == nil {
		w.queue.remember(n.warning.ID, to)
		if level == "" {
			return
		}
		if err = w.deliver(ctx, n, level); err == nil {
			w.counts.sent.Add(1)
			return
		}
	}
	w.counts.failed.Add(1)
	w.log.Warn("a notice could not be delivered", "warning", n.warning.ID, "run", n.run.ID, "error", err)
	w.queue.remember(n.warning.ID, stage{})
	w.unclaim(ctx, fresh)
}

// claimed is a claim that was not held before.
type claimed struct{ of, level string }

// claim claims the levels of a warning and returns the level of the notice to send, or "" for none.
func (w *worker) claim(ctx context.Context, n *pending, levels []string) (level string, fresh []claimed, err error) {
	names, err := w.claimAll(ctx, n.run.Number, n.warning.ID, levels, &fresh)
	if err != nil {
		return "", fresh, err
	}
	level = n.headline(names)
	if level == "" || rank(level) < rank(w.Least) {
		return "", fresh, nil
	}
	if !w.OncePerRun {
		return level, fresh, nil
	}
	if level == Grown {
		return "", fresh, nil
	}
	// The run has claims of its own, in the place of a warning. A notice about a level includes the levels below it.
	names, err = w.claimAll(ctx, n.run.Number, "run:"+strconv.FormatInt(n.run.Number, 10), escalations[:rank(level)+1], &fresh)
	if !slices.Contains(names, level) {
		level = ""
	}
	return level, fresh, err
}

// claimAll claims levels of a warning or of a run, and returns the ones that were not claimed before. It adds them to fresh.
func (w *worker) claimAll(ctx context.Context, run int64, of string, levels []string, fresh *[]claimed) (names []string, err error) {
	for _, level := range levels {
		ok, err := w.claims.Claim(ctx, w.Key, run, of, level)
		if err != nil {
			return names, err
		}
		if ok {
			names = append(names, level)
			*fresh = append(*fresh, claimed{of, level})
		}
	}
	return names, nil
}

// unclaim deletes claims, so that a later change of the warning can be sent. It has some time even if ctx is done.
func (w *worker) unclaim(ctx context.Context, all []claimed) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unclaimTime)
	defer cancel()
	for _, c := range all {
		if err := w.claims.Unclaim(ctx, w.Key, c.of, c.level); err != nil {
			w.log.Warn("deleting a claim failed; no notice is sent at this level", "warning", c.of, "level", c.level, "error", err)
		}
	}
}

// deliver sends a notice until the target accepts or refuses it, or GiveUp has passed.
func (w *worker) deliver(ctx context.Context, p *pending, level string) error {
	n := w.notice(p, level)
	until := time.Now().Add(GiveUp)
	waits := backoff.ExponentialBackOff{InitialInterval: firstWait, RandomizationFactor: 0.5, Multiplier: 2, MaxInterval: MaxWait}
	for {
		err := w.Notifier.Send(ctx, n)
		if err == nil {
			return nil
		}
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
		w.counts.retried.Add(1)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
}

// notice returns the notice. It contains only why and try of the warning's details, and no message of the decision, because these quote
// the run.
func (w *worker) notice(p *pending, level string) Notice {
	var advice struct{ Why, Try string }
	_ = json.Unmarshal(p.warning.Details, &advice) // without advice, the notice is still useful
	n := Notice{
		ID: w.noticeID(p, level), Level: level, Run: api.SummaryOf(&p.run), Warning: api.WarningOf(p.run.ID, &p.warning), Why: advice.Why, Try: advice.Try,
	}
	n.Run.Metadata, n.Warning.Details = nil, nil
	if p.decision != nil {
		n.Decision = &api.DecisionsOf(p.run.ID, []store.Decision{*p.decision})[0]
		n.Decision.Message = ""
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
