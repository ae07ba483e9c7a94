package mcpguard_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/adapters/mcpguard"
	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/internal/adaptertest"
)

// connect starts a server with the tools of the works, and returns a guarded client of it and the number of calls that reached it.
func connect(t *testing.T, annotations *mcp.ToolAnnotations) (*mcp.ClientSession, *atomic.Int64) {
	t.Helper()
	ran := new(atomic.Int64)
	server := mcp.NewServer(&mcp.Implementation{Name: "archive", Version: "1"}, nil)
	for _, tool := range adaptertest.Tools {
		definition := &mcp.Tool{Name: tool.Name, InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: annotations}
		server.AddTool(definition, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			ran.Add(1)
			text, err := tool.Run(req.Params.Arguments)
			if err != nil {
				text = err.Error()
			}
			return &mcp.CallToolResult{IsError: err != nil, Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
		})
	}
	near, far := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), far, nil); err != nil {
		t.Fatal(err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	client.AddSendingMiddleware(mcpguard.Middleware())
	session, err := client.Connect(t.Context(), near, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session, ran
}

func textOf(result *mcp.CallToolResult) string {
	var texts []string
	for _, part := range result.Content {
		texts = append(texts, part.(*mcp.TextContent).Text)
	}
	return strings.Join(texts, "\n")
}

func TestWorksHaveTheVerdictsOfTheGoldenTable(t *testing.T) {
	session, _ := connect(t, &mcp.ToolAnnotations{ReadOnlyHint: true})
	adaptertest.Works(t, func(t *testing.T, ctx context.Context, steps [][]adaptertest.Call) {
		g := guard.FromContext(ctx)
		for _, step := range append(steps, nil) {
			g.Record(ctx, unloop.Event{Type: unloop.LLMCallStarted})
			g.ModelCall(ctx, "", "", adaptertest.InputTokens+adaptertest.OutputTokens, 0)
			var calls sync.WaitGroup
			for _, c := range step {
				calls.Go(func() {
					if _, err := session.CallTool(ctx, &mcp.CallToolParams{Name: c.Tool, Arguments: c.Args}); err != nil {
						t.Error(err)
					}
				})
			}
			calls.Wait()
		}
	})
}

func TestAClientThatRepeatsACallIsNudgedThenBlockedThenStopped(t *testing.T) {
	for name, want := range map[string]string{"search": "one letter, of 1911", "fetch": "ConnectionError: the host does not answer"} {
		t.Run(name, func(t *testing.T) {
			session, ran := connect(t, nil)
			g := adaptertest.NewGuard(t, "default", guard.Options{})
			ctx := guard.NewContext(t.Context(), g)
			var results []string
			var err error
			for len(results) < 30 && err == nil {
				var result *mcp.CallToolResult
				if result, err = session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: map[string]any{"q": "a"}}); err == nil {
					results = append(results, textOf(result))
					if blocked := strings.Contains(textOf(result), "loop_blocked"); result.IsError != (blocked || name == "fetch") {
						t.Errorf("IsError is %t of %s", result.IsError, textOf(result))
					}
				}
			}
			var loop *guard.LoopError
			if !errors.As(err, &loop) {
				t.Fatalf("the client was not stopped: %v", err)
			}
			nudged := slices.ContainsFunc(results, func(r string) bool { return strings.HasPrefix(r, want+"\n[loop-guard] ") })
			if results[0] != want || !nudged || !strings.Contains(results[len(results)-1], "loop_blocked") {
				t.Errorf("results:\n%s", strings.Join(results, "\n"))
			}
			if int(ran.Load()) >= len(results) {
				t.Errorf("%d of %d calls reached the server", ran.Load(), len(results))
			}
		})
	}
}

func TestAClientThatMakesProgressGetsTheResultsAsTheyAre(t *testing.T) {
	session, _ := connect(t, nil)
	ctx := guard.NewContext(t.Context(), adaptertest.NewGuard(t, "default", guard.Options{}))
	for page := range 12 {
		params := &mcp.CallToolParams{Name: "read", Arguments: map[string]any{"page": page}}
		got, err := session.CallTool(ctx, params)
		if err != nil {
			t.Fatal(err)
		}
		want, err := session.CallTool(t.Context(), params)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(textOf(want), textOf(got)); diff != "" {
			t.Errorf("page %d (-unguarded +guarded):\n%s", page, diff)
		}
	}
}

func TestACallWithoutAGuardIsNotGuarded(t *testing.T) {
	session, ran := connect(t, nil)
	for range 30 {
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "search"})
		if err != nil || textOf(result) != "one letter, of 1911" {
			t.Fatalf("%v, %v", result, err)
		}
	}
	if ran.Load() != 30 {
		t.Errorf("%d of 30 calls ran", ran.Load())
	}
}

func TestAnnotationsOfListedToolsAreHints(t *testing.T) {
	session, _ := connect(t, &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true})
	var hints []*unloop.ToolHints
	g := adaptertest.NewGuard(t, "default", guard.Options{Run: "r", Events: func(e *unloop.Event, _ guard.Decision) {
		if e.Type == unloop.ToolCallStarted {
			hints = append(hints, e.Hints)
		}
	}})
	call := func() {
		if _, err := session.CallTool(guard.NewContext(t.Context(), g), &mcp.CallToolParams{Name: "borrow"}); err != nil {
			t.Fatal(err)
		}
	}
	call()
	if _, err := session.ListTools(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	call()
	if diff := cmp.Diff([]*unloop.ToolHints{nil, {ReadOnly: true, Idempotent: true}}, hints); diff != "" {
		t.Errorf("before and after the list (-want +got):\n%s", diff)
	}
}

func TestACanceledCallIsRecordedAndItsErrorIsKept(t *testing.T) {
	session, _ := connect(t, nil)
	var types []unloop.EventType
	events := func(e *unloop.Event, _ guard.Decision) { types = append(types, e.Type) }
	g := adaptertest.NewGuard(t, "default", guard.Options{Run: "r", Events: events})
	ctx, cancel := context.WithCancel(guard.NewContext(t.Context(), g))
	cancel()
	if _, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "search"}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff([]unloop.EventType{unloop.ToolCallStarted, unloop.ToolCallFailed}, types); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
