// Package sink tells people of warnings: it sends a notice to each of its targets when a warning is raised and when it
// escalates. Before it is the pipeline, which must never wait; behind it are notifiers, such as the package webhook, whose
// servers are slow or down. So each target has a bounded queue and a worker of its own. The sink owns the queues, the levels,
// the claims and the retries. A notifier only sends.
//
// A notice says what the warning says: which rule, which tool, how often. What a user, an agent or a tool said is not in it.
package sink

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/store"
)

// Notice is what a person is told of a warning.
type Notice struct {
	ID       string         // the same for the same target, warning and level, however often it is sent
	Level    string         // Raised, Grown, Block or Halt
	Run      api.RunSummary // without its metadata
	Warning  api.Warning    // without its details
	Why      string         // why it matters
	Try      string         // what to try
	Decision *api.Decision  // the most severe decision because of the warning; nil if it is not block or halt
}

// Notifier sends notices to one target. One goroutine calls it. A notifier that is an io.Closer is closed with the sink.
type Notifier interface {
	// Send makes one attempt. An error that is a *Refusal says whether and when another attempt is worth it. After any other error
	// the sink tries again.
	Send(ctx context.Context, n Notice) error
}

// Refusal is the error of a target that answered and did not take a notice.
type Refusal struct {
	Reason string
	After  time.Duration // the target asks for no attempt before this time has passed
	Final  bool          // another attempt would be refused, too
}

func (r *Refusal) Error() string { return r.Reason }

// Target is who is told.
type Target struct {
	Notifier Notifier
	Key      string          // names the target in claims; stable over restarts, and no secret
	Host     string          // for logs and metrics; no secret
	Rules    []string        // of the warnings that it is told of; empty for all
	Severity unloop.Severity // the least that it is told of; "" for all
	Projects []string        // of the runs that it is told of; empty for all
}

// Severities are in rising order.
var Severities = [...]unloop.Severity{unloop.SeverityInfo, unloop.SeverityWarning, unloop.SeverityCritical}

// wants reports whether the target is to be told.
func (t *Target) wants(p *pending) bool {
	return slices.Index(Severities[:], unloop.Severity(p.warning.Severity)) >= slices.Index(Severities[:], t.Severity) &&
		(len(t.Rules) == 0 || slices.Contains(t.Rules, p.warning.Rule)) &&
		(len(t.Projects) == 0 || slices.Contains(t.Projects, p.run.Project))
}

// Claims remembers, beyond a restart, at which levels each endpoint was told of each warning.
type Claims interface {
	// Claim records that the endpoint is told of the run's warning at the level. It returns false if that was recorded before, or if
	// the run does not exist.
	Claim(ctx context.Context, endpoint string, run int64, warning, level string) (bool, error)
	// Unclaim takes that back, since the endpoint could not be told.
	Unclaim(ctx context.Context, endpoint, warning, level string) error
}

// Sink sends notices. It is safe for concurrent use.
type Sink struct {
	workers []*worker
	ended   sync.WaitGroup
	closing chan struct{}
	close   func() // closing
	abandon context.CancelFunc
}

// New returns a sink and starts a worker for each target. It ends with Close.
func New(targets []Target, claims Claims, log *slog.Logger) *Sink {
	ctx, abandon := context.WithCancel(context.Background())
	s := &Sink{closing: make(chan struct{}), abandon: abandon}
	s.close = sync.OnceFunc(func() { close(s.closing) })
	for i, t := range targets {
		w := &worker{
			Target: t, claims: claims, queue: newQueue(), closing: s.closing, log: log.With("endpoint", i+1, "host", t.Host),
			sayDrops: rate.Sometimes{Interval: quiet},
		}
		s.workers = append(s.workers, w)
		s.ended.Go(func() { w.work(ctx) })
	}
	return s
}

// Publish takes note of the warnings that an update raises, makes grow or blocks for. It never blocks, and keeps nothing of the
// update. After Close it does nothing.
func (s *Sink) Publish(u *store.Update) {
	select {
	case <-s.closing:
		return
	default:
	}
	if u.Deleted {
		for _, w := range s.workers {
			w.queue.forget(u.Run.Number)
		}
		return
	}
	for _, n := range pendingOf(u) {
		for _, w := range s.workers {
			if w.wants(n) && !w.queue.put(n) {
				w.dropped()
			}
		}
	}
}

// Close takes no more updates, sends what waits, and gives up on the rest when ctx is done: then it returns its error.
func (s *Sink) Close(ctx context.Context) error {
	s.close()
	defer s.abandon()
	stop := context.AfterFunc(ctx, s.abandon)
	defer stop()
	s.ended.Wait()
	for _, w := range s.workers {
		if left := w.queue.clear(); left > 0 {
			w.counts.dropped.Add(int64(left))
			w.log.Warn("notices were not sent before the end", "notices", left)
		}
		if c, ok := w.Notifier.(io.Closer); ok {
			_ = c.Close() // nothing is sent any more
		}
	}
	return ctx.Err()
}

// Stats are counts of a target since the start.
type Stats struct {
	Host    string // of the target
	Waiting int    // warnings, at the moment
	Sent    int64  // notices that it took
	Retried int64  // attempts that failed and were worth another
	Failed  int64  // notices that it did not take in time, or refused
	Dropped int64  // warnings for which there was no place in the queue, or no time at the end
}

// Stats returns the counts of each target, in the order of New.
func (s *Sink) Stats() []Stats {
	all := make([]Stats, 0, len(s.workers))
	for _, w := range s.workers {
		c := &w.counts
		all = append(all, Stats{
			Host: w.Host, Waiting: w.queue.len(), Sent: c.sent.Load(), Retried: c.retried.Load(), Failed: c.failed.Load(),
			Dropped: c.dropped.Load(),
		})
	}
	return all
}
