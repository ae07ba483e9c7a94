package sink

import (
	"context"
	"fmt"
)

// Span identifies a span by its ids, usually in hexadecimal digits.
type Span struct{ TraceID, SpanID string }

// SpanOf returns the span that an event of a run came as. It is zero for an event that did not come as a span.
type SpanOf func(ctx context.Context, run, event string) (Span, error)

// Of returns the span of the latest event of a warning.
func (f SpanOf) Of(ctx context.Context, n *Notice) (Span, error) {
	if n.Warning.EventID == nil {
		return Span{}, nil
	}
	span, err := f(ctx, n.Run.ID, *n.Warning.EventID)
	if err != nil {
		return Span{}, fmt.Errorf("read the span of a warning: %w", err)
	}
	return span, nil
}
