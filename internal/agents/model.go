package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// model is a scripted model over HTTP, in the four protocols of the agents. In a loop, it makes the same call again and again, up
// to 16 times; otherwise it makes five different ones. Then it ends the task.
type model struct {
	loop bool

	mu       sync.Mutex
	calls    int
	finished bool
	bodies   []string
}

const (
	loopCalls    = 16
	healthyCalls = 5
)

func (m *model) saw(text string) bool {
	quoted, _ := json.Marshal(text)
	inner := strings.Trim(string(quoted), `"`)
	for _, b := range m.bodies {
		if strings.Contains(b, inner) || strings.Contains(b, text) {
			return true
		}
	}
	return false
}

// next returns the next shell command, or "" when the work is done.
func (m *model) next(body string) (id, command string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bodies = append(m.bodies, body)
	m.calls++
	id = fmt.Sprintf("call_%d", m.calls)
	switch {
	case m.loop && m.calls <= loopCalls:
		return id, "echo 'make: no rule to make target all' ; false"
	case !m.loop && m.calls <= healthyCalls:
		return id, fmt.Sprintf("echo step %d ; seq %d %d", m.calls, 100*m.calls, 100*m.calls+7)
	}
	m.finished = true
	return id, ""
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	body := string(raw)
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/count_tokens"):
		fmt.Fprint(w, `{"input_tokens":10}`)
	case strings.HasSuffix(path, "/v1/messages"):
		m.anthropic(w, body)
	case strings.HasSuffix(path, "/responses") && r.Method == http.MethodPost:
		m.responses(w, body)
	case strings.HasSuffix(path, "/responses"):
		w.WriteHeader(http.StatusUpgradeRequired) // the agent asked for a WebSocket and then uses HTTP
	case strings.Contains(path, "enerateContent"):
		m.gemini(w, r, body)
	case strings.HasSuffix(path, "/chat/completions"):
		m.chat(w, body)
	case strings.HasSuffix(path, "/models"):
		fmt.Fprint(w, `{"object":"list","data":[],"models":[]}`)
	default:
		fmt.Fprint(w, `{}`)
	}
}

// sse writes events.
func sse(w http.ResponseWriter, events ...any) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		raw, _ := json.Marshal(e)
		if named, ok := e.(map[string]any); ok && named["type"] != nil {
			fmt.Fprintf(w, "event: %s\n", named["type"])
		}
		fmt.Fprintf(w, "data: %s\n\n", raw)
	}
}

type object = map[string]any

// side reports whether a request is not part of the agent's main task: it offers no tools.
func side(body string) bool {
	var r struct{ Tools []any }
	return json.Unmarshal([]byte(body), &r) != nil || len(r.Tools) == 0
}

func (m *model) anthropic(w http.ResponseWriter, body string) {
	id, command := "text", ""
	if !side(body) {
		id, command = m.next(body)
	}
	block, stop := object{"type": "text", "text": ""}, "end_turn"
	delta := object{"type": "text_delta", "text": "Done."}
	if command != "" {
		input, _ := json.Marshal(object{"command": command, "description": "build"})
		block, stop = object{"type": "tool_use", "id": "toolu_" + id, "name": "Bash", "input": object{}}, "tool_use"
		delta = object{"type": "input_json_delta", "partial_json": string(input)}
	}
	usage := object{"input_tokens": 10, "output_tokens": 5}
	sse(w, object{"type": "message_start", "message": object{
		"id": "msg_" + id, "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage,
	}},
		object{"type": "content_block_start", "index": 0, "content_block": block},
		object{"type": "content_block_delta", "index": 0, "delta": delta},
		object{"type": "content_block_stop", "index": 0},
		object{"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": object{"output_tokens": 5}},
		object{"type": "message_stop"})
}

// shellTool returns the name and the arguments of the tool for commands among those that a request of the Responses API offers.
func shellTool(body, command string) (string, string) {
	arguments := object{"cmd": command}
	name := "exec_command"
	switch {
	case strings.Contains(body, `"name":"exec_command"`):
	case strings.Contains(body, `"name":"shell_command"`):
		name, arguments = "shell_command", object{"command": command}
	default:
		name, arguments = "shell", object{"command": []string{"bash", "-lc", command}}
	}
	raw, _ := json.Marshal(arguments)
	return name, string(raw)
}

func (m *model) responses(w http.ResponseWriter, body string) {
	id, command := m.next(body)
	item := object{"type": "message", "role": "assistant", "id": "msg_" + id, "status": "completed", "content": []any{object{"type": "output_text", "text": "Done.", "annotations": []any{}}}}
	if command != "" {
		name, arguments := shellTool(body, command)
		item = object{"type": "function_call", "id": "fc_" + id, "call_id": id, "name": name, "arguments": arguments, "status": "completed"}
	}
	response := object{"id": "resp_" + id, "object": "response", "status": "in_progress", "output": []any{}}
	sse(w, object{"type": "response.created", "response": response},
		object{"type": "response.output_item.added", "output_index": 0, "item": item},
		object{"type": "response.output_item.done", "output_index": 0, "item": item},
		object{"type": "response.completed", "response": object{
			"id": "resp_" + id, "object": "response", "status": "completed", "output": []any{item},
			"usage": object{"input_tokens": 10, "output_tokens": 5, "total_tokens": 15, "input_tokens_details": object{"cached_tokens": 0}, "output_tokens_details": object{"reasoning_tokens": 0}},
		}})
}

func (m *model) gemini(w http.ResponseWriter, r *http.Request, body string) {
	part := object{"text": "Done."}
	if !side(body) {
		if id, command := m.next(body); command != "" {
			part = object{"functionCall": object{"id": id, "name": "run_shell_command", "args": object{"command": command, "description": "build"}}}
		}
	}
	answer := object{
		"candidates":    []any{object{"content": object{"role": "model", "parts": []any{part}}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": object{"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
	}
	if r.URL.Query().Get("alt") == "sse" {
		sse(w, answer)
		return
	}
	_ = json.NewEncoder(w).Encode(answer)
}

func (m *model) chat(w http.ResponseWriter, body string) {
	delta, reason, id := object{"role": "assistant", "content": "Done."}, "stop", "text"
	if !side(body) {
		var command string
		if id, command = m.next(body); command != "" {
			arguments, _ := json.Marshal(object{"command": command, "description": "build"})
			call := object{"index": 0, "id": id, "type": "function", "function": object{"name": "bash", "arguments": string(arguments)}}
			delta, reason = object{"role": "assistant", "tool_calls": []any{call}}, "tool_calls"
		}
	}
	chunk := func(delta object, reason any) object {
		return object{"id": "c_" + id, "object": "chat.completion.chunk", "created": 1, "model": "mock", "choices": []any{object{"index": 0, "delta": delta, "finish_reason": reason}}}
	}
	sse(w, chunk(delta, nil), chunk(object{}, reason), object{
		"id": "c_" + id, "object": "chat.completion.chunk", "created": 1, "model": "mock", "choices": []any{},
		"usage": object{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
	})
	fmt.Fprint(w, "data: [DONE]\n\n")
}
