// Package mcpproxy is a proxy in front of an MCP server. It passes all messages through unchanged and judges the tool calls
// among them: it answers a blocked call in the server's place, and appends nudges to results. Each session folds its calls with a guard of
// its own.
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
	"github.com/unloop-ai/unloop/internal/mcplines"
	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/profile"
)

// Tools holds the annotations of a server's tools. It is safe for concurrent use.
type Tools struct {
	mu    sync.Mutex
	hints map[string]unloop.ToolHints // by the name of the tool
}

// newTools returns an empty list.
func newTools() *Tools { return &Tools{hints: make(map[string]unloop.ToolHints)} }

// Options are the options of a session.
type Options struct {
	Run    string              // the id of the run
	Tools  *Tools              // shared by the sessions of a server; nil for a list of the session's own
	Record func(*unloop.Event) // receives each event; must not block or keep it; nil for none

	// Controls calls take with the orders of people to the run, until stop is called; nil for no orders.
	Controls func(run string, take func(*unloop.Event)) (stop func())
}

// Session judges the tool calls of one client. It is safe for concurrent use.
type Session struct {
	guard *guard.Guard
	tools *Tools
	open  *requests // of a connection that carries all messages

	mu   sync.Mutex
	lost map[lostKey]openCall // calls whose connection to the server broke, by tool and arguments

	lostBytes int    // of lost
	owed      string // a text for the agent that no result could carry; "" for none
}

// NewSession returns a session whose calls are judged by p. In the shadow mode of p, the agent gets no text of it.
func NewSession(p *profile.Profile, o Options) *Session {
	if o.Tools == nil {
		o.Tools = newTools()
	}
	options := guard.Options{Run: o.Run, Controls: o.Controls}
	if o.Record != nil {
		options.Events = func(e *unloop.Event, d guard.Decision) {
			reported := *e
			reported.Metadata = report(d)
			o.Record(&reported)
		}
	}
	return &Session{guard: guard.New(p, options), tools: o.Tools, open: newRequests(), lost: make(map[lostKey]openCall)}
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
	return s.request(ctx, s.open, r)
}

// request judges a request, and keeps it in open until it is answered.
func (s *Session) request(ctx context.Context, open *requests, r *jsonrpc.Request) *jsonrpc.Response {
	switch {
	case r.Method == "notifications/cancelled":
		s.canceled(ctx, open, r.Params)
	case !r.ID.IsValid():
	case r.Method == "tools/list":
		open.mu.Lock()
		if len(open.lists) < maxOpen {
			open.lists[r.ID.Raw()] = true
		}
		open.mu.Unlock()
	case r.Method == "tools/call":
		return s.call(ctx, open, r)
	}
	return nil
}

// canceled records that the client gave up a call.
func (s *Session) canceled(ctx context.Context, open *requests, params json.RawMessage) {
	if id := mcplines.CanceledID(params); id != nil {
		if !open.cancelWaiting(id) {
			s.giveUp(ctx, open, id)
		}
	}
}

// errCanceled is the outcome of a call that the client gave up.
var errCanceled = errors.New("canceled by the client")

// giveUp records that the client does not await the result of a call any more.
func (s *Session) giveUp(ctx context.Context, open *requests, id any) {
	if c, ok := open.takeCall(id); ok {
		s.guard.After(ctx, c.call, guard.Outcome{Err: errCanceled, Latency: time.Since(c.begun)})
	}
}

// call judges a tool call. It waits while a person has paused the run.
func (s *Session) call(ctx context.Context, open *requests, r *jsonrpc.Request) *jsonrpc.Response {
	var p callParams
	if err := jsonv2.Unmarshal(r.Params, &p, lenient); err != nil || p.Name == "" {
		return nil // the server refuses it with a reason
	}
	if isSet(p.InputResponses) || isSet(p.RequestState) {
		return nil
	}
	text, err := json.Marshal(r.ID.Raw())
	if err != nil {
		return nil
	}
	id := r.ID.Raw()
	if lost, ok := s.takeLost(p.Name, p.Arguments); ok {
		open.add(id, lost)
		return nil
	}
	c := openCall{begun: time.Now(), call: guard.Call{
		ID: string(text), Tool: p.Name, Args: json.RawMessage(p.Arguments), Hints: s.tools.of(p.Name),
	}}
	if !open.add(id, c) {
		return nil
	}
	if !s.awaitResume(ctx, open, id) {
		open.takeCall(id)
		return blocked(r.ID, errCanceled.Error())
	}
	c.before = s.guard.Before(noWait, c.call)
	if c.before.Stops() {
		open.takeCall(id)
		return blocked(r.ID, c.before.Nudge)
	}
	open.set(id, c)
	return nil
}

// report returns metadata that say what the guard decided.
func report(d guard.Decision) json.RawMessage {
	r := policy.GuardReport("mcp-proxy", max(d.Action, d.Shadow), d.Code, d.Nudge, d.Count, d.Findings)
	r.Shadow = d.InShadow()
	return r.Metadata()
}

// isSet reports whether a member is there and not null.
func isSet(v jsontext.Value) bool { return v.Kind() != 0 && v.Kind() != 'n' }

// of returns the annotations of a tool, or nil.
func (t *Tools) of(tool string) *unloop.ToolHints {
	t.mu.Lock()
	defer t.mu.Unlock()
	if h, ok := t.hints[tool]; ok {
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

// Response judges a response of the server, and returns the response for the client: r itself if nothing changes.
func (s *Session) Response(ctx context.Context, r *jsonrpc.Response) *jsonrpc.Response {
	return s.response(ctx, s.open, r)
}

// response judges the answer to one of the requests in open.
func (s *Session) response(ctx context.Context, open *requests, r *jsonrpc.Response) *jsonrpc.Response {
	if !r.ID.IsValid() {
		return r
	}
	id := r.ID.Raw()
	open.mu.Lock()
	list := open.lists[id]
	delete(open.lists, id)
	open.mu.Unlock()
	if list {
		s.tools.learn(r.Result)
		return r
	}
	if c, ok := open.takeCall(id); ok {
		return s.result(ctx, c, r)
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
		// The call has no result yet. A later answer has it, which is not joined to the call.
	case result.IsError:
		o.Err = errors.New(contentText(result.Content))
	default:
		o.Result = output(result)
	}
	text := s.textFor(open.before, s.guard.After(ctx, open.call, o))
	if text == "" {
		return r
	}
	if r.Error == nil && result.Content.Kind() == '[' {
		if nudged, err := appendText(r.Result, prefix+text); err == nil {
			return &jsonrpc.Response{ID: r.ID, Result: nudged}
		}
	}
	s.owe(text)
	return r
}

// The greatest number of tools of a server that are known, and the greatest size of the name of a tool or of a member, in bytes.
const (
	maxTools = 10_000
	maxName  = 1 << 10
)

// learn keeps the annotations of the tools in a list, which may be one page of several.
func (t *Tools) learn(list json.RawMessage) {
	var l struct {
		Tools []struct {
			Name        string            `json:"name"`
			Annotations *unloop.ToolHints `json:"annotations"`
		} `json:"tools"`
	}
	if jsonv2.Unmarshal(list, &l, lenient) != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, tool := range l.Tools {
		if tool.Annotations != nil && len(t.hints) < maxTools && len(tool.Name) <= maxName {
			t.hints[tool.Name] = *tool.Annotations
		}
	}
}
