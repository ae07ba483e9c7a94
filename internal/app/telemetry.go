package app

import (
	"cmp"
	"context"
	"slices"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/unloop-ai/unloop/internal/ingest/otlp"
	"github.com/unloop-ai/unloop/internal/pipeline"
	"github.com/unloop-ai/unloop/internal/trace"
)

// telemetry takes OTLP, however it was sent, to the pipeline.
type telemetry struct{ pipeline *pipeline.Pipeline }

// spansAtOnce is how many spans of a request are recorded together: the rest of a request that holds very many waits outside of
// the queue. A request of which a part was recorded may be sent again, since what is doubled changes nothing.
const spansAtOnce = 8192

// Traces has the spans recorded.
func (t telemetry) Traces(ctx context.Context, td ptrace.Traces) (rejected int, reason string, err error) {
	return otlp.SpansInParts(td, spansAtOnce, func(spans []trace.Span) error {
		slices.SortStableFunc(spans, func(a, b trace.Span) int { return cmp.Compare(a.TraceID, b.TraceID) })
		_, err := t.pipeline.Submit(ctx, &pipeline.Submission{Spans: spans})
		return err
	})
}

// Logs has the records of coding agents recorded.
func (t telemetry) Logs(ctx context.Context, ld plog.Logs) (rejected int, reason string, err error) {
	events, services, rejected, reason := otlp.Logs(ld)
	if len(events) == 0 {
		return rejected, reason, nil
	}
	_, err = t.pipeline.Submit(ctx, &pipeline.Submission{Events: events, Services: services})
	return rejected, reason, err
}
