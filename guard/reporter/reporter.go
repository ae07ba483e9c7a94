// Package reporter sends the events of guards and their decisions to a server, where people watch the runs. A guard never waits
// for a reporter. Events that cannot be sent yet wait in a bounded queue. Events that do not fit into the queue are dropped and
// counted.
//
//	r, err := reporter.New(reporter.Options{})
//	defer r.Close(ctx)
//	g := guard.New(p, guard.Options{Run: conversationID, Events: r.Add, Controls: r.Controls})
package reporter

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/internal/client"
	"github.com/unloop-ai/unloop/policy"
)

// Options are the options of a reporter. The zero value is valid.
type Options struct {
	Endpoint string // the server's URL; "" means UNLOOP_ENDPOINT, else http://127.0.0.1:8765
	Token    string // for ingest; "" means UNLOOP_TOKEN, else no token
	By       string // the kind of guard, as people read it; "" means Go
	Events   int    // maximum number of waiting events; 0 means 10,000
	Bytes    int64  // approximate maximum size of the waiting events; 0 means 32 MiB

	// Every is how long an event may wait to be sent together with others; 0 means 500 ms.
	Every time.Duration
}

// Stats are counts of events by their result. Waiting events are in none of them.
type Stats struct {
	Sent    int // accepted by the server
	Refused int // rejected by the server
	Dropped int // exceeded the queue, had no run, or were not sent before the end of Close
}

// Reporter sends the events of any number of guards in order, in the background. If the server is not reachable, it retries with
// exponential backoff. It does the same if the server refuses its token, and logs the refusal once. It is safe for concurrent use.
type Reporter struct {
	background *client.Background
	orders     *client.Orders
	by         string
}

// New returns a reporter, which sends until it is closed. It does not contact the server. The error is about the options.
func New(o Options) (*Reporter, error) {
	endpoint := cmp.Or(o.Endpoint, os.Getenv("UNLOOP_ENDPOINT"), client.DefaultEndpoint)
	c, err := client.New(endpoint, cmp.Or(o.Token, os.Getenv("UNLOOP_TOKEN")))
	if err != nil {
		return nil, err
	}
	sender := c.NewSender()
	sender.Waiting = tell(endpoint)
	background := sender.Background(client.Bounds{
		Events: cmp.Or(o.Events, 10_000), Bytes: cmp.Or(o.Bytes, 32<<20), Every: cmp.Or(o.Every, 500*time.Millisecond),
	})
	return &Reporter{background, client.NewOrders(c.Listen), cmp.Or(o.By, "Go")}, nil
}

// tell returns a function that logs, once, that the server refuses the events. A server that is unreachable or busy is not logged.
func tell(endpoint string) func(error, time.Duration) {
	var once sync.Once
	return func(err error, _ time.Duration) {
		var answer *client.Error
		if errors.As(err, &answer) && (answer.Status == http.StatusUnauthorized || answer.Status == http.StatusForbidden) {
			once.Do(func() { slog.Warn("the unloop server refuses events; retrying", "endpoint", endpoint, "error", err) })
		}
	}
}

// Add adds an event of a guard and the decision at it. It is the function for guard.Options.Events. It copies the event and
// returns at once. A decision other than allow is sent with the event, as an unloop.GuardReport in its metadata.
func (r *Reporter) Add(e *unloop.Event, d guard.Decision) {
	switch {
	case e.RunID == "":
		r.background.Drop()
	case max(d.Action, d.Shadow) == policy.Allow && e.Index > 0:
		r.background.Add(e, nil)
	default:
		r.background.Add(e, r.reportOf(d).Metadata())
	}
}

// Controls calls take with what people do with the run, until stop is called. It is the function for guard.Options.Controls. An event
// arrives within a second. While the server is unreachable, a paused run stays paused. Beyond 1,000 runs at once, the run that was
// registered first receives no more events.
func (r *Reporter) Controls(run string, take func(*unloop.Event)) (stop func()) {
	return r.orders.Controls(run, take)
}

// reportOf returns the report of a decision. Add sends one with the first event of a run in any case, because it marks the run as guarded.
func (r *Reporter) reportOf(d guard.Decision) unloop.GuardReport {
	report := policy.GuardReport(r.by, max(d.Action, d.Shadow), d.Code, d.Nudge, d.Count, d.Findings)
	report.Shadow = d.InShadow()
	return report
}

// Close sends the waiting events. When ctx is done it stops and returns the error of ctx. Events that guards add after Close are
// dropped.
func (r *Reporter) Close(ctx context.Context) error {
	r.orders.Close()
	return r.background.Close(ctx)
}

// Stats returns the counts so far. Until Close has returned, events that are being sent are in none of them.
func (r *Reporter) Stats() Stats {
	s := r.background.Stats()
	return Stats{Sent: s.Sent, Refused: s.Refused, Dropped: s.Dropped}
}
