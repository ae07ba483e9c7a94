package app

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// deliveries counts the requests of an exporter, and keeps what went wrong, which the SDK would only log.
type deliveries struct {
	mu       sync.Mutex
	requests int
	errors   []error
}

func (d *deliveries) note(err error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.requests++
	d.errors = append(d.errors, err)
	return err
}

// count returns how many requests there were. Each must have gone well.
func (d *deliveries) count(t *testing.T) int {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := errors.Join(d.errors...); err != nil {
		t.Fatal(err)
	}
	return d.requests
}

// sent is an exporter of spans that is watched.
type sent struct {
	sdktrace.SpanExporter
	deliveries
}

func (s *sent) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	return s.note(s.SpanExporter.ExportSpans(ctx, spans))
}

// flush sends what is left and returns how many requests there were.
func (s *sent) flush(t *testing.T, p *sdktrace.TracerProvider) int {
	t.Helper()
	if err := p.ForceFlush(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s.count(t)
}

// overHTTP sends protobuf, packed with gzip.
func overHTTP(t *testing.T, a Addresses) *sent {
	t.Helper()
	e, err := otlptracehttp.New(t.Context(), otlptracehttp.WithEndpointURL(a.URL+"/v1/traces"), otlptracehttp.WithCompression(otlptracehttp.GzipCompression))
	if err != nil {
		t.Fatal(err)
	}
	return &sent{SpanExporter: e}
}

func overGRPC(t *testing.T, a Addresses) *sent {
	t.Helper()
	e, err := otlptracegrpc.New(t.Context(), otlptracegrpc.WithEndpoint(a.GRPC), otlptracegrpc.WithInsecure(), otlptracegrpc.WithCompressor("gzip"))
	if err != nil {
		t.Fatal(err)
	}
	return &sent{SpanExporter: e}
}

// service names who sends.
func service(name string) *resource.Resource {
	return resource.NewSchemaless(attribute.String("service.name", name))
}

// provider is the SDK as an application sets it up, which sends so many spans at once, and the rest when it is flushed.
func (s *sent) provider(t *testing.T, from string, batch int) *sdktrace.TracerProvider {
	t.Helper()
	p := sdktrace.NewTracerProvider(sdktrace.WithResource(service(from)), sdktrace.WithSampler(sdktrace.AlwaysSample()),
		sdktrace.WithBatcher(s, sdktrace.WithMaxExportBatchSize(batch), sdktrace.WithBatchTimeout(time.Minute)))
	t.Cleanup(func() {
		if err := p.Shutdown(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return p
}

// dialect is how an instrumentation names what a span tells.
type dialect struct {
	name  string
	agent func(agent string) (title string, attributes []attribute.KeyValue)
	model func() (title string, attributes []attribute.KeyValue)
	tool  func(s playedStep, call string) (title string, attributes []attribute.KeyValue)
}

func dialects() []dialect {
	text := attribute.String
	return []dialect{
		{
			"the GenAI conventions",
			func(agent string) (string, []attribute.KeyValue) {
				return "invoke_agent " + agent, []attribute.KeyValue{
					text("gen_ai.operation.name", "invoke_agent"), text("gen_ai.agent.name", agent),
				}
			},
			func() (string, []attribute.KeyValue) {
				return "chat house-1", []attribute.KeyValue{
					text("gen_ai.operation.name", "chat"), text("gen_ai.request.model", "house-1"),
					attribute.Int("gen_ai.usage.input_tokens", playedInput), attribute.Int("gen_ai.usage.output_tokens", playedOutput),
				}
			},
			func(s playedStep, call string) (string, []attribute.KeyValue) {
				return "execute_tool " + s.tool, []attribute.KeyValue{
					text("gen_ai.operation.name", "execute_tool"), text("gen_ai.tool.name", s.tool), text("gen_ai.tool.call.id", call),
					text("gen_ai.tool.call.arguments", s.input), text("gen_ai.tool.call.result", s.output),
				}
			},
		},
		{
			"OpenInference",
			func(agent string) (string, []attribute.KeyValue) {
				return agent, []attribute.KeyValue{text("openinference.span.kind", "AGENT"), text("agent.name", agent)}
			},
			func() (string, []attribute.KeyValue) {
				return "ChatHouse", []attribute.KeyValue{
					text("openinference.span.kind", "LLM"), text("llm.model_name", "house-1"),
					attribute.Int("llm.token_count.prompt", playedInput), attribute.Int("llm.token_count.completion", playedOutput),
					attribute.Int("llm.token_count.total", playedInput+playedOutput),
				}
			},
			func(s playedStep, call string) (string, []attribute.KeyValue) {
				return s.tool, []attribute.KeyValue{
					text("openinference.span.kind", "TOOL"), text("tool.name", s.tool), text("tool.id", call),
					text("input.value", s.input), text("input.mime_type", "application/json"),
					text("output.value", s.output), text("output.mime_type", "application/json"),
				}
			},
		},
	}
}

// begin begins the span of the agent.
func (p *played) begin(ctx context.Context, tracer trace.Tracer, d dialect, more ...attribute.KeyValue) (context.Context, trace.Span) {
	title, attributes := d.agent(p.agent)
	return tracer.Start(ctx, title, trace.WithAttributes(append(attributes, more...)...))
}

// work tells of the steps by spans, within that of the agent.
func (p *played) work(ctx context.Context, tracer trace.Tracer, d dialect) {
	for k, s := range p.steps {
		title, attributes := d.model()
		if s.tool != "" {
			title, attributes = d.tool(s, "call_"+p.agent+strconv.Itoa(k))
		}
		_, step := tracer.Start(ctx, title, trace.WithAttributes(attributes...))
		step.End()
		if s.then != nil {
			within, agent := s.then.begin(ctx, tracer, d)
			s.then.work(within, tracer, d)
			agent.End()
		}
	}
}

// TestAgentsThatSendByTheGoSDK plays an agent that is stuck, in each dialect and over each transport.
func TestAgentsThatSendByTheGoSDK(t *testing.T) {
	work := stuckResearch()
	want := work.reference(t)
	want.Name, want.Project = "researcher", "library"
	for _, d := range dialects() {
		for _, way := range []struct {
			name string
			to   func(*testing.T, Addresses) *sent
		}{{"HTTP", overHTTP}, {"gRPC", overGRPC}} {
			t.Run(d.name+" over "+way.name, func(t *testing.T) {
				t.Parallel()
				a := serveAt(t, nil)
				exporter := way.to(t, a)
				provider := exporter.provider(t, "library", 4)
				want := want
				tracer := provider.Tracer("agents")
				ctx, agent := work.begin(t.Context(), tracer, d)
				work.work(ctx, tracer, d)
				agent.End()
				want.ID = agent.SpanContext().TraceID().String()
				if n := exporter.flush(t, provider); n < 5 {
					t.Errorf("%d requests, want 5 or more", n)
				}
				if diff := cmp.Diff(want, onlyRun(t, a.URL)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestARunIsJudgedBeforeItsAgentEnds sends what there is while the agent is at work, and then its span. That alone names the
// conversation, and so the run, in which all must be found then.
func TestARunIsJudgedBeforeItsAgentEnds(t *testing.T) {
	t.Parallel()
	work := stuckResearch()
	want := work.reference(t)
	for _, d := range dialects() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			a := serveAt(t, nil)
			exporter := overHTTP(t, a)
			provider := exporter.provider(t, "library", 4)
			tracer := provider.Tracer("agents")
			ctx, agent := work.begin(t.Context(), tracer, d, attribute.String("session.id", "conversation-7"))
			work.work(ctx, tracer, d)
			exporter.flush(t, provider)

			want, trace := want, agent.SpanContext().TraceID().String()
			want.ID, want.Name, want.Project, want.Status, want.Ended = trace, "writer", "library", "running", false
			if diff := cmp.Diff(want, onlyRun(t, a.URL)); diff != "" {
				t.Errorf("at work (-want +got):\n%s", diff)
			}
			agent.End()
			exporter.flush(t, provider)
			want.ID, want.Name, want.Project, want.Status, want.Ended = "conversation-7", "researcher", "library", "completed", true
			if diff := cmp.Diff(want, onlyRun(t, a.URL)); diff != "" {
				t.Errorf("at the end (-want +got):\n%s", diff)
			}
		})
	}
}
