package sink

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
)

// Waiting keeps, over restarts, the notices that wait for the end of quiet hours.
type Waiting interface {
	// KeepNotice writes a notice for the endpoint. change gets the state of the notice that already waits for the same warning, nil for
	// none, and returns the new state. A run that does not exist has no notices.
	KeepNotice(ctx context.Context, n store.WaitingNotice, change func(before []byte) ([]byte, error)) error
	// WaitingNotices returns the first notices for the endpoint, the longest waiting first, and the number of all.
	WaitingNotices(ctx context.Context, endpoint string, limit int) (first []store.WaitingNotice, total int, err error)
	// ForgetNotices deletes the notice about a warning. The warning "" means all notices for the endpoint.
	ForgetNotices(ctx context.Context, endpoint, warning string) error

	Run(ctx context.Context, id string) (*store.Run, error)
	Warnings(ctx context.Context, run int64) ([]store.Warning, error)
}

// Bounds of reading and writing waiting notices.
const (
	keepTime    = 5 * time.Second // to write a notice, also after the worker was stopped
	waitingPage = 100
)

// keptState is the state of a waiting notice. The run and the warning are read again before it is sent.
type keptState struct {
	RunID    string          `json:"run_id"`
	RaisedAt int             `json:"raised_at"`
	Decision *store.Decision `json:"decision,omitempty"`
}

func (s *keptState) pending() *pending {
	return &pending{run: store.Run{ID: s.RunID}, raisedAt: s.RaisedAt, decision: s.Decision}
}

// sleep keeps what is in the queue, and returns when the quiet hours end or something is queued. It returns false if the worker must
// end.
func (w *worker) sleep(ctx context.Context, left time.Duration) bool {
	w.keepAll(ctx)
	select {
	case <-time.After(left):
	case <-w.queue.more:
	case <-ctx.Done():
		return false
	case <-w.closing:
		w.keepAll(ctx)
		return false
	}
	return true
}

func (w *worker) keepAll(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTime)
	defer cancel()
	for {
		n, done := w.queue.take()
		if n == nil {
			break
		}
		if done.covers(n.stage()) {
			continue
		}
		if err := w.keep(ctx, n); err != nil {
			w.counts.dropped.Add(1)
			w.log.Warn("a notice could not be kept until the end of quiet hours", "warning", n.warning.ID, "run", n.run.ID, "error", err)
		}
	}
	w.countWaiting(ctx)
}

func (w *worker) keep(ctx context.Context, n *pending) error {
	row := store.WaitingNotice{Endpoint: w.Key, Run: n.run.Number, Warning: n.warning.ID, Since: time.Now()}
	return w.waiting.KeepNotice(ctx, row, func(before []byte) ([]byte, error) {
		merged := n
		if before != nil {
			var s keptState
			if err := json.Unmarshal(before, &s); err != nil {
				return nil, fmt.Errorf("read the notice that waits: %w", err)
			}
			merged = s.pending()
			merged.merge(n)
		}
		return json.Marshal(keptState{merged.run.ID, merged.raisedAt, merged.decision})
	})
}

// countWaiting sets the number of notices in the store.
func (w *worker) countWaiting(ctx context.Context) {
	if _, total, err := w.waiting.WaitingNotices(ctx, w.Key, 1); err == nil {
		w.counts.kept.Store(int64(total))
	}
}

// forgetIfRemoved deletes what waits for a target that was removed.
func (w *worker) forgetIfRemoved() {
	if !w.removed.Load() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), keepTime)
	defer cancel()
	if err := w.waiting.ForgetNotices(ctx, w.Key, ""); err != nil {
		w.log.Warn("deleting the notices that wait for a removed target failed", "error", err)
	}
}

// sendKept sends what waited for the end of quiet hours, and reports whether it is all sent. The rest stays in the store.
func (w *worker) sendKept(ctx context.Context) bool {
	for {
		first, total, err := w.waiting.WaitingNotices(ctx, w.Key, waitingPage)
		if err != nil {
			w.log.Warn("reading the notices that wait failed; it is tried again with the next notice", "error", err)
			return false
		}
		w.counts.kept.Store(int64(total))
		if len(first) == 0 {
			return true
		}
		for k := range first {
			if w.ends(ctx) || w.Quiet.left(time.Now()) > 0 {
				return false
			}
			if err := w.sendOneKept(ctx, &first[k]); err != nil {
				w.log.Warn("sending a notice that waited failed; it is tried again with the next notice", "warning", first[k].Warning, "error", err)
				return false
			}
			w.counts.kept.Add(-1)
		}
	}
}

// ends reports whether the worker must end.
func (w *worker) ends(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return true
	case <-w.closing:
		return true
	default:
		return false
	}
}

func (w *worker) sendOneKept(ctx context.Context, row *store.WaitingNotice) error {
	n, err := w.restored(ctx, row)
	if err != nil {
		return err
	}
	if n != nil {
		w.send(ctx, n, w.queue.sentOf(row.Warning))
	}
	if err := ctx.Err(); err != nil { // it may not have been sent
		return err
	}
	return w.waiting.ForgetNotices(ctx, w.Key, row.Warning)
}

// restored returns the warning that a notice is about, as it is now. It returns nil if the run or the warning no longer exists.
func (w *worker) restored(ctx context.Context, row *store.WaitingNotice) (*pending, error) {
	var s keptState
	if err := json.Unmarshal(row.State, &s); err != nil {
		return nil, fmt.Errorf("read the notice: %w", err)
	}
	run, err := w.waiting.Run(ctx, s.RunID)
	if err != nil || run == nil {
		return nil, err
	}
	warnings, err := w.waiting.Warnings(ctx, run.Number)
	if err != nil {
		return nil, err
	}
	k := slices.IndexFunc(warnings, func(x store.Warning) bool { return x.ID == row.Warning })
	if k < 0 {
		return nil, nil
	}
	n := s.pending()
	n.run, n.warning = *run, warnings[k]
	return n, nil
}
