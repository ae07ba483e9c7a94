package openaiguard_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/unloop-ai/unloop/internal/adaptertest"
)

type object = map[string]any

// scripted starts a server with OpenAI's API, whose model wants the calls of one step after another and then gives up. It returns a
// client of the server.
func scripted(t *testing.T, steps [][]adaptertest.Call, options ...option.RequestOption) openai.Client {
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
		var events []object
		answer := response(n, step)
		if strings.HasSuffix(r.URL.Path, "/chat/completions") {
			answer, events = completion(n, step), chunks(n, step)
		} else {
			events = []object{
				{"type": "response.created", "response": object{"id": "r", "model": "scripted", "output": []any{}}},
				{"type": "response.completed", "response": answer},
			}
		}
		if !request.Stream {
			w.Header().Set("Content-Type", "application/json")
			writeJSON(t, w, answer)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, event := range events {
			fmt.Fprint(w, "data: ")
			writeJSON(t, w, event)
			fmt.Fprint(w, "\n")
		}
		fmt.Fprint(w, "data: [DONE]\n\n")
	}))
	t.Cleanup(server.Close)
	return openai.NewClient(append(options, option.WithBaseURL(server.URL), option.WithAPIKey("none"), option.WithMaxRetries(0))...)
}

func writeJSON(t *testing.T, w http.ResponseWriter, value any) {
	if err := json.NewEncoder(w).Encode(value); err != nil {
		t.Error(err)
	}
}

var chatUsage = object{
	"prompt_tokens": adaptertest.InputTokens, "completion_tokens": adaptertest.OutputTokens,
	"total_tokens": adaptertest.InputTokens + adaptertest.OutputTokens, "prompt_tokens_details": object{"cached_tokens": 4},
}

// completion is a chat completion that wants the calls of a step.
func completion(n int, step []adaptertest.Call) object {
	message := object{"role": "assistant", "content": "I give up."}
	if len(step) > 0 {
		message = object{"role": "assistant", "content": nil, "tool_calls": wanted(n, step, false)}
	}
	return object{
		"id": "c", "object": "chat.completion", "model": "scripted", "usage": chatUsage,
		"choices": []any{object{"index": 0, "finish_reason": "stop", "message": message}},
	}
}

// chunks is the same as a stream.
func chunks(n int, step []adaptertest.Call) []object {
	chunk := func(choices ...any) object {
		return object{"id": "c", "object": "chat.completion.chunk", "model": "scripted", "choices": choices}
	}
	deltas := []object{{"role": "assistant", "content": "I give "}, {"content": "up."}}
	if len(step) > 0 {
		deltas = []object{{"role": "assistant", "tool_calls": wanted(n, step, true)}}
	}
	var all []object
	for _, delta := range deltas {
		all = append(all, chunk(object{"index": 0, "delta": delta}))
	}
	last := chunk()
	last["choices"], last["usage"] = []any{}, chatUsage
	return append(all, chunk(object{"index": 0, "delta": object{}, "finish_reason": "stop"}), last)
}

func wanted(n int, step []adaptertest.Call, indexed bool) []object {
	var calls []object
	for i, c := range step {
		call := object{"id": fmt.Sprintf("call_%d_%d", n, i), "type": "function", "function": object{"name": c.Tool, "arguments": string(c.Args)}}
		if indexed {
			call["index"] = i
		}
		calls = append(calls, call)
	}
	return calls
}

// response is a response that wants the calls of a step.
func response(n int, step []adaptertest.Call) object {
	var output []object
	for i, c := range step {
		output = append(output, object{
			"type": "function_call", "id": fmt.Sprintf("f_%d_%d", n, i), "call_id": fmt.Sprintf("call_%d_%d", n, i), "name": c.Tool, "arguments": string(c.Args),
		})
	}
	if len(step) == 0 {
		text := object{"type": "output_text", "text": "I give up."}
		output = append(output, object{"type": "message", "id": "m", "role": "assistant", "content": []any{text}})
	}
	return object{
		"id": fmt.Sprintf("r%d", n), "object": "response", "status": "completed", "model": "scripted", "output": output,
		"usage": object{
			"input_tokens": adaptertest.InputTokens, "output_tokens": adaptertest.OutputTokens,
			"total_tokens": adaptertest.InputTokens + adaptertest.OutputTokens, "input_tokens_details": object{"cached_tokens": 4},
		},
	}
}
