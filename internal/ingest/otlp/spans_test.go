package otlp

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/trace"
)

// given is a span in short. Its times are seconds after an epoch; end 0 is unknown.
type given struct {
	id, parent byte
	name       string
	start, end int64
	attributes map[string]any
	scope      string
	status     ptrace.StatusCode
	message    string
	exception  [2]string // type and message
	trace      byte      // 1 if 0
}

type kv = map[string]any

func traces(t *testing.T, spans ...given) ptrace.Traces {
	t.Helper()
	td := ptrace.NewTraces()
	resource := td.ResourceSpans().AppendEmpty()
	for _, g := range spans {
		scope := resource.ScopeSpans().AppendEmpty()
		scope.Scope().SetName(g.scope)
		s := scope.Spans().AppendEmpty()
		s.SetTraceID(pcommon.TraceID{max(g.trace, 1)})
		s.SetSpanID(pcommon.SpanID{g.id})
		if g.parent != 0 {
			s.SetParentSpanID(pcommon.SpanID{g.parent})
		}
		s.SetName(g.name)
		if g.start != 0 {
			s.SetStartTimestamp(pcommon.NewTimestampFromTime(time.Unix(g.start, 0)))
		}
		if g.end != 0 {
			s.SetEndTimestamp(pcommon.NewTimestampFromTime(time.Unix(g.end, 0)))
		}
		if err := s.Attributes().FromRaw(g.attributes); err != nil {
			t.Fatal(err)
		}
		s.Status().SetCode(g.status)
		s.Status().SetMessage(g.message)
		if g.exception != [2]string{} {
			event := s.Events().AppendEmpty()
			event.SetName("exception")
			event.Attributes().PutStr("exception.type", g.exception[0])
			event.Attributes().PutStr("exception.message", g.exception[1])
		}
	}
	return td
}

// send sends the events of one request, as a file with it would.
func send(td ptrace.Traces, emit ingest.Emit) error {
	w := newWindow("", 0)
	w.add(td)
	return w.send(emit)
}

// tell returns the events of the spans, in short: those of the span with id 2 begin with 02.
func tell(t *testing.T, spans ...given) []string {
	t.Helper()
	var told []string
	err := send(traces(t, spans...), func(e *unloop.Event) error {
		id := strings.Replace(e.ID, "00000000000000", "", 1)
		line := fmt.Sprintln(id, e.Type, e.Agent, e.Tool, e.CallID, e.Model, string(e.Input), string(e.Output),
			string(e.Error), string(e.Metadata))
		told = append(told, strings.ReplaceAll(strings.Join(strings.Fields(line), " "), "00000000000000", ""))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return told
}

func check(t *testing.T, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

const failed = ptrace.StatusCodeError

// The three spans of one call of ls over MCP, with the HTTP request between the client's and the server's.
var (
	client     = kv{"mcp.method.name": "tools/call", "gen_ai.tool.name": "ls", "gen_ai.tool.call.arguments": `{"d":1}`}
	server     = kv{"mcp.method.name": "tools/call", "gen_ai.tool.name": "ls", "gen_ai.tool.call.result": `"ok"`}
	clientSpan = given{id: 3, parent: 2, name: "tools/call ls", start: 11, end: 19, attributes: client}
	serverSpan = given{id: 5, parent: 4, name: "tools/call ls", start: 13, end: 17, attributes: server}
	post       = given{id: 4, parent: 3, name: "POST", start: 12, end: 18}
	agentSide  = given{id: 2, parent: 1, name: "execute_tool ls", start: 10, end: 20}
)

func TestSpansOfOneCallCountOnce(t *testing.T) {
	once := []string{`02.start tool_call_started ls 02 {"d":1}`, `02.end tool_call_completed ls 02 "ok"`}

	t.Run("the agent's, the client's and the server's span are one call", func(t *testing.T) {
		check(t, tell(t, agentSide, clientSpan, post, serverSpan), once...)
	})
	t.Run("inner spans may arrive first", func(t *testing.T) {
		check(t, tell(t, serverSpan, post, clientSpan, agentSide), once...)
	})
	t.Run("the agent may put the server's name before the tool's", func(t *testing.T) {
		outer := agentSide
		outer.name = "execute_tool files__ls"
		check(t, tell(t, outer, clientSpan, post, serverSpan),
			`02.start tool_call_started files__ls 02 {"d":1}`, `02.end tool_call_completed files__ls 02 "ok"`)
	})
	t.Run("without the agent's span the client's counts", func(t *testing.T) {
		check(t, tell(t, clientSpan, post, serverSpan),
			`03.start tool_call_started ls 03 {"d":1}`, `03.end tool_call_completed ls 03 "ok"`)
	})
}

func TestSpansOfDifferentCallsCountSeparately(t *testing.T) {
	t.Run("a tool that calls another one over MCP is two calls", func(t *testing.T) {
		outer := agentSide
		outer.name = "execute_tool tools"
		check(t, tell(t, outer, clientSpan),
			`02.start tool_call_started tools 02`, `03.start tool_call_started ls 03 {"d":1}`,
			`03.end tool_call_completed ls 03`, `02.end tool_call_completed tools 02`)
	})
	t.Run("a tool that calls itself is two calls", func(t *testing.T) {
		inner := given{id: 3, parent: 2, name: "execute_tool ls", start: 11, end: 19}
		check(t, tell(t, agentSide, inner),
			`02.start tool_call_started ls 02`, `03.start tool_call_started ls 03`,
			`03.end tool_call_completed ls 03`, `02.end tool_call_completed ls 02`)
	})
	t.Run("an agent within the tool that calls the same tool over MCP is another call", func(t *testing.T) {
		sub := given{id: 6, parent: 2, name: "invoke_agent sub", start: 10, end: 20}
		inner := clientSpan
		inner.parent = 6
		check(t, tell(t, agentSide, sub, inner),
			`02.start tool_call_started ls 02`, `03.start tool_call_started sub ls 03 {"d":1}`,
			`03.end tool_call_completed sub ls 03`, `02.end tool_call_completed ls 02`)
	})
}

func TestOneCallMergesTheFieldsOfItsSpans(t *testing.T) {
	t.Run("the server's failure is the call's if the agent's span has none", func(t *testing.T) {
		inner := serverSpan
		inner.status, inner.message = failed, "disk full"
		check(t, tell(t, agentSide, clientSpan, post, inner),
			`02.start tool_call_started ls 02 {"d":1}`, `02.end tool_call_failed ls 02 "ok" "disk full"`)
	})
	t.Run("a failed attempt within a successful call is no failure", func(t *testing.T) {
		first, second := clientSpan, clientSpan
		first.status, first.end = failed, 12
		second.id, second.start = 7, 13
		check(t, tell(t, agentSide, second, first),
			`02.start tool_call_started ls 02 {"d":1}`, `02.end tool_call_completed ls 02`)
	})
	t.Run("the transport's own span is no call", func(t *testing.T) {
		writer := given{
			id: 3, parent: 2, name: "RequestStreamWriter", start: 11, end: 12,
			attributes: kv{"mcp.method.name": "tools/call"},
		}
		check(t, tell(t, agentSide, writer), `02.start tool_call_started ls 02`, `02.end tool_call_completed ls 02`)
	})
	t.Run("OpenLLMetry's spans of MCP's client and server are one call", func(t *testing.T) {
		const scope = "opentelemetry.instrumentation.mcp"
		told := kv{
			"traceloop.span.kind": "tool", "traceloop.entity.name": "ls",
			"traceloop.entity.input": `{"tool_name":"ls","arguments":{"d":1}}`,
		}
		check(t, tell(t,
			given{id: 2, parent: 1, name: "ls.tool", start: 10, end: 20, scope: scope, attributes: told},
			given{id: 3, parent: 2, name: "ls.tool", start: 11, end: 19, scope: scope, attributes: told}),
			`02.start tool_call_started ls 02 {"d":1}`, `02.end tool_call_completed ls 02`)
	})
}

func TestCallIDs(t *testing.T) {
	call := func(id byte, start, end int64) given {
		return given{
			id: id, parent: 1, name: "execute_tool ls", start: start, end: end,
			attributes: kv{"gen_ai.tool.call.id": "c"},
		}
	}
	t.Run("two spans side by side with one call id are one call", func(t *testing.T) {
		check(t, tell(t, call(3, 11, 12), call(2, 10, 13)),
			`02.start tool_call_started ls c`, `02.end tool_call_completed ls c`)
	})
	t.Run("a later span with the same call id is another try", func(t *testing.T) {
		check(t, tell(t, call(2, 10, 11), call(3, 11, 12)),
			`02.start tool_call_started ls c`, `02.end tool_call_completed ls c`,
			`03.start tool_call_started ls c`, `03.end tool_call_completed ls c`)
	})
	t.Run("the same call id in another trace is another call", func(t *testing.T) {
		other := call(3, 10, 12)
		other.trace = 9
		check(t, tell(t, call(2, 10, 13), other),
			`02.start tool_call_started ls c`, `03.start tool_call_started ls c`,
			`03.end tool_call_completed ls c`, `02.end tool_call_completed ls c`)
	})
	t.Run("a model call with spans of two instrumentations is one", func(t *testing.T) {
		chat := kv{"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
		check(t, tell(t,
			given{id: 2, parent: 1, name: "chat m", start: 10, end: 20, attributes: chat},
			given{id: 3, parent: 2, name: "chat m", start: 11, end: 19, attributes: chat}),
			`02.start llm_call_started m`, `02.end llm_call_completed m`)
	})
	t.Run("a request that is sent again gives the same ids", func(t *testing.T) {
		spans := []given{call(2, 10, 11), {id: 1, name: "invoke_agent a", start: 9, end: 12}}
		if diff := cmp.Diff(tell(t, spans...), tell(t, spans...)); diff != "" {
			t.Errorf("-first +second:\n%s", diff)
		}
	})
}

func TestFailures(t *testing.T) {
	tests := []struct {
		name string
		span given
		want string
	}{
		{
			"the status' message says why",
			given{status: failed, message: "no disk", exception: [2]string{"E", "m"}},
			`02.end tool_call_failed ls 02 "no disk"`,
		},
		{
			"without one the exception does",
			given{status: failed, exception: [2]string{"E", "m"}},
			`02.end tool_call_failed ls 02 "E: m"`,
		},
		{
			"an exception may have no message",
			given{status: failed, exception: [2]string{"E", ""}},
			`02.end tool_call_failed ls 02 "E"`,
		},
		{
			"an error type is a failure even where the status is not set",
			given{attributes: kv{"error.type": "tool_error"}},
			`02.end tool_call_failed ls 02 "tool_error"`,
		},
		{"a status may say nothing more", given{status: failed}, `02.end tool_call_failed ls 02`},
		{
			"an exception that was caught is no failure",
			given{exception: [2]string{"E", "m"}},
			`02.end tool_call_completed ls 02`,
		},
		{
			"the result of a failed call is kept",
			given{status: failed, attributes: kv{"gen_ai.tool.call.result": "E1"}},
			`02.end tool_call_failed ls 02 "E1"`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.span.id, tt.span.parent, tt.span.name, tt.span.start, tt.span.end = 2, 1, "execute_tool ls", 1, 2
			check(t, tell(t, tt.span), `02.start tool_call_started ls 02`, tt.want)
		})
	}
}

func TestRunEnds(t *testing.T) {
	call := given{id: 2, parent: 1, name: "execute_tool ls", start: 10, end: 20}
	const started, completed = `02.start tool_call_started ls 02`, `02.end tool_call_completed ls 02`
	chain := kv{"openinference.span.kind": "CHAIN"}
	tests := []struct {
		name string
		root given
		want []string
	}{
		{"a workflow's end completes the run", given{attributes: chain}, []string{started, completed, "01.end run_completed"}},
		{
			"a workflow's failure fails it",
			given{attributes: chain, status: failed, message: "limit"},
			[]string{started, completed, `01.end run_failed "limit"`},
		},
		{"a request that is answered does not say that the run is over", given{name: "POST"}, []string{started, completed}},
		{
			"a request that fails fails the run",
			given{name: "POST", status: failed},
			[]string{started, completed, "01.end run_failed"},
		},
		{
			"a failure in another trace is not about an agent",
			given{name: "POST", status: failed, trace: 7},
			[]string{started, completed},
		},
		{
			"an agent that another span called does not end the run",
			given{parent: 9, attributes: chain},
			[]string{started, completed},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.root.id, tt.root.start, tt.root.end = 1, 9, 20
			check(t, tell(t, tt.root, call), tt.want...)
		})
	}
	t.Run("a tool call without a parent does not end the run", func(t *testing.T) {
		alone := call
		alone.parent, alone.status = 0, failed
		check(t, tell(t, alone), started, `02.end tool_call_failed ls 02`)
	})
}

func TestHandoffs(t *testing.T) {
	front := given{id: 1, name: "invoke_agent Front Desk", start: 1, end: 50}
	call := func(tool string) given {
		return given{id: 2, parent: 1, name: "execute_tool " + tool, start: 10, end: 20}
	}
	tests := []struct{ tool, want string }{
		{"transfer_to_refunds", `02.start handoff_started refunds {"from":"Front Desk"}`},
		{"handoff_to_refunds", `02.start handoff_started refunds {"from":"Front Desk"}`},
		{"transfer_back_to_front_desk", `02.start handoff_started Front Desk {"from":"Front Desk"}`},
	}
	for _, tt := range tests {
		t.Run(tt.tool+" is a handoff and no call", func(t *testing.T) {
			check(t, tell(t, front, call(tt.tool)), tt.want, "01.end run_completed Front Desk")
		})
	}
	t.Run("transfer_to_ without a name is a call", func(t *testing.T) {
		check(t, tell(t, call("transfer_to_")), `02.start tool_call_started transfer_to_ 02`,
			`02.end tool_call_completed transfer_to_ 02`)
	})
}

func TestTimes(t *testing.T) {
	var got []string
	emit := func(e *unloop.Event) error {
		latency := "-"
		if e.Latency != nil {
			latency = fmt.Sprint(*e.Latency)
		}
		at := "-"
		if !e.Time.IsZero() {
			at = fmt.Sprint(e.Time.Unix())
		}
		got = append(got, fmt.Sprintf("%d %s %s %s", e.Index, e.Type, at, latency))
		return nil
	}
	err := send(traces(t,
		given{id: 2, parent: 1, name: "execute_tool a", start: 30, end: 40},
		given{id: 3, parent: 1, name: "execute_tool b", start: 10},
		given{id: 4, parent: 1, name: "execute_tool c", end: 20},
		given{id: 5, parent: 1, name: "execute_tool d"},
		given{id: 6, parent: 1, name: "execute_tool e", start: 50, end: 45},
	), emit)
	if err != nil {
		t.Fatal(err)
	}
	check(t, got,
		"3 tool_call_started - -", "3 tool_call_completed - -",
		"1 tool_call_started 10 -", "1 tool_call_completed 10 -",
		"2 tool_call_started 20 -", "2 tool_call_completed 20 -",
		"0 tool_call_started 30 -", "0 tool_call_completed 40 10000",
		"4 tool_call_started 50 -", "4 tool_call_completed 50 0")
}

func TestValues(t *testing.T) {
	tests := []struct {
		name  string
		value any
		want  string
	}{
		{"a structure", map[string]any{"a": []any{int64(1), true, nil}}, `{"a":[1,true,null]}`},
		{"JSON in a string", ` {"a": 1}`, `{"a": 1}`},
		{"a text", `no JSON`, `"no JSON"`},
		{"bytes", []byte("ab"), `"YWI="`},
		{"a number", 1.5, `1.5`},
		{"a number that JSON has no form for", math.Inf(1), `"Infinity"`},
		{"one in a structure", []any{math.NaN()}, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := pcommon.NewValueEmpty()
			if err := v.FromRaw(tt.value); err != nil {
				t.Fatal(err)
			}
			if got := asJSON(v); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestInvalidTextsAreReplaced(t *testing.T) {
	check(t, tell(t, given{
		id: 2, parent: 1, name: "execute_tool l\xffs", start: 1, end: 2,
		attributes: kv{"gen_ai.agent.name": "cl\xfferk"},
	}),
		"02.start tool_call_started cl\ufffderk l\ufffds 02", "02.end tool_call_completed cl\ufffderk l\ufffds 02")
}

func TestSpansWithoutIDsAreRejected(t *testing.T) {
	td := traces(t, given{id: 2, parent: 1, name: "execute_tool ls"}, given{id: 3, name: "execute_tool ls"}, given{id: 4, name: "execute_tool ls"})
	scopes := td.ResourceSpans().At(0).ScopeSpans()
	scopes.At(0).Spans().At(0).SetSpanID(pcommon.NewSpanIDEmpty())
	scopes.At(1).Spans().At(0).SetTraceID(pcommon.NewTraceIDEmpty())
	spans, rejected, reason := allSpans(td)
	if len(spans) != 1 || spans[0].ID != "0400000000000000" || rejected != 2 || reason != "2 spans have no trace id or no span id" {
		t.Errorf("got %v, %d, %q", spans, rejected, reason)
	}
}

func TestTheErrorOfEmitIsReturned(t *testing.T) {
	stop := errors.New("stop")
	err := send(traces(t, given{id: 2, name: "execute_tool ls"}), func(*unloop.Event) error { return stop })
	if !errors.Is(err, stop) {
		t.Errorf("err = %v, want emit's", err)
	}
}

func TestParentCyclesBreakAtTheSmallestSpanID(t *testing.T) {
	check(t, tell(t,
		given{id: 2, parent: 3, name: "execute_tool ls", start: 1, end: 4},
		given{id: 3, parent: 2, name: "invoke_agent a", start: 2, end: 3},
		given{id: 4, parent: 4, name: "execute_tool pwd", start: 5, end: 6}),
		"02.start tool_call_started ls 02", "02.end tool_call_completed ls 02",
		"04.start tool_call_started pwd 04", "04.end tool_call_completed pwd 04")
}

// allSpans returns all spans of one request.
func allSpans(td ptrace.Traces) (spans []trace.Span, rejected int, reason string) {
	rejected, reason, _ = SpansInParts(td, td.SpanCount()+1, func(all []trace.Span) error {
		spans = all
		return nil
	})
	return spans, rejected, reason
}
