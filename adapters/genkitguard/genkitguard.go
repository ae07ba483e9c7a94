// Package genkitguard guards the tools of Genkit, and records model calls. It is a module of its own, so that only those who use it
// depend on Genkit.
//
//	search := genkit.DefineTool(g, "search", "Searches.", genkitguard.Tool("search", searchFunc))
//	ctx = guard.NewContext(ctx, run) // for each run of an agent
//	answer, err := genkit.Generate(ctx, g, ai.WithTools(search), ai.WithMiddleware(genkitguard.Model("gemini-2.5-flash")), …)
package genkitguard

import (
	"context"
	"encoding/json"

	"github.com/firebase/genkit/go/ai"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/internal/adapter"
)

// Tool returns a function for genkit.DefineTool or ai.NewTool. It guards each call whose context has a guard, from guard.NewContext. A
// warning is attached to the result, or to the message of the tool's error. A blocked call does not run, and its result gives the
// reason. If the guard halts the run, the call fails, and so does Generate. Genkit keeps only the message of a tool's error, so
// guard.Guard.Halted returns the *guard.LoopError. A call that interrupts the generation is recorded without a result, and is another
// call when it is restarted.
func Tool[In, Out any](name string, f ai.ToolFunc[In, Out]) ai.ToolFunc[In, any] {
	return func(ctx *ai.ToolContext, input In) (any, error) {
		g := guard.FromContext(ctx)
		if g == nil {
			return f(ctx, input)
		}
		args, err := json.Marshal(input)
		if err != nil {
			return nil, err
		}
		call, d := adapter.BeginCall(ctx, g, guard.Call{Tool: name, Args: args})
		if d.Stops() {
			return d.Result(), d.Err()
		}
		output, err := f(ctx, input)
		if interrupted, _ := ai.IsToolInterruptError(err); interrupted {
			call.End(guard.Outcome{})
			return nil, err
		}
		var result json.RawMessage
		if err == nil {
			result, _ = json.Marshal(output) // one that cannot be encoded fails in Genkit, too
		}
		d = call.End(guard.Outcome{Result: result, Err: err})
		if halt := d.Err(); halt != nil {
			return nil, halt
		}
		if err != nil {
			return nil, d.AttachError(err)
		}
		if d.Note() == "" {
			return output, nil
		}
		return d.Attach(result), nil
	}
}

// Model returns middleware for ai.WithMiddleware. It records each model call whose context has a guard, from guard.NewContext: the tokens
// by kind, the message of the user that starts a turn, and the texts of the model. If the guard halts the run at one of them, Generate
// returns a *guard.LoopError. The name is that of the model for reports.
func Model(name string) ai.ModelMiddleware {
	return func(next ai.ModelFunc) ai.ModelFunc {
		return func(ctx context.Context, request *ai.ModelRequest, chunk ai.ModelStreamCallback) (*ai.ModelResponse, error) {
			g := guard.FromContext(ctx)
			if g == nil {
				return next(ctx, request, chunk)
			}
			if text := lastUserText(request); text != "" {
				if err := g.Text(ctx, unloop.RoleUser, "", text).Err(); err != nil {
					return nil, err
				}
			}
			call := adapter.StartModelCall(ctx, g, name)
			response, err := next(ctx, request, chunk)
			if err != nil {
				call.Failed(err.Error())
				return nil, err
			}
			if err := call.Answered(adapter.Answer{Usage: usageOf(response.Usage), Text: response.Text()}).Err(); err != nil {
				return nil, err
			}
			return response, nil
		}
	}
}

// lastUserText returns the text of the last message if it is from the user: it starts a turn.
func lastUserText(request *ai.ModelRequest) string {
	if n := len(request.Messages); n > 0 && request.Messages[n-1].Role == ai.RoleUser {
		return request.Messages[n-1].Text()
	}
	return ""
}

// usageOf reads a usage. Some models count thoughts as part of the output, and others beside it; the total shows which.
func usageOf(u *ai.GenerationUsage) unloop.Usage {
	if u == nil {
		return unloop.Usage{}
	}
	output := u.OutputTokens
	if u.TotalTokens == u.InputTokens+u.OutputTokens+u.ThoughtsTokens {
		output += u.ThoughtsTokens
	}
	return unloop.Usage{
		Input: int64(u.InputTokens), Output: int64(output), CachedInput: int64(u.CachedContentTokens), Reasoning: int64(u.ThoughtsTokens),
	}
}
