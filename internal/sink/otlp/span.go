package otlp

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/unloop-ai/unloop/internal/sink"
)

// parentSpan is the span of the call that a notice is about.
type parentSpan struct {
	trace pcommon.TraceID
	id    pcommon.SpanID
}

// parse reports whether a span has valid ids. Events that did not come as spans may have any text as ids.
func parse(span sink.Span) (parent parentSpan, ok bool) {
	ok = decode(parent.trace[:], span.TraceID) && decode(parent.id[:], span.SpanID)
	return parent, ok && !parent.trace.IsEmpty() && !parent.id.IsEmpty()
}

func decode(id []byte, text string) bool {
	if hex.DecodedLen(len(text)) != len(id) {
		return false
	}
	_, err := hex.Decode(id, []byte(text))
	return err == nil
}

// spans returns one span, which has no duration and one event. Equal notices give equal spans, so a backend replaces a span that is
// sent again. Attributes with the prefix gen_ai are on the event only: on a span, gen_ai.tool.name would mark a tool call.
func (n *notifier) spans(notice *sink.Notice, parent parentSpan) ptrace.Traces {
	all, warning := ptrace.NewTraces(), &notice.Warning
	resource := all.ResourceSpans().AppendEmpty()
	scope := resource.ScopeSpans().AppendEmpty()
	n.identify(resource.Resource(), scope.Scope())

	s, at := scope.Spans().AppendEmpty(), timestamp(warning.UpdatedAt)
	s.SetTraceID(parent.trace)
	s.SetParentSpanID(parent.id)
	sum := sha256.Sum256([]byte(notice.ID))
	s.SetSpanID(pcommon.SpanID(sum[:8]))
	s.SetName("unloop " + warning.Type)
	s.SetKind(ptrace.SpanKindInternal)
	s.SetStartTimestamp(at)
	s.SetEndTimestamp(at)
	s.Attributes().PutStr("openinference.span.kind", "EVALUATOR")
	s.Attributes().PutStr("output.value", warning.Message)

	event := s.Events().AppendEmpty()
	event.SetName(eventName)
	event.SetTimestamp(at)
	n.describe(attributes{event.Attributes()}, notice)
	for key, value := range event.Attributes().All() {
		if strings.HasPrefix(key, "unloop.") {
			value.CopyTo(s.Attributes().PutEmpty(key))
		}
	}
	return all
}
