package otlp

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"github.com/unloop-ai/unloop/internal/sink"
)

// httpReceiver sends over HTTP.
type httpReceiver struct {
	client *http.Client
	base   *url.URL
	header http.Header
}

func httpHeader(o *Options) http.Header {
	h := make(http.Header)
	for key, value := range o.Headers {
		h.Set(key, value)
	}
	h.Set("Content-Type", "application/x-protobuf")
	h.Set("User-Agent", "unloop/"+o.Version)
	return h
}

func (r *httpReceiver) exportLogs(ctx context.Context, logs plog.Logs) error {
	body, err := plogotlp.NewExportRequestFromLogs(logs).MarshalProto()
	if err != nil {
		return fmt.Errorf("write a log record: %w", err)
	}
	text, err := r.post(ctx, "v1/logs", body)
	answer := plogotlp.NewExportResponse()
	if err != nil || answer.UnmarshalProto(text) != nil {
		return err // a 2xx status says that it was accepted, whatever the body
	}
	return refusal("log record", answer.PartialSuccess().RejectedLogRecords(), answer.PartialSuccess().ErrorMessage())
}

func (r *httpReceiver) exportSpans(ctx context.Context, spans ptrace.Traces) error {
	body, err := ptraceotlp.NewExportRequestFromTraces(spans).MarshalProto()
	if err != nil {
		return fmt.Errorf("write a span: %w", err)
	}
	text, err := r.post(ctx, "v1/traces", body)
	answer := ptraceotlp.NewExportResponse()
	if err != nil || answer.UnmarshalProto(text) != nil {
		return err
	}
	return refusal("span", answer.PartialSuccess().RejectedSpans(), answer.PartialSuccess().ErrorMessage())
}

func (r *httpReceiver) post(ctx context.Context, path string, body []byte) ([]byte, error) {
	return sink.Post(ctx, r.client, r.base.JoinPath(path).String(), r.header.Clone(), body, isFinal)
}

// isFinal reports whether the specification of OTLP forbids another attempt after a status.
func isFinal(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return false
	}
	return true
}

func (r *httpReceiver) Close() error {
	r.client.CloseIdleConnections()
	return nil
}
