package otlp

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/unloop-ai/unloop/internal/trace"
)

// agentTraces is a request with n spans of an agent's work in one trace: a model call and a tool call in turn below the
// agent's span, each with 14 attributes and about 1.4 kB. The span ids begin at first; ended is whether the agent has.
func agentTraces(n, first int, ended bool) ptrace.Traces {
	td := ptrace.NewTraces()
	resource := td.ResourceSpans().AppendEmpty()
	resource.Resource().Attributes().PutStr("service.name", "shop-assistant")
	scope := resource.ScopeSpans().AppendEmpty()
	scope.Scope().SetName("opentelemetry.instrumentation.genai")
	add := func(id, parent uint64) ptrace.Span {
		s := scope.Spans().AppendEmpty()
		s.SetTraceID(pcommon.TraceID{1})
		s.SetSpanID(spanID(id))
		if parent != 0 {
			s.SetParentSpanID(spanID(parent))
		}
		s.SetStartTimestamp(pcommon.Timestamp(1e18 + id*1e6))
		s.SetEndTimestamp(pcommon.Timestamp(1e18 + id*1e6 + 5e5))
		s.SetKind(ptrace.SpanKindInternal)
		return s
	}
	for i := range n {
		id := uint64(first + i + 2)
		s := add(id, 1)
		a := s.Attributes()
		for _, key := range []string{"thread.id", "thread.name", "code.function", "server.address", "user.id"} {
			a.PutStr(key, "value of "+key)
		}
		a.PutStr("gen_ai.conversation.id", "conv-31")
		a.PutStr("gen_ai.agent.name", "clerk")
		a.PutStr("gen_ai.provider.name", "acme")
		if i%2 == 0 {
			s.SetName("chat coder-2")
			a.PutStr("gen_ai.operation.name", "chat")
			a.PutStr("gen_ai.request.model", "coder-2")
			a.PutStr("gen_ai.response.model", "coder-2-0801")
			a.PutInt("gen_ai.usage.input_tokens", int64(1000+i))
			a.PutInt("gen_ai.usage.output_tokens", 40)
			a.PutStr("gen_ai.output.messages", strings.Repeat("said ", 180))
			continue
		}
		s.SetName("execute_tool find_order")
		a.PutStr("gen_ai.operation.name", "execute_tool")
		a.PutStr("gen_ai.tool.name", "find_order")
		a.PutStr("gen_ai.tool.type", "function")
		a.PutStr("gen_ai.tool.call.id", fmt.Sprintf("call_%d", id))
		a.PutStr("gen_ai.tool.call.arguments", fmt.Sprintf(`{"customer":"c-%d","limit":5}`, i))
		a.PutStr("gen_ai.tool.call.result", `[{"order":"`+strings.Repeat("x", 900)+`"}]`)
	}
	if ended {
		s := add(1, 0)
		s.SetName("invoke_agent clerk")
	}
	return td
}

func spanID(n uint64) (id pcommon.SpanID) {
	binary.BigEndian.PutUint64(id[:], n)
	return id
}

// BenchmarkTraces reads requests of 512 spans from protobuf into a trace.
func BenchmarkTraces(b *testing.B) {
	const spans = 512
	var marshaler ptrace.ProtoMarshaler
	data, err := marshaler.MarshalTraces(agentTraces(spans, 0, true))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		var reader ptrace.ProtoUnmarshaler
		td, err := reader.UnmarshalTraces(data)
		if err != nil {
			b.Fatal(err)
		}
		read, _, _ := allSpans(td)
		if changes := trace.New().Add(read); len(changes) != 2*spans+1 {
			b.Fatalf("%d changes", len(changes))
		}
	}
	b.ReportMetric(float64(b.N)*spans/b.Elapsed().Seconds(), "spans/s")
}

// BenchmarkMessages reads a model call whose input has 1 MB.
func BenchmarkMessages(b *testing.B) {
	var history []any
	for i := range 1000 {
		role := []string{"user", "assistant"}[i%2]
		history = append(history, kv{"role": role, "parts": []any{kv{"type": "text", "content": strings.Repeat("word ", 200)}}})
	}
	td := ptrace.NewTraces()
	s := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	s.SetTraceID(pcommon.TraceID{1})
	s.SetSpanID(pcommon.SpanID{1})
	s.Attributes().PutStr("gen_ai.operation.name", "chat")
	s.Attributes().PutStr("gen_ai.input.messages", inJSON(append(history, kv{"role": "user", "content": "new"})))
	b.SetBytes(1 << 20)
	b.ReportAllocs()
	for b.Loop() {
		if spans, _, _ := allSpans(td); spans[0].Messages == "" {
			b.Fatal("no messages")
		}
	}
}

// BenchmarkDecode is the part of BenchmarkTraces that is not ours.
func BenchmarkDecode(b *testing.B) {
	var marshaler ptrace.ProtoMarshaler
	data, err := marshaler.MarshalTraces(agentTraces(512, 0, true))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		var reader ptrace.ProtoUnmarshaler
		if _, err := reader.UnmarshalTraces(data); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLeaf adds one span below a known parent to a trace of a size. It costs the same in each.
func BenchmarkLeaf(b *testing.B) {
	for _, size := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			known, _, _ := allSpans(agentTraces(size, 0, true))
			leaves, _, _ := allSpans(agentTraces(20_000, size, false))
			var of *trace.Trace
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				if i%len(leaves) == 0 {
					b.StopTimer()
					of = trace.New()
					of.Add(known)
					b.StartTimer()
				}
				of.Add(leaves[i%len(leaves) : i%len(leaves)+1])
			}
		})
	}
}
