package proxy

import (
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

// alwaysTheSameToolUse answers as the Messages API does.
func alwaysTheSameToolUse(asked *atomic.Int64, streamed bool) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		n := asked.Add(1)
		usage := map[string]any{"input_tokens": 1, "output_tokens": 1}
		block := map[string]any{"type": "tool_use", "id": fmt.Sprint("toolu_", n), "name": "bash", "input": map[string]any{"command": "make"}}
		message := map[string]any{"id": fmt.Sprint("m", n), "type": "message", "role": "assistant", "model": "m", "content": []any{block}, "stop_reason": "tool_use", "usage": usage}
		if !streamed {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(encode(message))
			return
		}
		message["content"], message["stop_reason"], block["input"] = []any{}, nil, map[string]any{}
		var s stream
		for _, e := range []map[string]any{
			{"type": "message_start", "message": message},
			{"type": "content_block_start", "index": 0, "content_block": block},
			{"type": "content_block_delta", "index": 0, "delta": map[string]any{"type": "input_json_delta", "partial_json": `{"command":"make"}`}},
			{"type": "content_block_stop", "index": 0},
			{"type": "message_delta", "delta": map[string]any{"stop_reason": "tool_use", "stop_sequence": nil}, "usage": usage},
			{"type": "message_stop"},
		} {
			s.event(e["type"].(string), e)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(s.b.Bytes())
	}
}

// anthropicAgent plays an agent with Anthropic's client for Go until the model makes no call or a request fails.
func anthropicAgent(t *testing.T, base string, streamed bool) (text string, err error) {
	t.Helper()
	client := sdk.NewClient(option.WithBaseURL(base+"/anthropic"), option.WithAPIKey("none"))
	params := sdk.MessageNewParams{
		Model: "m", MaxTokens: 100, Messages: []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock("fix the build"))},
	}
	for range 60 {
		message := &sdk.Message{}
		if streamed {
			events := client.Messages.NewStreaming(t.Context(), params)
			for events.Next() {
				if err := message.Accumulate(events.Current()); err != nil {
					return "", err
				}
			}
			err = events.Err()
		} else {
			message, err = client.Messages.New(t.Context(), params)
		}
		if err != nil {
			return "", err
		}
		last := message.Content[len(message.Content)-1]
		if last.Type == "text" {
			return last.Text, nil
		}
		result := sdk.NewToolResultBlock(last.ID, "make: *** no rule to make target all", true)
		params.Messages = append(params.Messages, message.ToParam(), sdk.NewUserMessage(result))
	}
	return "", errors.New("the agent never ended")
}
