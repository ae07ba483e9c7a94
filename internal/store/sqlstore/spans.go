package sqlstore

import (
	"context"
	"fmt"

	"github.com/unloop-ai/unloop/internal/store"
)

const spanColumns = "trace, id, received, body"

type spanKey struct{ trace, id string }

// spans inserts or replaces spans.
func (w *writing) spans(ctx context.Context, spans []store.Span) error {
	spans = lasts(spans, func(x *store.Span) spanKey { return spanKey{store.Key(x.Trace), store.Key(x.ID)} })
	return insert(ctx, w, &w.bulks.spans, spans, func(to []any, x *store.Span) []any {
		body := x.Body
		if body == nil {
			body = []byte{}
		}
		return append(to, store.Key(x.Trace), store.Key(x.ID), toNanos(x.Received), body)
	}, nil)
}

// Spans returns the spans of the trace, sorted by id.
func (s *Store) Spans(ctx context.Context, trace string) (spans []store.Span, err error) {
	rows, err := s.bulks.traceSpans.QueryContext(ctx, store.Key(trace))
	err = eachOf(rows, err, func(row scanner) error {
		var x store.Span
		var received int64
		err := row.Scan(&x.Trace, &x.ID, &received, &x.Body)
		x.Received = fromNanos(received)
		spans = append(spans, x)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the spans of a trace: %w", err)
	}
	return spans, nil
}
