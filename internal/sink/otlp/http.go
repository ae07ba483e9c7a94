package otlp

import (
	"context"
	"fmt"
	"net/http"

	"go.opentelemetry.io/collector/pdata/plog/plogotlp"

	"github.com/unloop-ai/unloop/internal/sink"
)

// httpReceiver sends over HTTP.
type httpReceiver struct {
	client  *http.Client
	address string
	header  http.Header
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

func (r *httpReceiver) export(ctx context.Context, request plogotlp.ExportRequest) (plogotlp.ExportResponse, error) {
	answer := plogotlp.NewExportResponse()
	body, err := request.MarshalProto()
	if err != nil {
		return answer, fmt.Errorf("write a log record: %w", err)
	}
	text, err := sink.Post(ctx, r.client, r.address, r.header.Clone(), body, isFinal)
	if err != nil {
		return answer, err
	}
	if err := answer.UnmarshalProto(text); err != nil {
		return plogotlp.NewExportResponse(), nil // a 2xx status says that it was accepted, whatever the body
	}
	return answer, nil
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
