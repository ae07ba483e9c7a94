package otlp

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
)

func TestToolDialects(t *testing.T) {
	tests := []struct {
		name       string
		span       string
		attributes kv
		want       []string
	}{
		{
			"GenAI tells only the name where contents are not recorded", "execute_tool ls",
			kv{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "ls"},
			[]string{"02.start tool_call_started ls 02", "02.end tool_call_completed ls 02"},
		},
		{
			"an older Pydantic AI", "running tool",
			kv{"gen_ai.tool.name": "ls", "gen_ai.tool.call.id": "c", "tool_arguments": `{"d":1}`, "tool_response": "ok"},
			[]string{`02.start tool_call_started ls c {"d":1}`, `02.end tool_call_completed ls c "ok"`},
		},
		{
			"the non-standard gen_ai.tool.call_id", "execute_tool ls",
			kv{"gen_ai.tool.call_id": "c"},
			[]string{"02.start tool_call_started ls c", "02.end tool_call_completed ls c"},
		},
		{
			"Google's ADK", "execute_tool ls",
			kv{"gcp.vertex.agent.tool_call_args": `{"d":1}`, "gcp.vertex.agent.tool_response": `{"result":"ok"}`},
			[]string{`02.start tool_call_started ls 02 {"d":1}`, `02.end tool_call_completed ls 02 {"result":"ok"}`},
		},
		{
			"OpenInference without a tool name", "ls",
			kv{"openinference.span.kind": "TOOL", "input.value": "d", "tool.id": "c", "agent.name": "clerk"},
			[]string{`02.start tool_call_started clerk ls c "d"`, `02.end tool_call_completed clerk ls c`},
		},
		{
			"OpenInference's graph node is the agent where no name is", "ls",
			kv{"openinference.span.kind": "TOOL", "graph.node.id": "node"},
			[]string{`02.start tool_call_started node ls 02`, `02.end tool_call_completed node ls 02`},
		},
		{
			"OpenInference takes a tool whose name sounds like it for an agent", "ask_agent",
			kv{"openinference.span.kind": "AGENT", "tool.name": "ask_agent", "input.value": `{"q":1}`, "output.value": "later"},
			[]string{`02.start tool_call_started ask_agent 02 {"q":1}`, `02.end tool_call_completed ask_agent 02 "later"`},
		},
		{
			"a result in LangChain's message, whose call id differs from call to call", "ls",
			kv{
				"openinference.span.kind": "TOOL", "tool.name": "ls",
				"output.value": `{"type":"tool","data":{"content":"a b","id":null,"tool_call_id":"call_7","status":"success"}}`,
			},
			[]string{`02.start tool_call_started ls 02`, `02.end tool_call_completed ls 02 "a b"`},
		},
		{
			"a LangChain message that tells of an error", "ls",
			kv{
				"openinference.span.kind": "TOOL", "tool.name": "ls",
				"output.value": `{"type":"tool","data":{"content":"no such folder","tool_call_id":"call_7","status":"error"}}`,
			},
			[]string{`02.start tool_call_started ls 02`, `02.end tool_call_failed ls 02 "no such folder"`},
		},
		{
			"a result that only looks like a message", "ls",
			kv{"openinference.span.kind": "TOOL", "tool.name": "ls", "output.value": `{"type":"page","data":{"content":"a b"}}`},
			[]string{`02.start tool_call_started ls 02`, `02.end tool_call_completed ls 02 {"type":"page","data":{"content":"a b"}}`},
		},
		{
			"OpenLLMetry without an entity name", "ls.tool",
			kv{"traceloop.span.kind": "tool", "traceloop.entity.input": `{"input_str":"{\"d\":1}","tags":["step:3"]}`},
			[]string{`02.start tool_call_started ls 02 {"d":1}`, `02.end tool_call_completed ls 02`},
		},
		{
			"an argument an attribute", "tools/call ls",
			kv{"mcp.method.name": "tools/call", "mcp.request.argument.d": "1", "mcp.request.argument.e": `"x"`},
			[]string{`02.start tool_call_started ls 02 {"d":1,"e":"x"}`, `02.end tool_call_completed ls 02`},
		},
		{
			"an MCP request as it was sent", "RequestStreamWriter",
			kv{
				"mcp.method.name":      "tools/call",
				"mcp.request.argument": `{"method":"tools/call","params":{"_meta":{"traceparent":"0"},"name":"ls","arguments":{"d":1}}}`,
			},
			[]string{`02.start tool_call_started ls 02 {"d":1}`, `02.end tool_call_completed ls 02`},
		},
		{
			"the Vercel AI SDK with GenAI names beside its own", "execute_tool ls",
			kv{
				"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "ls", "ai.operationId": "ai.toolCall",
				"ai.toolCall.name": "ls", "ai.toolCall.id": "c", "ai.toolCall.result": `"ok"`,
			},
			[]string{`02.start tool_call_started ls c`, `02.end tool_call_completed ls c "ok"`},
		},
		{"MCP's other methods are no calls", "tools/list", kv{"mcp.method.name": "tools/list"}, nil},
		{"a retriever is no call", "docs", kv{"openinference.span.kind": "RETRIEVER"}, nil},
		{"a span of another program", "SELECT", kv{"db.system": "postgresql"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tell(t, given{id: 2, parent: 1, name: tt.span, start: 1, end: 2, attributes: tt.attributes})
			check(t, got, tt.want...)
		})
	}
}

func TestModelDialects(t *testing.T) {
	type call struct {
		Model  string
		Tokens int64
		Cost   float64
	}
	tests := []struct {
		name       string
		attributes kv
		want       *call
	}{
		{
			"GenAI's new names",
			kv{
				"gen_ai.operation.name": "generate_content", "gen_ai.request.model": "m",
				"gen_ai.usage.input_tokens": 7, "gen_ai.usage.output_tokens": 2, "gen_ai.usage.cache_read.input_tokens": 5,
			},
			&call{Model: "m", Tokens: 9},
		},
		{"its old names without an operation", kv{
			"gen_ai.system": "acme", "gen_ai.request.model": "m",
			"gen_ai.usage.prompt_tokens": 7, "gen_ai.usage.completion_tokens": 2,
		}, &call{Model: "m", Tokens: 9}},
		{"a price", kv{"gen_ai.operation.name": "chat", "operation.cost": 0.5}, &call{Cost: 0.5}},
		{"OpenInference", kv{
			"openinference.span.kind": "LLM", "llm.model_name": "m", "llm.token_count.prompt": 7,
			"llm.token_count.completion": 2, "llm.cost.total": 0.25,
		}, &call{Model: "m", Tokens: 9, Cost: 0.25}},
		{
			"OpenInference and GenAI in one span",
			kv{
				"gen_ai.operation.name": "chat", "gen_ai.request.model": "m",
				"openinference.span.kind": "LLM", "llm.token_count.total": 9, "llm.cost.total": 0.25,
			},
			&call{Model: "m", Tokens: 9, Cost: 0.25},
		},
		{
			"OpenLLMetry",
			kv{"llm.request.type": "chat", "gen_ai.request.model": "m", "llm.usage.total_tokens": 9},
			&call{Model: "m", Tokens: 9},
		},
		{"the Vercel AI SDK", kv{
			"ai.operationId": "ai.streamText.doStream", "ai.model.id": "m",
			"ai.usage.inputTokens": 7, "ai.usage.outputTokens": 2,
		}, &call{Model: "m", Tokens: 9}},
		{
			"tokens as a string",
			kv{"gen_ai.operation.name": "chat", "gen_ai.usage.total_tokens": "9"},
			&call{Tokens: 9},
		},
		{"tokens that cannot be", kv{
			"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": -4,
			"gen_ai.usage.output_tokens": 1e300,
		}, &call{}},
		{"an embedding is no model call", kv{
			"gen_ai.request.model": "m", "llm.request.type": "embedding",
			"gen_ai.usage.prompt_tokens": 7,
		}, nil},
		{"in GenAI, too, the total includes it", kv{
			"gen_ai.operation.name": "embeddings", "gen_ai.request.model": "m",
			"gen_ai.usage.input_tokens": 7,
		}, nil},
		{"the sum of a loop is no model call", kv{"ai.operationId": "ai.streamText", "ai.usage.inputTokens": 7}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got *call
			td := traces(t, given{id: 2, parent: 1, start: 1, end: 2, attributes: tt.attributes})
			err := send(td, func(e *unloop.Event) error {
				if e.Type == unloop.LLMCallCompleted {
					got = &call{e.Model, e.Tokens, e.Cost}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	tests := []struct {
		name       string
		attributes kv
		want       *unloop.Usage
	}{
		{
			"GenAI counts the cached part in",
			kv{"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 9, "gen_ai.usage.output_tokens": 2, "gen_ai.usage.cache_read.input_tokens": 5},
			&unloop.Usage{Input: 9, Output: 2, CachedInput: 5},
		},
		{
			"who tells more that is cached than all of it told that apart",
			kv{
				"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 3,
				"gen_ai.usage.cache_read_input_tokens": 5, "gen_ai.usage.cache_creation.input_tokens": 1,
			},
			&unloop.Usage{Input: 9, CachedInput: 5, CacheWrite: 1},
		},
		{
			"OpenInference",
			kv{"openinference.span.kind": "LLM", "llm.token_count.prompt": 9, "llm.token_count.prompt_details.cache_write": 4},
			&unloop.Usage{Input: 9, CacheWrite: 4},
		},
		{
			"the Vercel AI SDK",
			kv{"ai.operationId": "ai.streamText.doStream", "ai.usage.inputTokens": 9, "ai.usage.cachedInputTokens": 8},
			&unloop.Usage{Input: 9, CachedInput: 8},
		},
		{"a sum says nothing of its parts", kv{"gen_ai.operation.name": "chat", "gen_ai.usage.total_tokens": 9}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []*unloop.Usage
			err := send(traces(t, given{id: 2, parent: 1, start: 1, end: 2, attributes: tt.attributes}), func(e *unloop.Event) error {
				if e.Type == unloop.LLMCallCompleted {
					got = append(got, e.Usage)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]*unloop.Usage{tt.want}, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestRuns(t *testing.T) {
	tests := []struct {
		name  string
		spans []given
		want  string // run of span 2
	}{
		{"the conversation", []given{{id: 2, attributes: kv{"gen_ai.conversation.id": "c", "session.id": "s"}}}, "c"},
		{
			"the session of OpenLLMetry",
			[]given{{id: 2, attributes: kv{"traceloop.association.properties.session_id": "s"}}},
			"s",
		},
		{"the session of the span above", []given{{id: 2, parent: 1}, {id: 1, attributes: kv{"session.id": "s"}}}, "s"},
		{
			"a session that another span of the trace names",
			[]given{{id: 2, parent: 1}, {id: 3, parent: 1, attributes: kv{"langfuse.session.id": "s"}}},
			"s",
		},
		{
			"not that of another trace",
			[]given{{id: 2, parent: 1}, {id: 3, trace: 5, attributes: kv{"session.id": "s"}}},
			"01000000000000000000000000000000",
		},
		{
			"not the session between an MCP client and its server",
			[]given{{id: 2, parent: 1, attributes: kv{"mcp.session.id": "m"}}},
			"01000000000000000000000000000000",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.spans[0].name = "execute_tool ls"
			err := send(traces(t, tt.spans...), func(e *unloop.Event) error {
				if e.RunID != tt.want {
					t.Errorf("run = %q, want %q", e.RunID, tt.want)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestParents(t *testing.T) {
	parents := make(map[string]string)
	td := traces(t,
		given{id: 1, name: "invoke_agent a", start: 1, end: 9},
		given{id: 2, parent: 1, name: "execute_tool research", start: 2, end: 8},
		given{id: 3, parent: 2, name: "invoke_agent b", start: 3, end: 7},
		given{id: 4, parent: 3, name: "execute_tool ls", start: 4, end: 6})
	err := send(td, func(e *unloop.Event) error {
		parents[e.ID] = e.ParentEventID
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"0200000000000000.start": "",
		"0200000000000000.end":   "0200000000000000.start",
		"0400000000000000.start": "0200000000000000.start", // through the agent that the tool called
		"0400000000000000.end":   "0400000000000000.start",
		"0100000000000000.end":   "",
	}
	if diff := cmp.Diff(want, parents); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestContentsInEvents(t *testing.T) {
	td := traces(t, given{id: 2, parent: 1, name: "execute_tool ls", start: 1, end: 2})
	events := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Events()
	asked := events.AppendEmpty()
	asked.SetName("gen_ai.tool.message")
	asked.Attributes().PutStr("content", `{"d":1}`)
	answer := events.AppendEmpty()
	answer.SetName("gen_ai.choice")
	answer.Attributes().PutStr("message", `[{"text":"ok"}]`)
	var got []string
	err := send(td, func(e *unloop.Event) error {
		got = append(got, string(e.Input)+string(e.Output))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	check(t, got, `{"d":1}`, `[{"text":"ok"}]`)
}
