// Package mcpproxy is a proxy in front of an MCP server. It passes all messages through unchanged and judges the tool calls
// among them: it answers a blocked call in the server's place, and appends nudges to results. It precedes nothing: its guards
// fold the calls.
package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/guard"
)

// maxOpen is the greatest number of calls whose results are awaited. A call over it passes without being judged.
const maxOpen = 65536

// Session judges the tool calls of one client. It is safe for concurrent use.
type Session struct {
	guard  *guard.Guard
	shadow bool // say nothing to the agent

	mu    sync.Mutex
	open  map[any]openCall            // calls that the server has not answered, by request id
	lists map[any]bool                // requests for the list of tools, by request id
	hints map[string]unloop.ToolHints // annotations of the tools
}

// openCall is a call that runs.
type openCall struct {
	call  guard.Call
	begun time.Time
}

// NewSession returns a session whose calls g judges. In observe mode the agent reads nothing of it.
func NewSession(g *guard.Guard, observe bool) *Session {
	return &Session{
		guard: g, shadow: observe, open: make(map[any]openCall), lists: make(map[any]bool), hints: make(map[string]unloop.ToolHints),
	}
}

// callParams are the parameters of tools/call that are read.
type callParams struct {
	Name      string         `json:"name"`
	Arguments jsontext.Value `json:"arguments"`
	// A call with one of these continues an earlier one: the client answers what the server asked.
	InputResponses jsontext.Value `json:"inputResponses"`
	RequestState   jsontext.Value `json:"requestState"`
}

// Request judges a request of the client. If it returns a response, the request must not reach the server, and the client gets
// the response.
func (s *Session) Request(ctx context.Context, r *jsonrpc.Request) *jsonrpc.Response {
	if !r.ID.IsValid() {
		return nil // a notification
	}
	switch r.Method {
	case "tools/list":
		s.mu.Lock()
		if len(s.lists) < maxOpen {
			s.lists[r.ID.Raw()] = true
		}
		s.mu.Unlock()
	case "tools/call":
		return s.call(ctx, r)
	}
	return nil
}

// call judges a tool call.
func (s *Session) call(ctx context.Context, r *jsonrpc.Request) *jsonrpc.Response {
	var p callParams
	if err := jsonv2.Unmarshal(r.Params, &p, lenient); err != nil || p.Name == "" {
		return nil // the server says what is wrong with it
	}
	if isSet(p.InputResponses) || isSet(p.RequestState) {
		return nil
	}
	text, err := json.Marshal(r.ID.Raw())
	if err != nil {
		return nil
	}
	c := guard.Call{ID: string(text), Tool: p.Name, Args: json.RawMessage(p.Arguments), Hints: s.hintsOf(p.Name)}
	s.mu.Lock()
	full := len(s.open) >= maxOpen
	s.mu.Unlock()
	if full {
		return nil
	}
	d := s.guard.Before(ctx, c)
	if d.Stops() && !s.shadow {
		return blocked(r.ID, d.Nudge)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[r.ID.Raw()] = openCall{c, time.Now()}
	return nil
}

// isSet reports whether a member is there and not null.
func isSet(v jsontext.Value) bool { return v.Kind() != 0 && v.Kind() != 'n' }

// hintsOf returns the annotations of a tool, or nil.
func (s *Session) hintsOf(tool string) *unloop.ToolHints {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h, ok := s.hints[tool]; ok {
		return &h
	}
	return nil
}

// blocked returns the answer to a call that must not run: an error of the tool, since clients may not show a protocol error to
// the model.
func blocked(id jsonrpc.ID, text string) *jsonrpc.Response {
	result, err := json.Marshal(map[string]any{
		"resultType": "complete", "isError": true, "content": []any{map[string]string{"type": "text", "text": prefix + text}},
	})
	if err != nil {
		panic("mcpproxy: " + err.Error()) // strings always encode
	}
	return &jsonrpc.Response{ID: id, Result: result}
}

// prefix begins what the proxy says to the agent.
const prefix = "[unloop] "

// Response judges a response of the server, and returns the response for the client.
func (s *Session) Response(ctx context.Context, r *jsonrpc.Response) *jsonrpc.Response {
	if !r.ID.IsValid() {
		return r
	}
	id := r.ID.Raw()
	s.mu.Lock()
	open, ok := s.open[id]
	delete(s.open, id)
	list := s.lists[id]
	delete(s.lists, id)
	s.mu.Unlock()
	switch {
	case list:
		s.learn(r.Result)
	case ok:
		return s.result(ctx, open, r)
	}
	return r
}

// callResult is the result of a call, as far as it is read.
type callResult struct {
	Type       string         `json:"resultType"`
	Content    jsontext.Value `json:"content"`
	Structured jsontext.Value `json:"structuredContent"`
	IsError    bool           `json:"isError"`
	Task       jsontext.Value `json:"task"`
}

// result judges the result of a call.
func (s *Session) result(ctx context.Context, open openCall, r *jsonrpc.Response) *jsonrpc.Response {
	o := guard.Outcome{Latency: time.Since(open.begun)}
	var result callResult
	switch {
	case r.Error != nil:
		o.Err = r.Error
	case jsonv2.Unmarshal(r.Result, &result, lenient) != nil:
		o.Result = r.Result
	case result.Type == "input_required", result.Type == "task", isSet(result.Task):
		// The call goes on: what it brings is in a later answer, which is not joined to it.
	case result.IsError:
		o.Err = errors.New(contentText(result.Content))
	default:
		o.Result = output(result)
	}
	d := s.guard.After(ctx, open.call, o)
	if d.Nudge == "" || s.shadow || r.Error != nil || result.Content.Kind() != '[' {
		return r
	}
	nudged, err := appendText(r.Result, prefix+d.Nudge)
	if err != nil {
		return r
	}
	return &jsonrpc.Response{ID: r.ID, Result: nudged}
}

// learn keeps the annotations of the tools in a list.
func (s *Session) learn(list json.RawMessage) {
	var l struct {
		Tools []struct {
			Name        string            `json:"name"`
			Annotations *unloop.ToolHints `json:"annotations"`
		} `json:"tools"`
	}
	if jsonv2.Unmarshal(list, &l, lenient) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range l.Tools {
		if t.Annotations != nil && len(s.hints) < maxOpen {
			s.hints[t.Name] = *t.Annotations
		}
	}
}
