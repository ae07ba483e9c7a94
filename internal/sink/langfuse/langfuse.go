// Package langfuse is a notifier that sends notices as scores to Langfuse. Package sink calls it and owns
// queues, levels, claims and retries.
package langfuse

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/unloop-ai/unloop/internal/sink"
)

// timeout is the timeout of one attempt.
const timeout = 10 * time.Second

// Options are the project that receives scores.
type Options struct {
	Endpoint  string // base URL
	PublicKey string
	SecretKey string
	Version   string // of unloop
	SpanOf    sink.SpanOf
}

type notifier struct {
	client  *http.Client
	address string
	header  http.Header
	spanOf  sink.SpanOf
}

// score is the body of POST /api/public/scores. Langfuse replaces a score that has the same id.
type score struct {
	ID            string `json:"id"`
	TraceID       string `json:"traceId"`
	ObservationID string `json:"observationId,omitempty"`
	Name          string `json:"name"`
	Value         string `json:"value"`
	DataType      string `json:"dataType"`
	Comment       string `json:"comment"`
}

// Target returns the target for a project.
func Target(o Options) (sink.Target, error) {
	u, err := url.Parse(o.Endpoint)
	if err != nil {
		return sink.Target{}, fmt.Errorf("read the endpoint: %w", err)
	}
	keys := base64.StdEncoding.EncodeToString([]byte(o.PublicKey + ":" + o.SecretKey))
	n := &notifier{
		client: sink.NewClient(timeout, (&net.Dialer{}).DialContext, false), address: u.JoinPath("api/public/scores").String(), spanOf: o.SpanOf,
		header: http.Header{"Authorization": {"Basic " + keys}, "Content-Type": {"application/json"}, "User-Agent": {"unloop/" + o.Version}},
	}
	key := sha256.Sum256([]byte("langfuse " + o.Endpoint + " " + o.PublicKey))
	return sink.Target{Notifier: n, Key: hex.EncodeToString(key[:8]), Host: u.Host}, nil
}

// Send makes one attempt. A warning without a trace is not sent, because a score belongs to a trace.
func (n *notifier) Send(ctx context.Context, notice sink.Notice) error {
	span, err := n.spanOf.Of(ctx, &notice)
	if err != nil || span.TraceID == "" {
		return err
	}
	body, err := json.Marshal(score{
		ID: notice.ID, TraceID: span.TraceID, ObservationID: span.SpanID, Name: "unloop." + notice.Warning.Type, Value: notice.Level,
		DataType: "CATEGORICAL", Comment: notice.Warning.Message,
	})
	if err != nil {
		return fmt.Errorf("write a score: %w", err)
	}
	_, err = sink.Post(ctx, n.client, n.address, n.header.Clone(), body, sink.IsFinal)
	return err
}

// Close closes idle connections.
func (n *notifier) Close() error {
	n.client.CloseIdleConnections()
	return nil
}
