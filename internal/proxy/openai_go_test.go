package proxy

import (
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// alwaysTheSameCall answers as the Chat Completions API does.
func alwaysTheSameCall(asked *atomic.Int64, streamed bool) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		n := asked.Add(1)
		call := map[string]any{"id": fmt.Sprint("call_", n), "type": "function", "function": map[string]string{"name": "bash", "arguments": `{"command":"make"}`}}
		message := map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{call}}
		if !streamed {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(encode(map[string]any{"id": "c", "object": "chat.completion", "model": "m", "choices": []any{map[string]any{"index": 0, "finish_reason": "tool_calls", "message": message}}}))
			return
		}
		call["index"] = 0
		var s stream
		s.data(chatChunk{ID: "c", Object: "chat.completion.chunk", Model: "m", Choices: []chatChoice{{Delta: message}}})
		s.data(chatChunk{ID: "c", Object: "chat.completion.chunk", Model: "m", Choices: []chatChoice{{Delta: map[string]any{}, Finish: "tool_calls"}}})
		s.raw("data: [DONE]\n\n")
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(s.b.Bytes())
	}
}

// openAIAgent plays an agent with OpenAI's client for Go until the model says something or a call fails.
func openAIAgent(t *testing.T, base string, streamed bool) (text string, err error) {
	t.Helper()
	client := openai.NewClient(option.WithBaseURL(base+"/openai/v1"), option.WithAPIKey("none"))
	params := openai.ChatCompletionNewParams{Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("fix the build")}}
	for range 60 {
		var message openai.ChatCompletionMessage
		if streamed {
			whole := openai.ChatCompletionAccumulator{}
			chunks := client.Chat.Completions.NewStreaming(t.Context(), params)
			for chunks.Next() {
				whole.AddChunk(chunks.Current())
			}
			if err := chunks.Err(); err != nil {
				return "", err
			}
			message = whole.Choices[0].Message
		} else {
			answer, err := client.Chat.Completions.New(t.Context(), params)
			if err != nil {
				return "", err
			}
			message = answer.Choices[0].Message
		}
		if len(message.ToolCalls) == 0 {
			return message.Content, nil
		}
		params.Messages = append(params.Messages, message.ToParam(), openai.ToolMessage("make: *** no rule to make target all", message.ToolCalls[0].ID))
	}
	return "", errors.New("the agent never ended")
}
