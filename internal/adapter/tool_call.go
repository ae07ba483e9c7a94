package adapter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/unloop-ai/unloop/guard"
)

// calls numbers the tool calls of adapters, to distinguish concurrent ones: models may use an id twice.
var calls atomic.Int64

// OpenCall is a tool call that may run. It ends with End.
type OpenCall struct {
	ctx    context.Context
	guard  *guard.Guard
	call   guard.Call
	before guard.Decision
	began  time.Time
}

// BeginCall asks whether a call may run. If the decision stops it, the call must not run and has no end.
func BeginCall(ctx context.Context, g *guard.Guard, c guard.Call) (*OpenCall, guard.Decision) {
	c.ID = "a" + strconv.FormatInt(calls.Add(1), 10)
	before := g.Before(ctx, c)
	return &OpenCall{ctx, g, c, before, time.Now()}, before
}

// End records the outcome of the call. It returns the decision whose nudge goes with the outcome, or which halts the run.
func (c *OpenCall) End(o guard.Outcome) guard.Decision {
	o.Latency = time.Since(c.began)
	after := c.guard.After(c.ctx, c.call, o)
	if after.Action < c.before.Action {
		return c.before
	}
	return after
}

// Refusal returns the text that the model gets for a call that does not run.
func Refusal(d guard.Decision) string { return AsText(d.Result()) }

// ToolResult is what a model gets for a call.
type ToolResult struct {
	Text   string
	Failed bool
}

// runTools runs the calls of one answer at the same time under a guard, and returns their results in the order of the calls. A failure of
// a tool is a result. The error is a *guard.LoopError if the guard halts the run, and that of ctx if it is done.
func runTools(ctx context.Context, g *guard.Guard, tools map[string]guard.ToolFunc, calls []ToolCall) ([]ToolResult, error) {
	results, halts := make([]ToolResult, len(calls)), make([]error, len(calls))
	var running sync.WaitGroup
	for i, c := range calls {
		running.Go(func() { results[i], halts[i] = runTool(ctx, g, tools, c) })
	}
	running.Wait()
	for _, err := range halts {
		if err != nil {
			return nil, err
		}
	}
	return results, ctx.Err()
}

func runTool(ctx context.Context, g *guard.Guard, tools map[string]guard.ToolFunc, c ToolCall) (ToolResult, error) {
	tool, ok := tools[c.Tool]
	if !ok {
		tool = func(context.Context, json.RawMessage) (json.RawMessage, error) {
			return nil, fmt.Errorf("unknown tool %q; the tools are %s", c.Tool, strings.Join(slices.Sorted(maps.Keys(tools)), ", "))
		}
	}
	result, err := g.Wrap(c.Tool, tool)(ctx, c.Args)
	var halt *guard.LoopError
	if errors.As(err, &halt) {
		return ToolResult{}, err
	}
	if err != nil {
		return ToolResult{"error: " + err.Error(), true}, nil
	}
	return ToolResult{AsText(result), false}, nil
}

// AsJSON returns text if it is JSON, else text as a JSON string: models do not always write JSON.
func AsJSON(text string) json.RawMessage {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	raw, _ := json.Marshal(text) // a string always encodes
	return raw
}

// AsText returns the text of a JSON string, and other JSON unchanged.
func AsText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// JoinTexts returns content as one JSON string if it is a list of texts, else unchanged.
func JoinTexts(content json.RawMessage) json.RawMessage {
	var parts []struct{ Text *string }
	if json.Unmarshal(content, &parts) != nil || len(parts) == 0 {
		return content
	}
	text := ""
	for _, part := range parts {
		if part.Text == nil {
			return content
		}
		text += *part.Text
	}
	raw, _ := json.Marshal(text) // a string always encodes
	return raw
}
