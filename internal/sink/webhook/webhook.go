// Package webhook is a notifier that posts notices to HTTP endpoints, as JSON or as messages of Slack. Package sink calls it and
// owns queues, levels, claims and retries.
package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/unloop-ai/unloop/internal/sink"
)

// Options are the endpoints and their common options.
type Options struct {
	Endpoints []Endpoint
	URL       string // where people reach the server, for links to runs; "" for no links
	Version   string // of unloop

	// PublicOnly refuses endpoints whose address is not public: loopback, private networks, and the metadata services of clouds.
	PublicOnly bool
}

// Validate returns all errors of the options.
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

// notifier posts to one endpoint.
type notifier struct {
	endpoint Endpoint
	options  *Options
	client   *http.Client
}

// Targets returns a target for each endpoint.
func Targets(o Options) ([]sink.Target, error) {
	d := net.Dialer{}
	if o.PublicOnly {
		d.Control = publicOnly
	}
	return targets(o, d.DialContext)
}

// targets uses dial to connect.
func targets(o Options, dial sink.Dialer) (all []sink.Target, err error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("webhook options: %w", err)
	}
	for i := range o.Endpoints {
		e := o.Endpoints[i].withDefaults()
		all = append(all, sink.Target{
			Notifier: &notifier{e, &o, sink.NewClient(e.Timeout, dial, o.PublicOnly)}, Key: e.key(), Host: e.host(), // the rest of the URL may contain a secret
			Rules: e.Rules, Severity: e.Severity, Projects: e.Projects,
		})
	}
	return all, nil
}

// Send posts a notice once. Equal notices have equal bodies.
func (w *notifier) Send(ctx context.Context, n sink.Notice) error {
	var content any = w.messageOf(&n)
	if w.endpoint.Format == FormatSlack {
		content = slackOf(&n, w.urlOf(&n))
	}
	body, err := json.Marshal(content)
	if err != nil {
		return fmt.Errorf("write a message: %w", err)
	}
	return w.post(ctx, n.ID, body)
}

// Close closes idle connections.
func (w *notifier) Close() error {
	w.client.CloseIdleConnections()
	return nil
}
