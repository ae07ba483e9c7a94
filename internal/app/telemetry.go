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

// telemetry submits OTLP data to the recorder.
type telemetry struct{ recorder recorder }

// spansAtOnce is the number of spans of a request that are submitted together, which limits the share of one request in the
// queue. A sender can repeat a request that was recorded in part, because duplicates change nothing.
const spansAtOnce = 8192

// Traces records the spans.
func (t telemetry) Traces(ctx context.Context, td ptrace.Traces) (rejected int, reason string, err error) {
	return otlp.SpansInParts(td, spansAtOnce, func(spans []trace.Span) error {
		slices.SortStableFunc(spans, func(a, b trace.Span) int { return cmp.Compare(a.TraceID, b.TraceID) })
		_, err := t.recorder.Submit(ctx, &pipeline.Submission{Spans: spans})
		return err
	})
}

// Logs records the log records of coding agents.
func (t telemetry) Logs(ctx context.Context, ld plog.Logs) (rejected int, reason string, err error) {
	events, services, rejected, reason := otlp.Logs(ld)
	if len(events) == 0 {
		return rejected, reason, nil
	}
	_, err = t.recorder.Submit(ctx, &pipeline.Submission{Events: events, Services: services})
	return rejected, reason, err
}
