package otlp

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/trace"
)

// SpansInParts passes the spans of one request to take, in parts of at most most spans. A span without a trace id or a span id is
// rejected: rejected is the number of such spans, reason why. take may keep a part. An error of take ends it and is returned. SpansInParts
// is safe for concurrent use.
func SpansInParts(td ptrace.Traces, most int, take func([]trace.Span) error) (rejected int, reason string, err error) {
	var part []trace.Span
	newReader().each(td, func(s *trace.Span) {
		switch {
		case err != nil:
			return
		case s.TraceID == "" || s.ID == "":
			rejected++
			return
		}
		if part = append(part, *s); len(part) == most {
			err, part = take(part), nil
		}
	})
	if err == nil && len(part) > 0 {
		err = take(part)
	}
	if rejected > 0 {
		reason = fmt.Sprintf("%d spans have no trace id or no span id", rejected)
	}
	return rejected, reason, err
}

// reader reads spans one after another.
type reader struct {
	span span       // the current span
	out  trace.Span // the result for it

	// The last ids, because most consecutive spans have the same trace.
	trace    pcommon.TraceID
	traceID  string
	parent   pcommon.SpanID
	parentID string
}

func newReader() *reader {
	return &reader{span: span{attributes: newAttributes()}}
}

// each calls take with each span of the request. take may use the span until it returns.
func (r *reader) each(td ptrace.Traces, take func(*trace.Span)) {
	for _, resource := range td.ResourceSpans().All() {
		service := textOf(resource.Resource().Attributes(), "service.name")
		for _, scope := range resource.ScopeSpans().All() {
			name := scope.Scope().Name()
			for _, s := range scope.Spans().All() {
				r.span.set(s, name)
				r.read()
				r.out.Service = service
				take(&r.out)
			}
		}
	}
}

func (r *reader) read() {
	s := &r.span
	if trace := s.TraceID(); trace != r.trace {
		r.trace, r.traceID = trace, trace.String()
	}
	if parent := s.ParentSpanID(); parent != r.parent {
		r.parent, r.parentID = parent, parent.String()
	}
	r.out = trace.Span{
		TraceID:  r.traceID,
		ID:       s.SpanID().String(),
		ParentID: r.parentID,
		Title:    s.title(),
		Run: s.text("gen_ai.conversation.id", "session.id", "traceloop.association.properties.session_id",
			"langsmith.trace.session_id", "langfuse.session.id", "langfuse.trace.session_id",
			"ai.telemetry.metadata.sessionId", "gcp.vertex.agent.session_id"),
		Graph: s.text("graph.node.id"),
		Start: nanos(s.StartTimestamp()),
		End:   nanos(s.EndTimestamp()),
		Facts: s.facts(),
	}
	if r.out.Start != 0 && r.out.End != 0 {
		r.out.End = max(r.out.Start, r.out.End) // clocks of two machines may differ
	}
	r.out.Failed, r.out.Reason = s.failure()
	if r.out.Refused && !r.out.Failed {
		r.out.Failed, r.out.Reason, r.out.Output = true, ingest.Content(jsontext.Value(r.out.Output)), ""
	}
	r.out.Refused = false
}

// nanos returns a timestamp as nanoseconds since 1970. A time beyond the range of an int64, which is negative there, is unknown.
func nanos(t pcommon.Timestamp) int64 {
	return max(int64(t), 0)
}

// failure reports whether the span failed, and why: by the message of its status, its last exception, or the type of its error.
func (s *span) failure() (failed bool, reason string) {
	errorType := s.text("error.type")
	if s.Status().Code() != ptrace.StatusCodeError && errorType == "" {
		return false, ""
	}
	if message := s.Status().Message(); message != "" {
		return true, valid(message)
	}
	for i := s.Events().Len() - 1; i >= 0; i-- {
		event := s.Events().At(i)
		if event.Name() != "exception" {
			continue
		}
		kind, message := textOf(event.Attributes(), "exception.type"), textOf(event.Attributes(), "exception.message")
		if kind != "" && message != "" {
			return true, kind + ": " + message
		}
		return true, kind + message
	}
	return true, errorType
}
