// Package webhook tells people of warnings: it posts a message to each of its endpoints when a warning is raised and when it
// escalates. It stands at the far end of the arrow: the pipeline is before it, which must never wait, and behind it are servers
// that are slow or down. So each endpoint has a bounded queue and a worker of its own.
//
// A message says what the warning says: which rule, which tool, how often. What a user, an agent or a tool said is not in it.
package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"

	"github.com/unloop-ai/unloop/internal/store"
)

// Claims remembers, beyond a restart, at which levels each endpoint was told of each warning.
type Claims interface {
	// Claim records that the endpoint is told of the run's warning at the level. It returns false if that was recorded before, or if
	// the run does not exist.
	Claim(ctx context.Context, endpoint string, run int64, warning, level string) (bool, error)
	// Unclaim takes that back, since the endpoint could not be told.
	Unclaim(ctx context.Context, endpoint, warning, level string) error
}

// Options say whom to tell.
type Options struct {
	Endpoints []Endpoint
	URL       string // where people reach the server, for links to runs; "" for no links
	Version   string // of unloop
}

// Validate names all mistakes in the options.
func (o *Options) Validate() error {
	mistakes := []error{nil}
	if o.URL != "" {
		mistakes[0] = checkURL("url", o.URL)
	}
	for i := range o.Endpoints {
		if err := o.Endpoints[i].Validate(); err != nil {
			mistakes = append(mistakes, fmt.Errorf("endpoint %d: %w", i+1, err))
		}
	}
	return errors.Join(mistakes...)
}

// Sink posts messages. It is safe for concurrent use.
type Sink struct {
	workers []*worker
	ended   sync.WaitGroup
	closing chan struct{}
	close   func() // closing
	abandon context.CancelFunc
}

// New returns a sink and starts a worker for each endpoint. It ends with Close.
func New(o Options, claims Claims, log *slog.Logger) (*Sink, error) {
	return newSink(o, claims, log, (&net.Dialer{}).DialContext)
}

// newSink takes the way to a server's address.
func newSink(o Options, claims Claims, log *slog.Logger, dial dialer) (*Sink, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("options of the webhooks: %w", err)
	}
	ctx, abandon := context.WithCancel(context.Background())
	s := &Sink{closing: make(chan struct{}), abandon: abandon}
	s.close = sync.OnceFunc(func() { close(s.closing) })
	for i := range o.Endpoints {
		e := o.Endpoints[i].withDefaults()
		w := &worker{
			endpoint: e, key: e.key(), claims: claims, queue: newQueue(), closing: s.closing,
			log:     log.With("endpoint", i+1, "host", e.host()), // the rest of the address may be a secret
			options: &o, client: newClient(&e, dial),
		}
		s.workers = append(s.workers, w)
		s.ended.Go(func() { w.work(ctx) })
	}
	return s, nil
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
	for _, n := range noticesOf(u) {
		for _, w := range s.workers {
			if w.endpoint.wants(n) && !w.queue.put(n) {
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
			w.log.Warn("webhook messages were not sent before the end", "messages", left)
		}
		w.client.CloseIdleConnections()
	}
	return ctx.Err()
}

// Stats are counts of an endpoint since the start.
type Stats struct {
	Host    string // of the endpoint
	Waiting int    // warnings, at the moment
	Sent    int64  // messages that it took
	Retried int64  // attempts that failed and were worth another
	Failed  int64  // messages that it did not take in time, or refused
	Dropped int64  // warnings for which there was no place in the queue, or no time at the end
}

// Stats returns the counts of each endpoint, in the order of the options.
func (s *Sink) Stats() []Stats {
	all := make([]Stats, 0, len(s.workers))
	for _, w := range s.workers {
		c := &w.counts
		all = append(all, Stats{
			Host: w.endpoint.host(), Waiting: w.queue.len(), Sent: c.sent.Load(), Retried: c.retried.Load(), Failed: c.failed.Load(),
			Dropped: c.dropped.Load(),
		})
	}
	return all
}

// dialer opens a connection.
type dialer func(ctx context.Context, network, address string) (net.Conn, error)

// Bounds of an answer.
const (
	answerHeader = 64 << 10
	answerBody   = 64 << 10 // what is longer costs the connection
	redirects    = 3
)

// newClient returns a client that follows redirects only where the message stays at the host that it is meant for.
func newClient(e *Endpoint, dial dialer) *http.Client {
	return &http.Client{
		Timeout: e.Timeout,
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: dial, ForceAttemptHTTP2: true,
			MaxIdleConns: 1, IdleConnTimeout: e.Timeout, TLSHandshakeTimeout: e.Timeout, MaxResponseHeaderBytes: answerHeader,
		},
		CheckRedirect: func(next *http.Request, before []*http.Request) error {
			first := before[0].URL
			if next.Method != http.MethodPost || next.URL.Host != first.Host || next.URL.Scheme != first.Scheme || len(before) > redirects {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}
}
