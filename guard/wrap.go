package guard

import (
	"context"
	"encoding/json"
	"strconv"
	"sync/atomic"
	"time"
)

// ToolFunc is a tool: it takes arguments and gives a result, both as JSON.
type ToolFunc func(ctx context.Context, args json.RawMessage) (json.RawMessage, error)

// calls numbers the calls of wrapped tools, so that calls that run side by side are told apart.
var calls atomic.Int64

// Wrap returns the tool with the guard around it. A call that is blocked does not run and returns the decision's Result; a
// warning is attached to the result; a halt is a *LoopError, after the call if that is when it was decided.
func (g *Guard) Wrap(name string, tool ToolFunc) ToolFunc {
	return func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
		c := Call{ID: "w" + strconv.FormatInt(calls.Add(1), 10), Tool: name, Args: args}
		before := g.Before(c)
		if before.Stops() {
			return before.Result(), before.Err()
		}
		began := time.Now()
		result, err := tool(ctx, args)
		after := g.After(c, Outcome{Result: result, Err: err, Latency: time.Since(began)})
		if halt := after.Err(); halt != nil {
			return result, halt
		}
		if result == nil {
			return nil, err
		}
		if after.Action < before.Action {
			after = before
		}
		attached, _ := after.Attach(result).(json.RawMessage)
		return attached, err
	}
}
