package openaiguard_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/adapters/openaiguard"
	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/internal/adaptertest"
)

var question = openai.ChatCompletionNewParams{
	Model:    "scripted",
	Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Find the lost letter.")},
}

func TestWorksHaveTheVerdictsOfTheGoldenTable(t *testing.T) {
	for name, agent := range map[string]adaptertest.Agent{
		"in a loop":                              inALoop(nil, nil),
		"in a loop that streams":                 inALoop(nil, func(openai.ChatCompletionChunk) {}),
		"in a loop of a client that is observed": inALoop([]option.RequestOption{option.WithMiddleware(openaiguard.Observe)}, nil),
		"observed with the tools in the guard":   observed(openaiguard.ObserveModel, wrapped, ask),
	} {
		t.Run(name, func(t *testing.T) { adaptertest.Works(t, agent) })
	}
	for name, agent := range map[string]adaptertest.Agent{
		"observed":               observed(openaiguard.Observe, plain, ask),
		"observed, streamed":     observed(openaiguard.Observe, plain, askStreaming),
		"observed, as responses": observedResponses,
	} {
		t.Run(name, func(t *testing.T) { adaptertest.WorksWithoutFailures(t, agent) })
	}
}

func inALoop(options []option.RequestOption, onChunk func(openai.ChatCompletionChunk)) adaptertest.Agent {
	return func(t *testing.T, ctx context.Context, steps [][]adaptertest.Call) {
		loop := openaiguard.Loop{
			Client: scripted(t, steps, options...), Guard: guard.FromContext(ctx), Tools: adaptertest.ToolFuncs(), OnChunk: onChunk,
		}
		answer, err := loop.Run(ctx, question)
		if err != nil || answer.Choices[0].Message.Content != "I give up." {
			t.Errorf("the loop ended with %v, %v", answer, err)
		}
	}
}

// observed is an agent with a loop of its own, whose client has a middleware.
func observed(middleware option.Middleware, tools func(context.Context) map[string]guard.ToolFunc,
	ask func(*testing.T, context.Context, openai.Client, openai.ChatCompletionNewParams) openai.ChatCompletionMessage,
) adaptertest.Agent {
	return func(t *testing.T, ctx context.Context, steps [][]adaptertest.Call) {
		client, request, tools := scripted(t, steps, option.WithMiddleware(middleware)), question, tools(ctx)
		for {
			message := ask(t, ctx, client, request)
			if len(message.ToolCalls) == 0 {
				return
			}
			request.Messages = append(request.Messages, message.ToParam())
			for _, c := range message.ToolCalls {
				result, err := tools[c.Function.Name](ctx, json.RawMessage(c.Function.Arguments))
				request.Messages = append(request.Messages, openai.ToolMessage(said(result, err), c.ID))
			}
		}
	}
}

func said(result json.RawMessage, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	var text string
	_ = json.Unmarshal(result, &text)
	return text
}

func plain(context.Context) map[string]guard.ToolFunc { return adaptertest.ToolFuncs() }

func wrapped(ctx context.Context) map[string]guard.ToolFunc {
	tools := adaptertest.ToolFuncs()
	for name, tool := range tools {
		tools[name] = guard.FromContext(ctx).Wrap(name, tool)
	}
	return tools
}

func ask(t *testing.T, ctx context.Context, client openai.Client, request openai.ChatCompletionNewParams) openai.ChatCompletionMessage {
	answer, err := client.Chat.Completions.New(ctx, request)
	if err != nil {
		t.Fatal(err)
	}
	return answer.Choices[0].Message
}

func askStreaming(t *testing.T, ctx context.Context, client openai.Client, request openai.ChatCompletionNewParams) openai.ChatCompletionMessage {
	request.StreamOptions.IncludeUsage = openai.Bool(true)
	stream := client.Chat.Completions.NewStreaming(ctx, request)
	var answer openai.ChatCompletionAccumulator
	for stream.Next() {
		answer.AddChunk(stream.Current())
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	return answer.Choices[0].Message
}

func observedResponses(t *testing.T, ctx context.Context, steps [][]adaptertest.Call) {
	client := scripted(t, steps, option.WithMiddleware(openaiguard.Observe))
	request := responses.ResponseNewParams{Model: "scripted"}
	request.Input.OfString = openai.String("Find the lost letter.")
	for {
		answer, err := client.Responses.New(ctx, request)
		if err != nil {
			t.Fatal(err)
		}
		request.PreviousResponseID = openai.String(answer.ID)
		request.Input = responses.ResponseNewParamsInputUnion{}
		for _, item := range answer.Output {
			if item.Type == "function_call" {
				result, err := adaptertest.ToolFuncs()[item.Name](ctx, json.RawMessage(item.AsFunctionCall().Arguments))
				output := responses.ResponseInputItemParamOfFunctionCallOutput(said(result, err))
				output.OfFunctionCallOutput.CallID = openai.String(item.CallID)
				request.Input.OfInputItemList = append(request.Input.OfInputItemList, output)
			}
		}
		if request.Input.OfInputItemList == nil {
			return
		}
	}
}

// endless is a model that wants the same call for ever.
func endless(tool, args string) [][]adaptertest.Call {
	steps := make([][]adaptertest.Call, 50)
	for i := range steps {
		steps[i] = []adaptertest.Call{{Tool: tool, Args: json.RawMessage(args)}}
	}
	return steps
}

func TestALoopIsNudgedThenBlockedThenHalted(t *testing.T) {
	for _, tool := range []string{"search", "fetch", "missing"} {
		t.Run(tool, func(t *testing.T) {
			var sent []string
			client := scripted(t, endless(tool, `{"q":"a"}`), option.WithMiddleware(func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
				sent = append(sent, lastMessage(t, r))
				return next(r)
			}))
			loop := openaiguard.Loop{Client: client, Guard: adaptertest.NewGuard(t, "default", guard.Options{}), Tools: adaptertest.ToolFuncs()}
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
	var request struct{ Messages []struct{ Content string } }
	if err := json.NewDecoder(body).Decode(&request); err != nil {
		t.Fatal(err)
	}
	return request.Messages[len(request.Messages)-1].Content
}

func TestALoopEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	tools := map[string]guard.ToolFunc{"wait": func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	steps := [][]adaptertest.Call{{{Tool: "wait", Args: json.RawMessage(`{}`)}, {Tool: "wait", Args: json.RawMessage(`{"n":2}`)}}}
	loop := openaiguard.Loop{Client: scripted(t, steps), Guard: adaptertest.NewGuard(t, "default", guard.Options{}), Tools: tools}
	if _, err := loop.Run(ctx, question); !errors.Is(err, context.Canceled) {
		t.Errorf("the loop ended with %v", err)
	}
}

func TestWhatIsObserved(t *testing.T) {
	g, lines := adaptertest.Record(t, nil)
	steps := [][]adaptertest.Call{{{Tool: "search", Args: json.RawMessage(`{"query":"a"}`)}}}
	observed(openaiguard.Observe, plain, ask)(t, guard.NewContext(t.Context(), g), steps)
	want := []string{
		"message user Find the lost letter.",
		"llm_call_started scripted",
		"llm_call_completed scripted",
		`tool_call_started search {"query":"a"}`,
		`tool_call_completed search "one letter, of 1911"`,
		"llm_call_started scripted",
		"llm_call_completed scripted",
		"message assistant I give up.",
	}
	if diff := cmp.Diff(want, *lines); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestUsageIsRecordedByKind(t *testing.T) {
	var usage []unloop.Usage
	g := adaptertest.NewGuard(t, "default", guard.Options{Run: "r", Events: func(e *unloop.Event, _ guard.Decision) {
		if e.Usage != nil {
			usage = append(usage, *e.Usage)
		}
	}})
	ctx := guard.NewContext(t.Context(), g)
	inALoop(nil, nil)(t, ctx, nil)
	inALoop(nil, func(openai.ChatCompletionChunk) {})(t, ctx, nil)
	observedResponses(t, ctx, nil)
	want := unloop.Usage{Input: adaptertest.InputTokens, Output: adaptertest.OutputTokens, CachedInput: 4}
	if diff := cmp.Diff([]unloop.Usage{want, want, want}, usage); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAFailedRequestIsAFailedModelCallAndItsRetryRepeatsNoMessage(t *testing.T) {
	failing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After-Ms", "1")
		http.Error(w, `{"error":{"message":"overloaded"}}`, http.StatusServiceUnavailable)
	}))
	defer failing.Close()
	g, lines := adaptertest.Record(t, nil)
	client := openai.NewClient(option.WithBaseURL(failing.URL), option.WithAPIKey("none"), option.WithMaxRetries(1), option.WithMiddleware(openaiguard.Observe))
	if _, err := client.Chat.Completions.New(guard.NewContext(t.Context(), g), question); err == nil {
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

// An answer that cannot be read, and a request without a guard, go through.
func TestObservingFailsNoRequest(t *testing.T) {
	strange := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(`{"id":"c","choices":7,"model":"m"}`))
	}))
	defer strange.Close()
	client := openai.NewClient(option.WithBaseURL(strange.URL), option.WithAPIKey("none"), option.WithMiddleware(openaiguard.Observe))
	g, lines := adaptertest.Record(t, nil)
	_, unguarded := client.Chat.Completions.New(t.Context(), question)
	_, guarded := client.Chat.Completions.New(guard.NewContext(t.Context(), g), question)
	if (unguarded == nil) != (guarded == nil) {
		t.Errorf("without a guard %v, with one %v", unguarded, guarded)
	}
	if diff := cmp.Diff([]string{"message user Find the lost letter.", "llm_call_started scripted", "llm_call_completed m"}, *lines); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAStreamThatIsClosedEarlyIsRecordedAsFarAsItWasRead(t *testing.T) {
	g, lines := adaptertest.Record(t, nil)
	client := scripted(t, nil, option.WithMiddleware(openaiguard.Observe))
	stream := client.Chat.Completions.NewStreaming(guard.NewContext(t.Context(), g), question)
	stream.Next()
	if err := stream.Close(); err != nil {
		t.Fatal(err)
	}
	if got := (*lines)[len(*lines)-1]; !strings.HasPrefix(got, "message assistant I give") {
		t.Errorf("the last event is %s", got)
	}
}
