// Package mcpguard guards the tool calls of clients of the MCP Go SDK. It is a module of its own, so that only those who use it depend
// on the SDK.
//
//	client.AddSendingMiddleware(mcpguard.Middleware())
//	ctx = guard.NewContext(ctx, g) // for each run of an agent
package mcpguard

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/internal/adapter"
	"github.com/unloop-ai/unloop/internal/boundedmap"
)

// maxTools is the number of tools whose annotations are kept.
const maxTools = 4096

// Middleware returns middleware for Client.AddSendingMiddleware. It guards each tools/call whose context has a guard, from
// guard.NewContext, and passes all other requests on unchanged. A warning is appended to the result as a text. A blocked call does not
// reach the server, and its result has IsError. If the guard halts the run, the error is a *guard.LoopError. The annotations of tools
// that ListTools has returned are hints for the guard.
func Middleware() mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		m := &middleware{next: next, hints: boundedmap.Map[string, *unloop.ToolHints]{Max: maxTools}}
		return m.handle
	}
}

type middleware struct {
	next mcp.MethodHandler

	mu    sync.Mutex
	hints boundedmap.Map[string, *unloop.ToolHints] // by the name of the tool
}

func (m *middleware) handle(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
	g := guard.FromContext(ctx)
	if params, ok := req.GetParams().(*mcp.CallToolParams); ok && g != nil {
		return m.call(ctx, g, params, func() (mcp.Result, error) { return m.next(ctx, method, req) })
	}
	result, err := m.next(ctx, method, req)
	if list, ok := result.(*mcp.ListToolsResult); ok && err == nil {
		m.learn(list.Tools)
	}
	return result, err
}

// learn keeps the annotations of tools.
func (m *middleware) learn(tools []*mcp.Tool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, tool := range tools {
		if a := tool.Annotations; a != nil {
			m.hints.Set(tool.Name, &unloop.ToolHints{ReadOnly: a.ReadOnlyHint, Idempotent: a.IdempotentHint})
		} else {
			m.hints.Remove(tool.Name)
		}
	}
}

func (m *middleware) hintsOf(tool string) *unloop.ToolHints {
	m.mu.Lock()
	defer m.mu.Unlock()
	hints, _, _ := m.hints.Use(tool)
	return hints
}

// call makes a call under the guard.
func (m *middleware) call(ctx context.Context, g *guard.Guard, params *mcp.CallToolParams, next func() (mcp.Result, error)) (mcp.Result, error) {
	c := guard.Call{Tool: params.Name, Hints: m.hintsOf(params.Name)}
	c.Args, _ = json.Marshal(params.Arguments) // arguments that cannot be encoded fail in next, too
	call, d := adapter.BeginCall(ctx, g, c)
	if halt := d.Err(); halt != nil {
		return nil, halt
	}
	if d.Stops() {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: adapter.Refusal(d)}}}, nil
	}
	result, err := next()
	answer, _ := result.(*mcp.CallToolResult)
	d = call.End(outcomeOf(answer, err))
	if halt := d.Err(); halt != nil {
		return nil, halt
	}
	if err != nil || answer == nil {
		return result, d.AttachError(err)
	}
	return attach(answer, d), nil
}

// outcomeOf returns what a call returned: structured content, else its texts, else its content as JSON. A result with IsError is a
// failure with its texts.
func outcomeOf(result *mcp.CallToolResult, err error) guard.Outcome {
	if err != nil || result == nil {
		return guard.Outcome{Err: err}
	}
	var texts []string
	for _, part := range result.Content {
		if text, ok := part.(*mcp.TextContent); ok {
			texts = append(texts, text.Text)
		}
	}
	var value any = result.Content
	switch {
	case result.IsError:
		if len(texts) == 0 {
			return guard.Outcome{Err: errors.New("the tool failed")}
		}
		return guard.Outcome{Err: errors.New(strings.Join(texts, "\n"))}
	case result.StructuredContent != nil:
		value = result.StructuredContent
	case len(result.Content) == 0:
		value = nil
	case len(texts) == len(result.Content):
		value = strings.Join(texts, "\n")
	}
	raw, _ := json.Marshal(value) // a result that cannot be encoded is one that is not known
	return guard.Outcome{Result: raw}
}

// attach returns the result with the nudge as another text. It does not modify the result.
func attach(result *mcp.CallToolResult, d guard.Decision) *mcp.CallToolResult {
	if d.Note() == "" {
		return result
	}
	nudged := *result
	nudged.Content = append(append([]mcp.Content{}, result.Content...), &mcp.TextContent{Text: d.Note()})
	return &nudged
}
