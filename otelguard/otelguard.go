// Package otelguard puts the decisions of a guard into traces: each is an event of the run's span. It is a module of its own,
// so that only those who use it depend on OpenTelemetry.
//
//	ctx, span := tracer.Start(ctx, "invoke_agent coder")
//	defer span.End()
//	g := guard.New(p, guard.Options{Listeners: []guard.Listener{otelguard.Listener(span)}})
//	defer g.Close() // before the span ends
package otelguard

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/policy"
)

// Listener returns a listener that adds an event "unloop.decision" to the span for each decision other than allow, with the
// time of the decision, and sets the span's status to error when the run is halted. It records the decision, and no
// content of the agent or its tools. A decision in shadow mode has the attribute unloop.shadow.
func Listener(span trace.Span) guard.Listener {
	return func(n guard.Notice) {
		d := n.Decision
		action := max(d.Action, d.Shadow)
		if action == policy.Allow {
			return
		}
		attributes := []attribute.KeyValue{
			attribute.String("unloop.action", action.String()),
			attribute.String("unloop.code", d.Code),
			attribute.Int("unloop.count", d.Count),
			attribute.Bool("unloop.shadow", d.Shadow != policy.Allow),
			attribute.String("unloop.moment", n.Stage),
		}
		if n.Call.Tool != "" {
			attributes = append(attributes, attribute.String("gen_ai.tool.name", n.Call.Tool))
		}
		if n.Call.ID != "" {
			attributes = append(attributes, attribute.String("gen_ai.tool.call.id", n.Call.ID))
		}
		span.AddEvent("unloop.decision", trace.WithTimestamp(n.Time), trace.WithAttributes(attributes...))
		if d.Action == policy.Halt {
			span.SetStatus(codes.Error, "halted: "+d.Code)
		}
	}
}
