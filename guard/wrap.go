package guard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"
)

// ToolFunc is a tool. It takes arguments and returns a result, both as JSON.
type ToolFunc func(ctx context.Context, args json.RawMessage) (json.RawMessage, error)

// calls numbers the calls of wrapped tools, to distinguish concurrent calls.
var calls atomic.Int64

// Wrap returns a tool that calls the given one under the guard. A blocked call does not run and returns Decision.Result. A nudge is
// attached to the result, or to the message of the tool's error. If the guard halts the run, before or after the call, the error is a
// *LoopError. A panic of the tool is recorded as a failed call, and reaches the caller. The returned tool is safe for concurrent use if the given one is. The context goes to the guard and to the tool.
func (g *Guard) Wrap(name string, tool ToolFunc) ToolFunc {
	return func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
		c := Call{ID: "w" + strconv.FormatInt(calls.Add(1), 10), Tool: name, Args: args}
		before := g.Before(ctx, c)
		if before.Stops() {
			return before.Result(), before.Err()
		}
		result, latency, err := g.runTool(ctx, c, tool)
		after := g.After(ctx, c, Outcome{Result: result, Err: err, Latency: latency})
		if halt := after.Err(); halt != nil {
			return result, halt
		}
		if after.Action < before.Action {
			after = before
		}
		if err != nil {
			return result, after.AttachError(err)
		}
		if result == nil {
			return nil, nil
		}
		attached, _ := after.Attach(result).(json.RawMessage)
		return attached, nil
	}
}

// runTool runs a tool and measures its time. A panic of the tool is recorded as a failed call, and goes on to the caller.
func (g *Guard) runTool(ctx context.Context, c Call, tool ToolFunc) (result json.RawMessage, latency time.Duration, err error) {
	began, returned := time.Now(), false
	defer func() {
		if returned {
			return
		}
		cause := recover()
		failure := errors.New("the tool ended its goroutine")
		if cause != nil {
			failure = fmt.Errorf("panic: %v", cause)
		}
		g.After(ctx, c, Outcome{Err: failure, Latency: time.Since(began)})
		if cause != nil {
			panic(cause)
		}
	}()
	result, err = tool(ctx, c.Args)
	returned = true
	return result, time.Since(began), err
}
