package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	sdkoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	oairesponses "github.com/openai/openai-go/v3/responses"
)

// goClients are the official clients for Go: each with an upstream that answers with the same call again and again, an agent that plays
// along, the error with which its API says that it is busy, and the status of an error that the client returns.
var goClients = map[string]struct {
	upstream func(asked *atomic.Int64, streamed bool) http.HandlerFunc
	agent    func(t *testing.T, base string, streamed bool) (text string, err error)
	busy     int
	failure  map[string]any
	status   func(error) int
}{
	"Anthropic": {
		alwaysTheSameToolUse, anthropicAgent, 529,
		map[string]any{"type": "error", "error": map[string]string{"type": "overloaded_error", "message": "come again"}},
		func(err error) int {
			var failure *sdk.Error
			if !errors.As(err, &failure) {
				return 0
			}
			return failure.StatusCode
		},
	},
	"OpenAI": {
		alwaysTheSameCall, openAIAgent, http.StatusServiceUnavailable,
		map[string]any{"error": map[string]string{"message": "come again"}},
		func(err error) int {
			var failure *openai.Error
			if !errors.As(err, &failure) {
				return 0
			}
			return failure.StatusCode
		},
	},
}

func TestAnAgentWithAClientForGoEndsWithTheAnswerOfTheHalt(t *testing.T) {
	for name, client := range goClients {
		for _, streamed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, streamed %v", name, streamed), func(t *testing.T) {
				u := newUpstream(t)
				var asked atomic.Int64
				u.answer = client.upstream(&asked, streamed)
				s, p := start(t, u, nil)
				text, err := client.agent(t, s.URL, streamed)
				if err != nil || !strings.HasPrefix(text, haltPrefix) || p.Stats().Halted != 1 || p.Stats().Nudged == 0 {
					t.Errorf("the agent ended with %q, %v; %+v", text, err, p.Stats())
				}
			})
		}
	}
}

func TestAClientForGoDoesNotRetryAHaltAndRetriesAnErrorOfTheUpstream(t *testing.T) {
	for name, client := range goClients {
		t.Run(name, func(t *testing.T) {
			u := newUpstream(t)
			var asked atomic.Int64
			u.answer = client.upstream(&asked, false)
			s, p := start(t, u, func(o *Options) { o.OnHalt = HaltError })
			_, err := client.agent(t, s.URL, false)
			if client.status(err) != http.StatusBadRequest || p.Stats().Halted != 1 {
				t.Errorf("the agent ended with %v; %+v", err, p.Stats())
			}
			asked.Store(0)
			u.answer = func(w http.ResponseWriter, _ *http.Request) {
				asked.Add(1)
				w.Header().Set("Retry-After-Ms", "1")
				w.WriteHeader(client.busy)
				_, _ = w.Write(encode(client.failure))
			}
			if _, err := client.agent(t, s.URL, false); client.status(err) != client.busy || asked.Load() != 3 {
				t.Errorf("after %d requests: %v", asked.Load(), err)
			}
		})
	}
}

// streamOf returns a stream of an API that says a text in pieces, as its clients need it.
var streamOf = map[string]func(text string) string{
	"Anthropic": func(text string) string {
		var s stream
		s.event("message_start", map[string]any{"type": "message_start", "message": map[string]any{"id": "m", "type": "message", "role": "assistant", "content": []any{}}})
		return s.b.String() + speech["anthropic"](pieces(text))
	},
	"OpenAI": func(text string) string { return speech["chat"](pieces(text)) },
}

func TestAClientForGoReadsAStreamThatRepeatsItselfToAnEndInOrder(t *testing.T) {
	for name, client := range goClients {
		t.Run(name, func(t *testing.T) {
			u := newUpstream(t)
			u.answer = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				w.(http.Flusher).Flush()
				_, _ = io.WriteString(w, streamOf[name](strings.Repeat("Let me check the file once more. ", 400)))
			}
			s, p := start(t, u, nil)
			text, err := client.agent(t, s.URL, true)
			if err != nil || !strings.HasSuffix(text, "[unloop] The answer was stopped here: its last 33 bytes repeat.") || p.Stats().Ended != 1 {
				t.Errorf("the agent ended with %d bytes, %q, %v", len(text), text[max(0, len(text)-100):], err)
			}
		})
	}
}

func TestAClientForGoReadsAnAnswerWithoutTheCallThatContinuesTheLoop(t *testing.T) {
	t.Run("OpenAI", func(t *testing.T) {
		_, got, _ := askWith(t, "chat", Guard, "ls src", "make")
		client := openai.NewClient(option.WithBaseURL(answering(t, "application/json", got)), option.WithAPIKey("none"))
		answer, err := client.Chat.Completions.New(t.Context(), openai.ChatCompletionNewParams{Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("go")}})
		if err != nil {
			t.Fatal(err)
		}
		if m := answer.Choices[0].Message; len(m.ToolCalls) != 1 || m.ToolCalls[0].ID != "new_0" || !strings.HasPrefix(m.Content, "[unloop] The call of bash was not made.") {
			t.Errorf("the message is %s", m.RawJSON())
		}
	})
	t.Run("OpenAI, streamed", func(t *testing.T) {
		read := reader(t, chat{})
		got, _ := read(t, streamedChunks("ls src", "make", "pwd"), []int{1 << 20})
		client := openai.NewClient(option.WithBaseURL(answering(t, "text/event-stream", got)), option.WithAPIKey("none"))
		chunks := client.Chat.Completions.NewStreaming(t.Context(), openai.ChatCompletionNewParams{Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("go")}})
		whole := openai.ChatCompletionAccumulator{}
		for chunks.Next() {
			if !whole.AddChunk(chunks.Current()) {
				t.Fatalf("the client cannot add %s", chunks.Current().RawJSON())
			}
		}
		m := whole.Choices[0].Message
		if len(m.ToolCalls) != 2 || m.ToolCalls[0].ID != "new_0" || m.ToolCalls[1].ID != "new_2" || m.ToolCalls[1].Function.Arguments != `{"command":"pwd"}` ||
			!strings.HasPrefix(m.Content, "on it\n\n[unloop] The call of bash was not made.") {
			t.Errorf("the message is %+v, %v", m, chunks.Err())
		}
	})
	t.Run("OpenAI's responses, streamed", func(t *testing.T) {
		read := reader(t, responses{})
		got, _ := read(t, streamedItems("", "ls src", "make", "pwd"), []int{1 << 20})
		client := openai.NewClient(option.WithBaseURL(answering(t, "text/event-stream", got)), option.WithAPIKey("none"))
		events := client.Responses.NewStreaming(t.Context(), oairesponses.ResponseNewParams{Model: "m"})
		var kinds []string
		for events.Next() {
			if e := events.Current(); e.Type == "response.completed" {
				for _, item := range e.Response.Output {
					kinds = append(kinds, item.Type+" "+item.CallID)
				}
				if text := e.Response.OutputText(); !strings.HasPrefix(text, "[unloop] The call of bash was not made.") {
					t.Errorf("the text is %q", text)
				}
			}
		}
		if diff := cmp.Diff([]string{"function_call new_0", "message ", "function_call new_2"}, kinds); diff != "" || events.Err() != nil {
			t.Error(diff, events.Err())
		}
	})
	t.Run("Anthropic, streamed", func(t *testing.T) {
		u := newUpstream(t)
		s, p := start(t, u, nil)
		u.answer = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, streamedCalls("pwd", "make"))
		}
		client := sdk.NewClient(sdkoption.WithBaseURL(s.URL+"/anthropic"), sdkoption.WithAPIKey("none"))
		params := sdk.MessageNewParams{Model: "m", MaxTokens: 100, Messages: []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock("fix the build"))}}
		for n := range 40 {
			message := &sdk.Message{}
			events := client.Messages.NewStreaming(t.Context(), params)
			for events.Next() {
				if err := message.Accumulate(events.Current()); err != nil {
					t.Fatal(err)
				}
			}
			if err := events.Err(); err != nil {
				t.Fatal(err)
			}
			if p.Stats().Blocked > 0 {
				if c := message.Content; len(c) != 2 || c[0].Type != "tool_use" || !strings.HasPrefix(c[1].Text, "[unloop] The call of bash was not made.") {
					t.Errorf("the message is %+v", c)
				}
				return
			}
			call := sdk.NewToolUseBlock(fmt.Sprint("toolu_", n), map[string]string{"command": "make"}, "bash")
			params.Messages = append(params.Messages, sdk.NewAssistantMessage(call), sdk.NewUserMessage(sdk.NewToolResultBlock(fmt.Sprint("toolu_", n), "make: *** no rule to make target all", true)))
		}
		t.Error("no call was blocked")
	})
}

// answering returns the address of a server that gives one answer.
func answering(t *testing.T, kind, answer string) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestAClientForGoThatCancelsEndsTheCallOfTheAPI(t *testing.T) {
	for name, first := range map[string]func(ctx context.Context, base string) bool{
		"OpenAI": func(ctx context.Context, base string) bool {
			client := openai.NewClient(option.WithBaseURL(base+"/openai/v1"), option.WithAPIKey("none"))
			return client.Chat.Completions.NewStreaming(ctx, openai.ChatCompletionNewParams{Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("go")}}).Next()
		},
		"Anthropic": func(ctx context.Context, base string) bool {
			client := sdk.NewClient(sdkoption.WithBaseURL(base+"/anthropic"), sdkoption.WithAPIKey("none"))
			return client.Messages.NewStreaming(ctx, sdk.MessageNewParams{Model: "m", MaxTokens: 9, Messages: []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock("go"))}}).Next()
		},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUpstream(t)
			canceled := make(chan struct{})
			u.answer = func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, streamOf[name]("one"))
				w.(http.Flusher).Flush()
				<-r.Context().Done()
				close(canceled)
			}
			s, _ := start(t, u, nil)
			ctx, cancel := context.WithCancel(t.Context())
			if !first(ctx, s.URL) {
				t.Error("no event reached the client")
			}
			cancel()
			<-canceled
		})
	}
}
