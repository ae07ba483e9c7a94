package anthropicguard_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/unloop-ai/unloop/internal/adaptertest"
)

type object = map[string]any

// scripted starts a server with the Messages API, whose model wants the calls of one step after another and then gives up. It returns a
// client of the server.
func scripted(t *testing.T, steps [][]adaptertest.Call, options ...option.RequestOption) anthropic.Client {
	t.Helper()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct{ Stream bool }
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			t.Error(err)
		}
		n := int(asked.Add(1))
		var step []adaptertest.Call
		if n <= len(steps) {
			step = steps[n-1]
		}
		answer := message(n, step)
		if !request.Stream {
			w.Header().Set("Content-Type", "application/json")
			writeJSON(t, w, answer)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, event := range events(answer) {
			fmt.Fprintf(w, "event: %s\ndata: ", event["type"])
			writeJSON(t, w, event)
			fmt.Fprint(w, "\n")
		}
	}))
	t.Cleanup(server.Close)
	return anthropic.NewClient(append(options, option.WithBaseURL(server.URL), option.WithAPIKey("none"), option.WithMaxRetries(0))...)
}

func writeJSON(t *testing.T, w http.ResponseWriter, value any) {
	if err := json.NewEncoder(w).Encode(value); err != nil {
		t.Error(err)
	}
}

// cached is the part of the input tokens that the API counts separately.
const cached = 4

// message is an answer that wants the calls of a step.
func message(n int, step []adaptertest.Call) object {
	content, reason := []object{{"type": "text", "text": "I give up."}}, "end_turn"
	if len(step) > 0 {
		content, reason = nil, "tool_use"
	}
	for i, c := range step {
		content = append(content, object{"type": "tool_use", "id": fmt.Sprintf("toolu_%d_%d", n, i), "name": c.Tool, "input": c.Args})
	}
	return object{
		"id": "m", "type": "message", "role": "assistant", "model": "scripted", "content": content, "stop_reason": reason,
		"usage": object{
			"input_tokens": adaptertest.InputTokens - cached, "cache_read_input_tokens": cached, "output_tokens": adaptertest.OutputTokens,
		},
	}
}

// events is the same message as a stream.
func events(message object) []object {
	content, usage := message["content"].([]object), message["usage"].(object)
	start := object{}
	for name, value := range message {
		start[name] = value
	}
	start["content"], start["stop_reason"] = []any{}, nil
	start["usage"] = object{"input_tokens": usage["input_tokens"], "cache_read_input_tokens": cached, "output_tokens": 1}
	all := []object{{"type": "message_start", "message": start}}
	for i, block := range content {
		begin, delta := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": block["text"]}
		if block["type"] == "tool_use" {
			begin = object{"type": "tool_use", "id": block["id"], "name": block["name"], "input": object{}}
			delta = object{"type": "input_json_delta", "partial_json": string(block["input"].(json.RawMessage))}
		}
		all = append(
			all,
			object{"type": "content_block_start", "index": i, "content_block": begin},
			object{"type": "content_block_delta", "index": i, "delta": delta},
			object{"type": "content_block_stop", "index": i},
		)
	}
	return append(
		all,
		object{"type": "message_delta", "delta": object{"stop_reason": message["stop_reason"]}, "usage": object{"output_tokens": usage["output_tokens"]}},
		object{"type": "message_stop"},
	)
}
