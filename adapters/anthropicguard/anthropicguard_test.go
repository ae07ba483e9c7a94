package anthropicguard_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/adapters/anthropicguard"
	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/internal/adaptertest"
)

var question = anthropic.MessageNewParams{
	Model: "scripted", MaxTokens: 1000,
	Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Find the lost letter."))},
}

func TestWorksHaveTheVerdictsOfTheGoldenTable(t *testing.T) {
	for name, agent := range map[string]adaptertest.Agent{
		"in a loop":                              inALoop(nil),
		"in a loop that streams":                 inALoop(func(anthropic.MessageStreamEventUnion) {}),
		"in a loop of a client that is observed": inALoop(nil, option.WithMiddleware(anthropicguard.Observe)),
		"observed":                               observed(anthropicguard.Observe, plain, ask),
		"observed, streamed":                     observed(anthropicguard.Observe, plain, askStreaming),
		"observed with the tools in the guard":   observed(anthropicguard.ObserveModel, wrapped, ask),
	} {
		t.Run(name, func(t *testing.T) { adaptertest.Works(t, agent) })
	}
}

func inALoop(onEvent func(anthropic.MessageStreamEventUnion), options ...option.RequestOption) adaptertest.Agent {
	return func(t *testing.T, ctx context.Context, steps [][]adaptertest.Call) {
		loop := anthropicguard.Loop{
			Client: scripted(t, steps, options...), Guard: guard.FromContext(ctx), Tools: adaptertest.ToolFuncs(), OnEvent: onEvent,
		}
		answer, err := loop.Run(ctx, question)
		if err != nil || answer.Content[0].Text != "I give up." {
			t.Errorf("the loop ended with %v, %v", answer, err)
		}
	}
}

// observed is an agent with a loop of its own, whose client has a middleware.
func observed(middleware option.Middleware, tools func(context.Context) map[string]guard.ToolFunc,
	ask func(*testing.T, context.Context, anthropic.Client, anthropic.MessageNewParams) *anthropic.Message,
) adaptertest.Agent {
	return func(t *testing.T, ctx context.Context, steps [][]adaptertest.Call) {
		client, request, tools := scripted(t, steps, option.WithMiddleware(middleware)), question, tools(ctx)
		for {
			answer := ask(t, ctx, client, request)
			var results []anthropic.ContentBlockParamUnion
			for _, block := range answer.Content {
				if block.Type != "tool_use" {
					return
				}
				result, err := tools[block.Name](ctx, block.Input)
				text := ""
				if err != nil {
					text = err.Error()
				} else if err := json.Unmarshal(result, &text); err != nil {
					t.Error(err)
				}
				results = append(results, anthropic.NewToolResultBlock(block.ID, text, err != nil))
			}
			request.Messages = append(request.Messages, answer.ToParam(), anthropic.NewUserMessage(results...))
		}
	}
}

func plain(context.Context) map[string]guard.ToolFunc { return adaptertest.ToolFuncs() }

func wrapped(ctx context.Context) map[string]guard.ToolFunc {
	tools := adaptertest.ToolFuncs()
	for name, tool := range tools {
		tools[name] = guard.FromContext(ctx).Wrap(name, tool)
	}
	return tools
}

func ask(t *testing.T, ctx context.Context, client anthropic.Client, request anthropic.MessageNewParams) *anthropic.Message {
	answer, err := client.Messages.New(ctx, request)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func askStreaming(t *testing.T, ctx context.Context, client anthropic.Client, request anthropic.MessageNewParams) *anthropic.Message {
	stream, answer := client.Messages.NewStreaming(ctx, request), new(anthropic.Message)
	for stream.Next() {
		if err := answer.Accumulate(stream.Current()); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	return answer
}

func TestALoopIsNudgedThenBlockedThenHalted(t *testing.T) {
	steps := make([][]adaptertest.Call, 50)
	for _, tool := range []string{"search", "fetch", "missing"} {
		t.Run(tool, func(t *testing.T) {
			for i := range steps {
				steps[i] = []adaptertest.Call{{Tool: tool, Args: json.RawMessage(`{"q":"a"}`)}}
			}
			var sent []string
			client := scripted(t, steps, option.WithMiddleware(func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
				sent = append(sent, lastMessage(t, r))
				return next(r)
			}))
			loop := anthropicguard.Loop{Client: client, Guard: adaptertest.NewGuard(t, "default", guard.Options{}), Tools: adaptertest.ToolFuncs()}
			_, err := loop.Run(t.Context(), question)
			var halt *guard.LoopError
			if !errors.As(err, &halt) {
				t.Fatalf("the loop ended with %v", err)
			}
			all := strings.Join(sent, "\n")
			nudged, blocked := strings.Index(all, "[loop-guard] You"), strings.Index(all, "loop_blocked")
			if nudged < 0 || blocked < nudged {
				t.Errorf("the model read:\n%s", all)
			}
		})
	}
}

func lastMessage(t *testing.T, r *http.Request) string {
	body, err := r.GetBody()
	if err != nil {
		t.Fatal(err)
	}
	var request struct{ Messages []json.RawMessage }
	if err := json.NewDecoder(body).Decode(&request); err != nil {
		t.Fatal(err)
	}
	return string(request.Messages[len(request.Messages)-1])
}

func TestALoopEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	tools := map[string]guard.ToolFunc{"wait": func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	steps := [][]adaptertest.Call{{{Tool: "wait", Args: json.RawMessage(`{}`)}, {Tool: "wait", Args: json.RawMessage(`{"n":2}`)}}}
	loop := anthropicguard.Loop{Client: scripted(t, steps), Guard: adaptertest.NewGuard(t, "default", guard.Options{}), Tools: tools}
	if _, err := loop.Run(ctx, question); !errors.Is(err, context.Canceled) {
		t.Errorf("the loop ended with %v", err)
	}
}

func TestWhatIsObserved(t *testing.T) {
	steps := [][]adaptertest.Call{
		{{Tool: "search", Args: json.RawMessage(`{"query":"a"}`)}},
		{{Tool: "fetch", Args: json.RawMessage(`{"url":"b"}`)}},
	}
	want := []string{
		"message user Find the lost letter.",
		"llm_call_started scripted",
		"llm_call_completed scripted",
		`tool_call_started search {"query":"a"}`,
		`tool_call_completed search "one letter, of 1911"`,
		"llm_call_started scripted",
		"llm_call_completed scripted",
		`tool_call_started fetch {"url":"b"}`,
		`tool_call_failed fetch "ConnectionError: the host does not answer"`,
		"llm_call_started scripted",
		"llm_call_completed scripted",
		"message assistant I give up.",
	}
	for name, ask := range map[string]func(*testing.T, context.Context, anthropic.Client, anthropic.MessageNewParams) *anthropic.Message{
		"at once": ask, "streamed": askStreaming,
	} {
		t.Run(name, func(t *testing.T) {
			g, lines := adaptertest.Record(t, nil)
			observed(anthropicguard.Observe, plain, ask)(t, guard.NewContext(t.Context(), g), steps)
			if diff := cmp.Diff(want, *lines); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// The API counts cached tokens beside the input.
func TestUsageIsRecordedByKind(t *testing.T) {
	var usage []unloop.Usage
	g := adaptertest.NewGuard(t, "default", guard.Options{Run: "r", Events: func(e *unloop.Event, _ guard.Decision) {
		if e.Usage != nil {
			usage = append(usage, *e.Usage)
		}
	}})
	ctx := guard.NewContext(t.Context(), g)
	inALoop(nil)(t, ctx, nil)
	inALoop(func(anthropic.MessageStreamEventUnion) {})(t, ctx, nil)
	want := unloop.Usage{Input: adaptertest.InputTokens, Output: adaptertest.OutputTokens, CachedInput: cached}
	if diff := cmp.Diff([]unloop.Usage{want, want}, usage); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAFailedRequestIsAFailedModelCallAndItsRetryRepeatsNoMessage(t *testing.T) {
	failing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After-Ms", "1")
		http.Error(w, `{"type":"error","error":{"type":"overloaded_error","message":"overloaded"}}`, http.StatusServiceUnavailable)
	}))
	defer failing.Close()
	g, lines := adaptertest.Record(t, nil)
	client := anthropic.NewClient(option.WithBaseURL(failing.URL), option.WithAPIKey("none"), option.WithMaxRetries(1), option.WithMiddleware(anthropicguard.Observe))
	if _, err := client.Messages.New(guard.NewContext(t.Context(), g), question); err == nil {
		t.Error("no error")
	}
	want := []string{
		"message user Find the lost letter.",
		"llm_call_started scripted",
		`llm_call_failed scripted "status 503 Service Unavailable"`,
		"llm_call_started scripted",
		`llm_call_failed scripted "status 503 Service Unavailable"`,
	}
	if diff := cmp.Diff(want, *lines); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestARequestWithoutAGuardIsNotRecorded(t *testing.T) {
	observed(anthropicguard.Observe, plain, ask)(t, t.Context(), [][]adaptertest.Call{{{Tool: "search", Args: json.RawMessage(`{}`)}}})
}

func TestAStreamThatIsClosedEarlyIsRecordedAsFarAsItWasRead(t *testing.T) {
	g, lines := adaptertest.Record(t, nil)
	client := scripted(t, nil, option.WithMiddleware(anthropicguard.Observe))
	stream := client.Messages.NewStreaming(guard.NewContext(t.Context(), g), question)
	stream.Next()
	if err := stream.Close(); err != nil {
		t.Fatal(err)
	}
	if got := (*lines)[len(*lines)-1]; !strings.HasPrefix(got, "message assistant I give") {
		t.Errorf("the last event is %s", got)
	}
}
