package otlp

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/unloop-ai/unloop/internal/sink"
)

// grpcReceiver sends over gRPC.
type grpcReceiver struct {
	*grpc.ClientConn
	logs    plogotlp.GRPCClient
	spans   ptraceotlp.GRPCClient
	headers metadata.MD
}

func newGRPCReceiver(endpoint *url.URL, o *Options) (*grpcReceiver, error) {
	security := insecure.NewCredentials()
	if endpoint.Scheme == "https" {
		security = credentials.NewTLS(nil)
	}
	conn, err := grpc.NewClient(endpoint.Host, grpc.WithTransportCredentials(security), grpc.WithUserAgent("unloop/"+o.Version))
	if err != nil {
		return nil, fmt.Errorf("connect to the OTLP endpoint: %w", err)
	}
	return &grpcReceiver{conn, plogotlp.NewGRPCClient(conn), ptraceotlp.NewGRPCClient(conn), metadata.New(o.Headers)}, nil
}

func (r *grpcReceiver) exportLogs(ctx context.Context, logs plog.Logs) error {
	answer, err := r.logs.Export(r.context(ctx), plogotlp.NewExportRequestFromLogs(logs))
	if err != nil {
		return refusalOf(status.Convert(err))
	}
	return refusal("log record", answer.PartialSuccess().RejectedLogRecords(), answer.PartialSuccess().ErrorMessage())
}

func (r *grpcReceiver) exportSpans(ctx context.Context, spans ptrace.Traces) error {
	answer, err := r.spans.Export(r.context(ctx), ptraceotlp.NewExportRequestFromTraces(spans))
	if err != nil {
		return refusalOf(status.Convert(err))
	}
	return refusal("span", answer.PartialSuccess().RejectedSpans(), answer.PartialSuccess().ErrorMessage())
}

func (r *grpcReceiver) context(ctx context.Context) context.Context {
	return metadata.NewOutgoingContext(ctx, r.headers)
}

// refusalOf applies the rules of the specification of OTLP for another attempt.
func refusalOf(s *status.Status) *sink.Refusal {
	var pause time.Duration
	stated := false
	for _, detail := range s.Details() {
		if info, ok := detail.(*errdetails.RetryInfo); ok {
			pause, stated = info.GetRetryDelay().AsDuration(), true
		}
	}
	final := true
	switch s.Code() {
	case codes.Canceled, codes.DeadlineExceeded, codes.Aborted, codes.OutOfRange, codes.Unavailable, codes.DataLoss:
		final = false
	case codes.ResourceExhausted:
		final = !stated
	}
	return &sink.Refusal{Reason: fmt.Sprintf("it answered %s: %s", s.Code(), s.Message()), After: pause, Final: final}
}
