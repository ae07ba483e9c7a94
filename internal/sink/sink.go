// Package sink notifies people of warnings. It sends a notice to each of its targets when a warning is raised and when it
// escalates. The pipeline publishes updates to it and must not wait, but notifiers such as package webhook call servers that may
// be slow or down. Each target therefore has a bounded queue and a worker. The sink owns the queues, the levels, the claims and
// the retries. A notifier only sends.
//
// A notice has the rule, the tool and the count of the warning. It does not quote users, agents or tools.
package sink

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/store"
)

// Notice is a message about a warning.
type Notice struct {
	ID       string         // the same for the same target, warning and level, also when it is sent again
	Level    string         // Raised, Grown, Block or Halt
	Run      api.RunSummary // without its metadata
	Warning  api.Warning    // without its details
	Why      string         // why it matters
	Try      string         // what to try
	Decision *api.Decision  // the most severe decision because of the warning, without its message; nil if it is not block or halt
}

// RunURL returns the URL of a run's page, or "" without the base URL of the server.
func RunURL(base, run string) string {
	if base == "" {
		return ""
	}
	return strings.TrimRight(base, "/") + "/runs/" + store.PathOf(run)
}

// Notifier sends notices to one target. One goroutine calls it. A notifier that implements io.Closer is closed with the sink.
type Notifier interface {
	// Send makes one attempt. If the error is a *Refusal, it determines whether and when the sink tries again. After any other
	// error the sink tries again.
	Send(ctx context.Context, n Notice) error
}

// Refusal is the error if the target answered and did not accept the notice.
type Refusal struct {
	Reason string
	After  time.Duration // the minimum time until the next attempt
	Final  bool          // another attempt would fail, too
}

func (r *Refusal) Error() string { return r.Reason }

// Target is a receiver of notices.
type Target struct {
	Notifier Notifier
	Key      string          // identifies the target in claims; stable over restarts, without secrets
	Host     string          // for logs and metrics; without secrets
	Rules    []string        // send only warnings of these rules; empty for all
	Severity unloop.Severity // send only warnings of at least this severity; "" for all
	Projects []string        // send only warnings of runs of these projects; empty for all

	Least      string      // send only notices of at least this level: Raised, Block or Halt; "" for all
	OncePerRun bool        // send one notice for each run and level, without Grown, instead of one for each warning and level
	Quiet      *QuietHours // nil for none
}

// Severities are the severities in ascending order.
var Severities = [...]unloop.Severity{unloop.SeverityInfo, unloop.SeverityWarning, unloop.SeverityCritical}

// wants reports whether the target receives notices about the warning.
func (t *Target) wants(p *pending) bool {
	return slices.Index(Severities[:], unloop.Severity(p.warning.Severity)) >= slices.Index(Severities[:], t.Severity) &&
		(len(t.Rules) == 0 || slices.Contains(t.Rules, p.warning.Rule)) &&
		(len(t.Projects) == 0 || slices.Contains(t.Projects, p.run.Project))
}

// Claims stores, over restarts, at which levels each target was notified of each warning.
type Claims interface {
	// Claim records that the endpoint has been notified of the warning at the level. It returns false if that was already
	// recorded, or if the run does not exist.
	Claim(ctx context.Context, endpoint string, run int64, warning, level string) (bool, error)
	// Unclaim deletes a claim whose notice could not be delivered.
	Unclaim(ctx context.Context, endpoint, warning, level string) error
}

// Records are the claims and the waiting notices of a sink. *sqlstore.Store implements it.
type Records interface {
	Claims
	Waiting
}

// Sink sends notices. It is safe for concurrent use.
type Sink struct {
	records Records
	log     *slog.Logger
	ended   sync.WaitGroup
	ctx     context.Context // of all workers
	abandon context.CancelFunc
	closing chan struct{}

	mu      sync.RWMutex
	workers []*worker // one for each target, in the order in which the targets were added
	made    int       // number of workers so far
	closed  bool
}

// New returns a sink and starts a worker for each target. Close stops them.
func New(targets []Target, records Records, log *slog.Logger) *Sink {
	s := &Sink{records: records, log: log, closing: make(chan struct{})}
	s.ctx, s.abandon = context.WithCancel(context.Background())
	for _, t := range targets {
		s.add(t, newQueue())
	}
	return s
}

// add starts the worker of a target.
func (s *Sink) add(t Target, q *queue) {
	s.made++
	ctx, stop := context.WithCancel(s.ctx)
	w := &worker{
		Target: t, claims: s.records, waiting: s.records, queue: q, closing: s.closing, stop: stop, log: s.log.With("endpoint", s.made, "host", t.Host),
		logDrops: rate.Sometimes{Interval: quiet},
	}
	s.workers = append(s.workers, w)
	s.ended.Go(func() {
		w.work(ctx)
		stop()
		w.forgetIfRemoved()
		q.wake() // the worker of a target that replaced this one has the queue now
		if c, ok := w.Notifier.(io.Closer); ok {
			_ = c.Close() // nothing is sent after it
		}
	})
}

// Set adds a target, or replaces the one with its key and gives it the warnings that wait. A notice that is being sent to the replaced
// target is abandoned. After Close it does nothing.
func (s *Sink) Set(t Target) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	q := newQueue()
	if old := s.remove(t.Key); old != nil {
		q = old.queue
	}
	s.add(t, q)
}

// Remove removes the target with the key and drops the warnings that wait for it.
func (s *Sink) Remove(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := slices.IndexFunc(s.workers, func(w *worker) bool { return w.Key == key }); at >= 0 {
		s.workers[at].removed.Store(true)
		s.remove(key)
	}
}

// remove stops the worker of a target and returns it; nil if there is none.
func (s *Sink) remove(key string) *worker {
	at := slices.IndexFunc(s.workers, func(w *worker) bool { return w.Key == key })
	if at < 0 {
		return nil
	}
	w := s.workers[at]
	s.workers = slices.Delete(slices.Clone(s.workers), at, at+1) // Publish and Stats may be reading the old slice
	w.stop()
	return w
}

// current returns the workers.
func (s *Sink) current() []*worker {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.workers
}

// Publish queues the warnings of an update that are new, have grown, or caused a block or halt. It never blocks, and keeps no
// reference to the update. After Close it does nothing.
func (s *Sink) Publish(u *store.Update) {
	select {
	case <-s.closing:
		return
	default:
	}
	workers := s.current()
	if u.Deleted {
		for _, w := range workers {
			w.queue.forget(u.Run.Number)
		}
		return
	}
	for _, n := range pendingOf(u) {
		for _, w := range workers {
			if w.wants(n) && !w.queue.put(n) {
				w.dropped()
			}
		}
	}
}

// Close stops accepting updates and sends the queued notices. If ctx is done first, it drops the rest and returns the error of
// ctx. Notices that wait for the end of quiet hours stay in the store.
func (s *Sink) Close(ctx context.Context) error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.closing)
	}
	s.mu.Unlock()
	defer s.abandon()
	stop := context.AfterFunc(ctx, s.abandon)
	defer stop()
	s.ended.Wait()
	for _, w := range s.current() {
		if left := w.queue.clear(); left > 0 {
			w.counts.dropped.Add(int64(left))
			w.log.Warn("notices were not sent before the end", "notices", left)
		}
	}
	return ctx.Err()
}

// Stats are counts of a target since the start.
type Stats struct {
	Key     string // of the target
	Host    string // of the target
	Waiting int    // warnings that are queued, or wait for the end of quiet hours
	Sent    int64  // notices that it accepted
	Retried int64  // failed attempts that were followed by another one
	Failed  int64  // notices that it refused or did not accept in time
	Dropped int64  // warnings that were dropped because the queue was full or the sink was closed
}

// Stats returns the counts of each target, in the order in which they were added. A target that replaced another starts at 0.
func (s *Sink) Stats() []Stats {
	workers := s.current()
	all := make([]Stats, 0, len(workers))
	for _, w := range workers {
		c := &w.counts
		all = append(all, Stats{
			Key: w.Key, Host: w.Host, Waiting: w.queue.len() + int(c.kept.Load()), Sent: c.sent.Load(), Retried: c.retried.Load(), Failed: c.failed.Load(),
			Dropped: c.dropped.Load(),
		})
	}
	return all
}
