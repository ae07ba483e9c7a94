// Package reporter sends what guards see and decide to a server, where people watch the runs. It stands behind a guard and never in its
// way: what cannot be sent waits, within bounds, and is dropped and counted beyond them.
//
//	r, err := reporter.New(reporter.Options{})
//	defer r.Close(ctx)
//	g := guard.New(p, guard.Options{Run: conversationID, Events: r.Add})
package reporter

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/internal/client"
	"github.com/unloop-ai/unloop/policy"
)

// Options are those of a reporter. The zero value is valid.
type Options struct {
	Endpoint string // the server's URL; "" means UNLOOP_ENDPOINT, else http://127.0.0.1:8765
	Token    string // for ingest; "" means UNLOOP_TOKEN, and without that no token
	Events   int    // most events that wait; 0 means 10,000
	Bytes    int64  // about the most bytes of events that wait; 0 means 32 MiB

	// Every is how long an event may wait to be sent together with others; 0 means 500 ms.
	Every time.Duration
}

// Stats are the numbers of events by what became of them. Events that wait are in none of them.
type Stats struct {
	Sent    int // that the server has
	Refused int // that the server does not take
	Dropped int // for which there was no room, which have no run, or which were not sent before Close gave up
}

// Reporter sends the events of any number of guards, in their order, in the background. While the server is away it tries again, with
// growing pauses. It is safe for concurrent use.
type Reporter struct{ background *client.Background }

// New returns a reporter, which sends until it is closed. It does not contact the server: the error is about the options.
func New(o Options) (*Reporter, error) {
	endpoint := cmp.Or(o.Endpoint, os.Getenv("UNLOOP_ENDPOINT"), client.DefaultEndpoint)
	c, err := client.New(endpoint, cmp.Or(o.Token, os.Getenv("UNLOOP_TOKEN")))
	if err != nil {
		return nil, err
	}
	return &Reporter{c.NewSender().Background(client.Bounds{
		Events: cmp.Or(o.Events, 10_000), Bytes: cmp.Or(o.Bytes, 32<<20), Every: cmp.Or(o.Every, 500*time.Millisecond),
	})}, nil
}

// Add takes an event of a guard and the decision at it; it is for guard.Options.Events. It copies the event and returns at once. A
// decision other than allow is sent with the event, as the member guard of its metadata.
func (r *Reporter) Add(e *unloop.Event, d guard.Decision) {
	switch {
	case e.RunID == "":
		r.background.Drop()
	case d.Action == policy.Allow:
		r.background.Add(e, nil)
	default:
		r.background.Add(e, metadata(d))
	}
}

// metadata says what a guard decided. Guards set no other metadata.
func metadata(d guard.Decision) json.RawMessage {
	text, err := json.Marshal(map[string]any{"guard": map[string]any{"action": d.Action, "code": d.Code, "message": d.Nudge}})
	if err != nil {
		return nil // an action, a code and a message can always be written
	}
	return text
}

// Close sends what waits, and gives up when ctx is done. Events that guards add after Close are dropped. It returns the error of ctx if
// it gave up.
func (r *Reporter) Close(ctx context.Context) error { return r.background.Close(ctx) }

// Stats returns the numbers of events so far. Until Close has returned, events on their way are in none of them.
func (r *Reporter) Stats() Stats {
	s := r.background.Stats()
	return Stats{Sent: s.Sent, Refused: s.Refused, Dropped: s.Dropped}
}
