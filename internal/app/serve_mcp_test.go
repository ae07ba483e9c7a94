package app

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// party is a program with an SDK of its own: the agent, the MCP client or the MCP server.
type party struct {
	sent     *sent
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
}

func newParty(t *testing.T, a Addresses, service string) party {
	t.Helper()
	s := overHTTP(t, a)
	p := s.provider(t, service, 100)
	return party{s, p, p.Tracer("github.com/example/" + service)}
}

// serverClock is how far the MCP server's clock is ahead.
const serverClock = 2 * time.Second

// callOverMCP tells of one call three times: by the agent, by its MCP client, and by the MCP server, which learns of the trace by
// what stands in the request. Between the two are the spans of HTTP.
func callOverMCP(ctx context.Context, agent, client, server party, s playedStep, call string) {
	d := dialects()[0]
	title, attributes := d.tool(s, call)
	ctx, called := agent.tracer.Start(ctx, title, trace.WithAttributes(attributes...))
	defer called.End()

	request := []attribute.KeyValue{
		attribute.String("mcp.method.name", "tools/call"), attribute.String("gen_ai.operation.name", "execute_tool"),
		attribute.String("gen_ai.tool.name", "search"), attribute.String("mcp.session.id", "mcp-1"),
	}
	ctx, asked := client.tracer.Start(ctx, "tools/call search", trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(request...))
	defer asked.End()
	ctx, posted := client.tracer.Start(ctx, "POST", trace.WithSpanKind(trace.SpanKindClient))
	defer posted.End()

	meta := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, meta)
	ctx = propagation.TraceContext{}.Extract(context.Background(), meta)
	now := time.Now().Add(serverClock)
	ctx, answered := server.tracer.Start(ctx, "POST /mcp", trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(now))
	_, done := server.tracer.Start(ctx, "tools/call search", trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(request...),
		trace.WithTimestamp(now.Add(time.Microsecond)))
	done.End(trace.WithTimestamp(now.Add(2 * time.Microsecond)))
	answered.End(trace.WithTimestamp(now.Add(3 * time.Microsecond)))
}

// TestACallThatThreeProgramsReportCountsOnce has the MCP server's spans come first, then its client's, then the agent's.
func TestACallThatThreeProgramsReportCountsOnce(t *testing.T) {
	const calls = 5
	step := search("mcp__library__search")
	work := played{agent: "reader"}
	a := serveAt(t, nil)
	agent, client, server := newParty(t, a, "reading-room"), newParty(t, a, "mcp-client"), newParty(t, a, "mcp-server")

	title, attributes := dialects()[0].agent(work.agent)
	ctx, root := agent.tracer.Start(t.Context(), title, trace.WithAttributes(attributes...))
	for k := range calls {
		work.steps = append(work.steps, step)
		callOverMCP(ctx, agent, client, server, step, "call_"+string(rune('a'+k)))
	}
	root.End()

	for _, p := range []party{server, client, agent} {
		if n := p.sent.flush(t, p.provider); n != 1 {
			t.Errorf("%d requests, want 1", n)
		}
		if got := onlyRun(t, a.URL); got.ToolCalls != calls {
			t.Errorf("%d calls, want %d: %+v", got.ToolCalls, calls, got)
		}
	}
	want := work.reference(t)
	want.ID, want.Name, want.Project = root.SpanContext().TraceID().String(), "reader", "reading-room"
	if diff := cmp.Diff(want, onlyRun(t, a.URL)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
