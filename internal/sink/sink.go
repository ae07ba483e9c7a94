// Package sink notifies people of warnings. It sends a notice to each of its targets when a warning is raised and when it
// escalates. The pipeline must not wait, but notifiers such as package webhook call servers that may be slow or down.
//
// The notices that an update makes due are written in the transaction of the update's records. A worker for each target reads them from the
// store, sends them, and then marks them as sent. So a server that is killed loses no notice: what is not marked is sent after its start,
// or by another server of its cluster. The sink owns the levels, the bounds and the retries. A notifier only sends.
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
	Key      string          // identifies the target in the store; stable over restarts, without secrets
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

// Records is the store of notices. *sqlstore.Store implements it.
type Records interface {
	// DueWarnings returns the first warnings with due notices for an endpoint that a server holds, the longest waiting first, and the
	// number of all.
	DueWarnings(ctx context.Context, endpoint, holder string, limit int) (first []store.DueWarning, total int, err error)
	// DueLevels returns the due notices about a warning that a server holds, and whether the warning is acknowledged or muted.
	DueLevels(ctx context.Context, d store.DueWarning, holder string) (due []store.Notice, silenced bool, err error)
	// SentLevels returns the levels of a warning that are not due for an endpoint.
	SentLevels(ctx context.Context, endpoint, warning string) ([]string, error)
	// MarkSent records that notices need no message any more.
	MarkSent(ctx context.Context, notices []store.Notice) error
	// DropNotices deletes due notices, so that their levels can be due again.
	DropNotices(ctx context.Context, notices []store.Notice) error
	// DropDue deletes all due notices for an endpoint.
	DropDue(ctx context.Context, endpoint string) error

	Run(ctx context.Context, id string) (*store.Run, error)
	Warnings(ctx context.Context, run int64) ([]store.Warning, error)
}

// Sink sends notices. It is safe for concurrent use.
type Sink struct {
	records Records
	holder  string
	log     *slog.Logger
	ended   sync.WaitGroup
	ctx     context.Context // of all workers
	abandon context.CancelFunc
	closing chan struct{}

	mu      sync.RWMutex
	workers []*worker // one for each key, in the order in which the targets were added
	made    int       // number of workers so far
	closed  bool
}

// New returns a sink and starts a worker for each target, or for several targets with one key. Close stops them. In a cluster, holder is
// the name of the server, which sends only what it holds.
func New(targets []Target, records Records, holder string, log *slog.Logger) *Sink {
	s := &Sink{records: records, holder: holder, log: log, closing: make(chan struct{})}
	s.ctx, s.abandon = context.WithCancel(context.Background())
	var keys []string
	byKey := make(map[string][]Target)
	for _, t := range targets {
		if byKey[t.Key] == nil {
			keys = append(keys, t.Key)
		}
		byKey[t.Key] = append(byKey[t.Key], t)
	}
	for _, key := range keys {
		s.add(byKey[key], nil)
	}
	return s
}

// add starts the worker of targets with one key. It begins when the worker that it replaces has ended; nil for none.
func (s *Sink) add(targets []Target, old *worker) {
	s.made++
	ctx, stop := context.WithCancel(s.ctx)
	w := newWorker(targets, s.records, s.holder, s.log.With("endpoint", s.made, "host", targets[0].Host))
	w.stop, w.closing = stop, s.closing
	if old != nil {
		w.memory = old.memory
	}
	s.workers = append(s.workers, w)
	s.ended.Go(func() {
		defer close(w.ended)
		defer stop()
		if old != nil {
			<-old.ended
		}
		w.work(ctx)
		w.dropIfRemoved()
		for _, t := range targets {
			if c, ok := t.Notifier.(io.Closer); ok {
				_ = c.Close() // nothing is sent after it
			}
		}
	})
}

// Set adds a target, or replaces the one with its key, whose due notices it gets. A notice that is being sent to the replaced target is
// abandoned and sent again. After Close it does nothing.
func (s *Sink) Set(t Target) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.add([]Target{t}, s.remove(t.Key))
}

// Remove removes the target with the key and drops its due notices.
func (s *Sink) Remove(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := slices.IndexFunc(s.workers, func(w *worker) bool { return w.key == key }); at >= 0 {
		s.workers[at].removed.Store(true)
		s.remove(key)
	}
}

// remove stops the worker of a target and returns it; nil if there is none.
func (s *Sink) remove(key string) *worker {
	at := slices.IndexFunc(s.workers, func(w *worker) bool { return w.key == key })
	if at < 0 {
		return nil
	}
	w := s.workers[at]
	s.workers = slices.Delete(slices.Clone(s.workers), at, at+1) // Notices and Stats may be reading the old slice
	w.stop()
	return w
}

// current returns the workers.
func (s *Sink) current() []*worker {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.workers
}

// Notices returns the notices that are due by an update: about warnings that are new, have grown to a level, or caused a block or a halt.
// The caller writes them with the records of the update, sets them in it, and publishes it. It never blocks.
func (s *Sink) Notices(u *store.Update) (due []store.Notice) {
	for _, n := range pendingOf(u) {
		for _, w := range s.current() {
			due = append(due, w.due(n)...)
		}
	}
	return due
}

// Publish makes the workers send the notices of an update. It never blocks, and keeps no reference to the update. After Close it does
// nothing.
func (s *Sink) Publish(u *store.Update) {
	if u.Deleted {
		for _, w := range s.current() {
			w.memory.forgetRun(u.Run.Number)
		}
		return
	}
	if len(u.Notices) == 0 {
		return
	}
	about := make(map[store.DueWarning]bool)
	for k := range u.Notices {
		n := &u.Notices[k]
		about[store.DueWarning{Endpoint: n.Endpoint, Warning: n.Warning}] = true
	}
	for _, n := range pendingOf(u) {
		for _, w := range s.current() {
			if about[store.DueWarning{Endpoint: w.key, Warning: n.warning.ID}] {
				w.memory.put(n)
				w.memory.wake()
			}
		}
	}
}

// Wake makes the workers look for due notices.
func (s *Sink) Wake() {
	for _, w := range s.current() {
		w.memory.wake()
	}
}

// Close sends the due notices. If ctx is done first, it returns the error of ctx. The notices that are left stay in the store, as do those
// that wait for the end of quiet hours.
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
	return ctx.Err()
}

// Stats are counts of a target since the start.
type Stats struct {
	Key     string // of the target
	Host    string // of the target
	Waiting int    // warnings with due notices
	Sent    int64  // notices that it accepted
	Retried int64  // failed attempts that were followed by another one
	Failed  int64  // notices that it refused or did not accept in time
	Dropped int64  // warnings that were dropped because too many had due notices
}

// Stats returns the counts of each target, in the order in which they were added. A target that replaced another starts at 0.
func (s *Sink) Stats() []Stats {
	workers := s.current()
	all := make([]Stats, 0, len(workers))
	for _, w := range workers {
		c := &w.counts
		all = append(all, Stats{
			Key: w.key, Host: w.host, Waiting: w.memory.waiting(), Sent: c.sent.Load(), Retried: c.retried.Load(), Failed: c.failed.Load(),
			Dropped: c.dropped.Load(),
		})
	}
	return all
}
