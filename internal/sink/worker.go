package sink

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/store"
)

const (
	quiet      = time.Minute      // between two log lines about dropped warnings
	page       = 100              // warnings that are read at once
	checkEvery = 10 * time.Second // between two looks at the store without a reason
	errorPause = 5 * time.Second  // after the store failed
	markTime   = 5 * time.Second  // of an attempt to write to the store, also after the worker was stopped
	markPause  = time.Second      // between two such attempts
)

// worker sends the due notices of the targets with one key. It reads them from the store, so it needs no queue in memory.
type worker struct {
	targets  []Target // a notice is sent to the first one that wants it
	key      string
	host     string
	holder   string
	records  Records
	memory   *memory
	closing  <-chan struct{}
	ended    chan struct{}
	stop     context.CancelFunc // ends the worker without sending what is due
	log      *slog.Logger
	counts   struct{ sent, retried, failed, dropped atomic.Int64 }
	removed  atomic.Bool // the target was removed, and not replaced
	logDrops rate.Sometimes
}

func newWorker(targets []Target, records Records, holder string, log *slog.Logger) *worker {
	return &worker{
		targets: targets, key: targets[0].Key, host: targets[0].Host, holder: holder, records: records, memory: newMemory(), ended: make(chan struct{}), log: log,
		logDrops: rate.Sometimes{Interval: quiet},
	}
}

// target returns the target that is notified of a warning; nil for none.
func (w *worker) target(n *pending) *Target {
	for k := range w.targets {
		if t := &w.targets[k]; t.wants(n) {
			return t
		}
	}
	return nil
}

// quietFor returns how long the quiet hours last from now on. Only a target that people set up has some, and it has a key of its own.
func (w *worker) quietFor() time.Duration { return w.targets[0].Quiet.left(time.Now()) }

// work sends notices until the sink is closed and none is due, or ctx is done. In quiet hours they stay in the store.
func (w *worker) work(ctx context.Context) {
	for {
		closing := w.isClosing() // what was published before is in the store
		pause := w.sendDue(ctx)
		if closing || ctx.Err() != nil {
			return
		}
		select {
		case <-w.memory.more:
		case <-time.After(pause):
		case <-w.closing:
		case <-ctx.Done():
		}
	}
}

func (w *worker) isClosing() bool {
	select {
	case <-w.closing:
		return true
	default:
		return false
	}
}

// sendDue sends what is due, and returns the time until the store is to be read again.
func (w *worker) sendDue(ctx context.Context) (pause time.Duration) {
	for ctx.Err() == nil {
		most, left := page, w.quietFor()
		if left > 0 {
			most = 1
			w.memory.setAside()
		}
		first, total, err := w.records.DueWarnings(ctx, w.key, w.holder, most)
		if err != nil {
			return w.failed(ctx, "reading the due notices failed; it is tried again", err)
		}
		w.memory.found(total)
		if left > 0 {
			return left
		}
		if len(first) == 0 {
			break
		}
		for k := range first {
			if ctx.Err() != nil || w.quietFor() > 0 {
				break
			}
			if err := w.send(ctx, first[k]); err != nil {
				return w.failed(ctx, "sending a notice failed; it is tried again", err)
			}
		}
	}
	return checkEvery
}

// failed logs an error of the store, and returns the pause after it.
func (w *worker) failed(ctx context.Context, message string, err error) time.Duration {
	if ctx.Err() == nil {
		w.log.Warn(message, "error", err)
	}
	return errorPause
}

// send sends a notice about the due levels of a warning. The error is that of the store: the notice was not sent, and is due.
func (w *worker) send(ctx context.Context, d store.DueWarning) error {
	due, silenced, err := w.records.DueLevels(ctx, d, w.holder)
	if err != nil {
		return err
	}
	n, err := w.restored(ctx, d)
	if err != nil {
		return err
	}
	if n == nil {
		return w.drop(ctx, d.Warning, due)
	}
	t := w.target(n)
	if silenced || t == nil || len(due) == 0 {
		w.mark(ctx, d.Warning, due)
		return nil
	}
	l := &letter{worker: w, target: t, about: d, due: due}
	if l.stored, l.level = headline(due); rank(l.level) < rank(t.Least) { // the target was changed
		w.mark(ctx, d.Warning, due)
		return nil
	}
	if n.decision, err = decisionOf(due, l.stored); err != nil {
		return err
	}
	if told, err := l.alreadyTold(ctx); told || err != nil {
		if err == nil {
			w.mark(ctx, d.Warning, due)
		}
		return err
	}
	return l.deliver(ctx, w.notice(n, l.stored, l.level))
}

// restored returns the warning that notices are about, as it is now. It returns nil if the run or the warning no longer exists.
func (w *worker) restored(ctx context.Context, d store.DueWarning) (*pending, error) {
	run, err := w.records.Run(ctx, d.RunID)
	if err != nil || run == nil || run.Number != d.Run {
		return nil, err
	}
	warnings, err := w.records.Warnings(ctx, run.Number)
	if err != nil {
		return nil, err
	}
	for k := range warnings {
		if warnings[k].ID == d.Warning {
			return &pending{run: *run, warning: warnings[k], raisedAt: -1}, nil
		}
	}
	return nil, nil
}

// decisionOf returns the decision that a due level is about; nil for none.
func decisionOf(due []store.Notice, level string) (*store.Decision, error) {
	for k := range due {
		if due[k].Level == level {
			var s state
			err := json.Unmarshal(due[k].State, &s)
			return s.Decision, err
		}
	}
	return nil, nil
}

// mark records that notices are sent, or need not be. It tries until it succeeds or ctx is done, because a notice that is not marked is
// sent again.
func (w *worker) mark(ctx context.Context, warning string, notices []store.Notice) {
	for {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), markTime)
		err := w.records.MarkSent(bounded, notices)
		cancel()
		if err == nil {
			w.memory.done(warning)
			return
		}
		w.log.Warn("a notice that was sent could not be marked; it is sent again if the server ends before", "warning", warning, "error", err)
		select {
		case <-time.After(markPause):
		case <-ctx.Done():
			return
		}
	}
}

// drop deletes notices, so that a later change of the warning can be sent.
func (w *worker) drop(ctx context.Context, warning string, notices []store.Notice) error {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), markTime)
	defer cancel()
	if err := w.records.DropNotices(bounded, notices); err != nil {
		return err
	}
	w.memory.done(warning)
	w.memory.forget(warning)
	return nil
}

// dropIfRemoved deletes what is due for a target that was removed.
func (w *worker) dropIfRemoved() {
	if !w.removed.Load() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), markTime)
	defer cancel()
	if err := w.records.DropDue(ctx, w.key); err != nil {
		w.log.Warn("deleting the notices for a removed target failed", "error", err)
	}
}

// notice returns the notice. It contains only why and try of the warning's details, and no message of the decision, because these quote
// the run.
func (w *worker) notice(p *pending, stored, level string) Notice {
	var advice struct{ Why, Try string }
	_ = json.Unmarshal(p.warning.Details, &advice) // without advice, the notice is still useful
	n := Notice{
		ID: w.noticeID(p.warning.ID, stored), Level: level, Run: api.SummaryOf(&p.run), Warning: api.WarningOf(p.run.ID, &p.warning), Why: advice.Why, Try: advice.Try,
	}
	n.Run.Metadata, n.Warning.Details = nil, nil
	if p.decision != nil {
		n.Decision = &api.DecisionsOf(p.run.ID, []store.Decision{*p.decision})[0]
		n.Decision.Message = ""
	}
	return n
}

// noticeID depends only on what the store has, so a notice that is sent again after a crash has the same id.
func (w *worker) noticeID(warning, stored string) string {
	sum := sha256.Sum256([]byte(w.key + "\x00" + warning + "\x00" + stored))
	return "msg_" + hex.EncodeToString(sum[:12])
}
