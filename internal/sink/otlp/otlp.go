// Package otlp is a notifier that sends notices to an OpenTelemetry collector or another receiver of OTLP. Package sink calls it and
// owns queues, levels, claims and retries.
//
// A notice about a call that came as a span becomes a span event, so that backends that receive traces only show it in the run's trace.
// The span of the call has ended by the time of the notice and cannot get more events, so the event is on a span of its own, a child of
// the span of the call. Any other notice becomes a log record.
package otlp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/unloop-ai/unloop/internal/sink"
)

// The protocols.
const (
	HTTP = "http/protobuf"
	GRPC = "grpc"
)

// timeout is the timeout of one attempt, the default of OTLP exporters.
const timeout = 10 * time.Second

// Options are the receiver and what records need.
type Options struct {
	Endpoint string            // base URL; with https:// the connection is encrypted
	Protocol string            // HTTP or GRPC
	Headers  map[string]string // of each request
	URL      string            // where people reach the server, for links to runs; "" for no links
	Version  string            // of unloop
	SpanOf   sink.SpanOf
}

// notifier sends to one receiver.
type notifier struct {
	Options
	receiver
}

// receiver makes one attempt to send something. The error is a *sink.Refusal if the receiver answered.
type receiver interface {
	exportLogs(ctx context.Context, logs plog.Logs) error
	exportSpans(ctx context.Context, spans ptrace.Traces) error
	Close() error
}

// Target returns the target for a receiver.
func Target(o Options) (sink.Target, error) {
	u, err := url.Parse(o.Endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return sink.Target{}, errors.New("the endpoint must be a URL that begins with http:// or https://")
	}
	n := &notifier{Options: o}
	switch o.Protocol {
	case HTTP:
		client := sink.NewClient(timeout, (&net.Dialer{}).DialContext, false)
		n.receiver = &httpReceiver{client, u, httpHeader(&o)}
	case GRPC:
		if n.receiver, err = newGRPCReceiver(u, &o); err != nil {
			return sink.Target{}, err
		}
	default:
		return sink.Target{}, fmt.Errorf("the protocol must be %s or %s, not %q", HTTP, GRPC, o.Protocol)
	}
	key := sha256.Sum256([]byte("otlp " + o.Endpoint))
	return sink.Target{Notifier: n, Key: hex.EncodeToString(key[:8]), Host: u.Host}, nil
}

// Send makes one attempt.
func (n *notifier) Send(ctx context.Context, notice sink.Notice) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	span, err := n.SpanOf.Of(ctx, &notice)
	if err != nil {
		return err
	}
	if parent, ok := parse(span); ok {
		return n.exportSpans(ctx, n.spans(&notice, parent))
	}
	return n.exportLogs(ctx, n.logs(&notice, span))
}

// refusal returns an error if the receiver rejected what was sent.
func refusal(what string, rejected int64, reason string) error {
	if rejected == 0 {
		return nil
	}
	return &sink.Refusal{Reason: "it rejected the " + what + ": " + reason, Final: true}
}

// ParseHeaders reads headers in the form of OTEL_EXPORTER_OTLP_HEADERS: KEY=VALUE,KEY=VALUE, with percent-encoded values. Errors do
// not contain values.
func ParseHeaders(text string) (map[string]string, error) {
	headers := make(map[string]string)
	for i, entry := range strings.Split(text, ",") {
		if strings.TrimSpace(entry) == "" {
			continue
		}
		key, value, found := strings.Cut(entry, "=")
		key = strings.TrimSpace(key)
		plain, err := url.PathUnescape(strings.TrimSpace(value))
		if !found || key == "" || err != nil {
			return nil, fmt.Errorf("invalid header %d: want KEY=VALUE with a percent-encoded value", i+1)
		}
		headers[key] = plain
	}
	return headers, nil
}
