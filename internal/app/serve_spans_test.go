package app

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/unloop-ai/unloop/internal/config"
	"github.com/unloop-ai/unloop/internal/natstest"
	"github.com/unloop-ai/unloop/internal/store/storetest/postgres"
)

// conversed returns the spans of a trace: calls under an agent, most of which an MCP server tells too, each after a model call that
// repeats the conversation. One of them, whichever, names the conversation.
func conversed(random *rand.Rand) tracetest.SpanStubs {
	begin := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	text := attribute.String
	at := func(id byte) trace.SpanContext {
		return trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{id}, TraceFlags: trace.FlagsSampled})
	}
	stub := func(id, parent byte, title string, from, to int, attributes ...attribute.KeyValue) tracetest.SpanStub {
		s := tracetest.SpanStub{
			Name: title, SpanContext: at(id), StartTime: begin.Add(time.Duration(from) * time.Second), EndTime: begin.Add(time.Duration(to) * time.Second),
			Attributes: attributes, Resource: service("library"),
		}
		if parent != 0 {
			s.Parent = at(parent)
		}
		return s
	}
	spans := tracetest.SpanStubs{stub(1, 0, "invoke_agent desk", 0, 100, text("gen_ai.operation.name", "invoke_agent"), text("gen_ai.agent.name", "desk"))}
	history := []string{`{"role":"user","content":"Find the book."}`}
	for k := range 6 {
		id := byte(10 + 2*k)
		answer := fmt.Sprintf(`{"role":"assistant","parts":[{"type":"text","content":"I search, part %d."},{"type":"tool_call","id":"call%d"}]}`, k, k)
		spans = append(spans, stub(byte(40+k), 1, "chat m", 10*k, 10*k+1, text("gen_ai.operation.name", "chat"), text("gen_ai.request.model", "m"),
			text("gen_ai.input.messages", "["+strings.Join(history, ",")+"]"), text("gen_ai.output.messages", "["+answer+"]")))
		history = append(history, answer, fmt.Sprintf(`{"role":"tool","parts":[{"type":"tool_call_response","id":"call%d","response":[]}]}`, k))
		spans = append(spans, stub(id, 1, "execute_tool search", 10*k+1, 10*k+9, text("gen_ai.operation.name", "execute_tool"),
			text("gen_ai.tool.name", "search"), text("gen_ai.tool.call.id", fmt.Sprint("call", k)),
			text("gen_ai.tool.call.arguments", `{"q":1}`), text("gen_ai.tool.call.result", `[]`)))
		if k%3 > 0 {
			spans = append(spans, stub(id+1, id, "tools/call search", 10*k+2, 10*k+8,
				text("mcp.method.name", "tools/call"), text("gen_ai.tool.name", "search")))
		}
	}
	names := &spans[random.IntN(len(spans))]
	names.Attributes = append(names.Attributes, text("session.id", "talk"))
	return spans
}

// spanVerdict is what a server says of its only run, and the ids of its events.
type spanVerdict struct {
	Run    runVerdict
	Events []string
}

func verdictOfSpans(t *testing.T, url string) (v spanVerdict) {
	t.Helper()
	v.Run = onlyRun(t, url)
	var events []struct {
		ID string `json:"event_id"`
	}
	unmarshal(t, get(t, url+"/api/runs/"+v.Run.ID+"/events?limit=1000"), &events)
	for _, e := range events {
		v.Events = append(v.Events, e.ID)
	}
	return v
}

// exportSpans sends spans in one request.
func exportSpans(t *testing.T, to *sent, spans []sdktrace.ReadOnlySpan) {
	t.Helper()
	if err := to.ExportSpans(t.Context(), spans); err != nil {
		t.Fatal(err)
	}
}

// TestSpansGiveTheSameRunForEverySplitTransportAndRestart sends the spans of one conversation
// shuffled, doubled and in pieces, by HTTP and gRPC in turns, to servers of which each goes on where the last one ended: alone with SQLite,
// alone with PostgreSQL, and in a cluster.
func TestSpansGiveTheSameRunForEverySplitTransportAndRestart(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 4))
			spans := conversed(random).Snapshots()
			whole := serveAt(t, nil)
			exportSpans(t, overHTTP(t, whole), spans)
			want := verdictOfSpans(t, whole.URL)
			if want.Run.ToolCalls != 6 || want.Run.ID != "talk" || want.Run.Name != "Find the book." || len(want.Run.Warnings) == 0 {
				text, err := json.Marshal(want)
				t.Fatalf("the spans at once give %s, %v", text, err)
			}

			mixed := append(append([]sdktrace.ReadOnlySpan(nil), spans...), spans[:random.IntN(len(spans))]...)
			random.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
			db := filepath.Join(t.TempDir(), "spans.db")
			configure, settle := func(c *config.Config) { c.DB = db }, func(*testing.T) {}
			switch seed % 3 {
			case 1:
				db = postgres.Database(t)
			case 2:
				c := &testCluster{t: t, db: postgres.Database(t), url: natstest.Start(t, 0).ClientURL()}
				configure, settle = c.configure, c.drained
			}
			for life := 0; len(mixed) > 0; life++ {
				t.Run(fmt.Sprint("life ", life), func(t *testing.T) { // at whose end the server ends
					a := serveAt(t, configure)
					ways := []*sent{overHTTP(t, a), overGRPC(t, a)}
					for range random.IntN(3) + 1 {
						n := min(random.IntN(4)+1, len(mixed))
						exportSpans(t, ways[random.IntN(2)], mixed[:n])
						mixed = mixed[n:]
					}
					if len(mixed) > 0 {
						return
					}
					settle(t)
					if diff := cmp.Diff(want, verdictOfSpans(t, a.URL)); diff != "" {
						t.Errorf("(-at once +in pieces):\n%s", diff)
					}
				})
			}
		})
	}
}
