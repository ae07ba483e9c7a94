package proxy

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	sdkresponses "github.com/openai/openai-go/v3/responses"
	"github.com/unloop-ai/unloop/internal/nettest"
	"pgregory.net/rapid"

	sdk "github.com/anthropics/anthropic-sdk-go"
	sdkoption "github.com/anthropics/anthropic-sdk-go/option"
)

// documentedEvents are what the streams of the APIs can contain, as their documentation lists it. The fixtures contain each.
var documentedEvents = map[string]string{
	"chat": `"role":"assistant" "content": "refusal": "reasoning_content": "reasoning": "tool_calls": "arguments": "finish_reason":"tool_calls"
		"finish_reason":"content_filter" "choices":[] "usage":{ "error":{ [DONE]`,
	"responses": `response.created response.queued response.in_progress response.output_item.added response.output_item.done
		response.content_part.added response.content_part.done response.output_text.delta response.output_text.done
		response.output_text.annotation.added response.refusal.delta response.refusal.done response.function_call_arguments.delta
		response.function_call_arguments.done response.custom_tool_call_input.delta response.custom_tool_call_input.done
		response.reasoning_summary_part.added response.reasoning_summary_part.done response.reasoning_summary_text.delta
		response.reasoning_summary_text.done response.reasoning_text.delta response.reasoning_text.done response.web_search_call.in_progress
		response.web_search_call.searching response.web_search_call.completed response.file_search_call.in_progress
		response.file_search_call.searching response.file_search_call.completed response.code_interpreter_call.in_progress
		response.code_interpreter_call.interpreting response.code_interpreter_call.completed response.code_interpreter_call_code.delta
		response.code_interpreter_call_code.done response.image_generation_call.in_progress response.image_generation_call.generating
		response.image_generation_call.partial_image response.image_generation_call.completed response.mcp_list_tools.in_progress
		response.mcp_list_tools.completed response.mcp_list_tools.failed response.mcp_call.in_progress response.mcp_call.completed
		response.mcp_call.failed response.mcp_call_arguments.delta response.mcp_call_arguments.done response.completed
		response.incomplete response.failed error`,
	"anthropic": `message_start ping content_block_start text_delta input_json_delta thinking_delta signature_delta citations_delta redacted_thinking
		tool_use server_tool_use web_search_tool_result content_block_stop message_delta message_stop error`,
	"gemini": `"text": "thought": "functionCall": "thoughtSignature": "executableCode": "codeExecutionResult": "finishReason": "usageMetadata":
		"promptFeedback": "error":`,
}

// fixtures returns the streams of an API.
func fixtures(t testing.TB, api string) (all [][]byte) {
	t.Helper()
	files, err := filepath.Glob("testdata/" + api + "*.sse")
	if err != nil || len(files) < 2 {
		t.Fatalf("the fixtures of %s are %v, %v", api, files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data)
	}
	return all
}

func TestTheFixturesContainEachDocumentedEvent(t *testing.T) {
	for api, events := range documentedEvents {
		all := strings.ReplaceAll(string(bytes.Join(fixtures(t, api), nil)), `": `, `":`)
		for event := range strings.FieldsSeq(events) {
			if strings.Trim(event, "abcdefghijklmnopqrstuvwxyz_.") == "" {
				event = `"type":"` + event + `"`
			}
			if !strings.Contains(all, event) {
				t.Errorf("no fixture of %s contains %s", api, event)
			}
		}
	}
}

// TestStreamsOfALoopingAgentPassUnchangedWhereverTheChunksEnd holds that a stream in which no call continues the loop is not changed, though
// its calls are judged and its text is watched.
func TestStreamsOfALoopingAgentPassUnchangedWhereverTheChunksEnd(t *testing.T) {
	for name := range severalCalls {
		streams := fixtures(t, name)
		_, _, p := askWith(t, name, Guard, "ls src")
		key := p.conversations.kept.Keys()[0]
		e, _ := p.conversations.kept.Peek(key)
		v := verdict{kept: key, run: e.conversation.run, sequence: e.conversation.sequence, request: &request{}}
		v.request.members.Unstored = true
		apis := map[string]api{"chat": chat{}, "responses": responses{}, "anthropic": anthropic{}, "gemini": gemini{stream: true, events: true}}
		if p.conversations.try(apis[name].(withholder), v) == nil {
			t.Fatalf("the calls of %s are not judged", name)
		}
		rapid.Check(t, func(t *rapid.T) {
			want := rapid.SampledFrom(streams).Draw(t, "stream")
			sizes := rapid.SliceOfN(rapid.IntRange(1, 400), 1, 8).Draw(t, "sizes")
			r, err := http.NewRequestWithContext(context.WithValue(context.Background(), judgedKey{}, &judged{api: apis[name], verdict: v}), http.MethodPost, "/", nil)
			if err != nil {
				t.Fatal(err)
			}
			res := &http.Response{
				StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, ContentLength: -1, Request: r,
				Body: io.NopCloser(nettest.NewChunks(string(want), sizes...)),
			}
			if err := p.answered(res); err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(res.Body)
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%s became %s, %v", want, got, err)
			}
		})
	}
}

// streamed are functions that read a stream with an official client for Go, and return its events and its error.
var streamed = map[string]func(base string) ([]string, error){
	"chat": func(base string) (all []string, err error) {
		client := openai.NewClient(option.WithBaseURL(base+"/openai/v1"), option.WithAPIKey("none"))
		events := client.Chat.Completions.NewStreaming(context.Background(), openai.ChatCompletionNewParams{Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("go")}})
		for events.Next() {
			all = append(all, events.Current().RawJSON())
		}
		return all, events.Err()
	},
	"responses": func(base string) (all []string, err error) {
		client := openai.NewClient(option.WithBaseURL(base+"/openai/v1"), option.WithAPIKey("none"))
		events := client.Responses.NewStreaming(context.Background(), sdkresponses.ResponseNewParams{Model: "m", Input: sdkresponses.ResponseNewParamsInputUnion{OfString: openai.String("go")}})
		for events.Next() {
			all = append(all, events.Current().RawJSON())
		}
		return all, events.Err()
	},
	"anthropic": func(base string) (all []string, err error) {
		client := sdk.NewClient(sdkoption.WithBaseURL(base+"/anthropic"), sdkoption.WithAPIKey("none"))
		events := client.Messages.NewStreaming(context.Background(), sdk.MessageNewParams{Model: "m", MaxTokens: 9, Messages: []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock("go"))}})
		for events.Next() {
			all = append(all, events.Current().RawJSON())
		}
		return all, events.Err()
	},
}

func TestAClientForGoReadsTheSameStreamWithTheProxyAndWithout(t *testing.T) {
	for name, read := range streamed {
		for _, stream := range fixtures(t, name) {
			u := newUpstream(t)
			u.answer = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = w.Write(stream)
			}
			direct := http.NewServeMux()
			direct.Handle("/openai/", http.StripPrefix("/openai", u.Config.Handler))
			direct.Handle("/anthropic/", http.StripPrefix("/anthropic", u.Config.Handler))
			without := httptest.NewServer(direct)
			t.Cleanup(without.Close)
			s, p := start(t, u, nil)
			want, wantErr := read(without.URL)
			got, err := read(s.URL)
			if diff := cmp.Diff(want, got); diff != "" || (err == nil) != (wantErr == nil) || len(want)+len(got) == 0 && err == nil {
				t.Errorf("%s: with the proxy %v, without %v (-without +with):\n%s", name, err, wantErr, diff)
			}
			if p.Stats().Judged != 1 {
				t.Errorf("%s: stats are %+v", name, p.Stats())
			}
		}
	}
}
