// Package einoguard guards the tools of agents that are built with eino, and records their model calls. It is a module of its own, so
// that only those who use it depend on eino.
//
//	tools := compose.ToolsNodeConfig{Tools: all, ToolCallMiddlewares: []compose.ToolMiddleware{einoguard.Tools()}}
//	model := einoguard.Model("gpt-5.4-mini", chatModel)
//	ctx = guard.NewContext(ctx, g) // for each run of an agent
package einoguard

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/internal/adapter"
)

// Tools returns middleware for compose.ToolsNodeConfig. It guards each tool call whose context has a guard, from guard.NewContext. A
// warning is appended to the result, or to the message of the tool's error. A blocked call does not run, and its result gives the
// reason. If the guard halts the run, the call fails with a *guard.LoopError, and so does the agent. A call that interrupts the agent
// is recorded without a result, and is another call when it is resumed.
func Tools() compose.ToolMiddleware {
	return compose.ToolMiddleware{
		Invokable: func(next compose.InvokableToolEndpoint) compose.InvokableToolEndpoint {
			return func(ctx context.Context, in *compose.ToolInput) (*compose.ToolOutput, error) {
				result, err := invoke(ctx, in, texts, func() (string, error) {
					out, err := next(ctx, in)
					if err != nil {
						return "", err
					}
					return out.Result, nil
				})
				return &compose.ToolOutput{Result: result}, err
			}
		},
		Streamable: func(next compose.StreamableToolEndpoint) compose.StreamableToolEndpoint {
			return func(ctx context.Context, in *compose.ToolInput) (*compose.StreamToolOutput, error) {
				result, err := stream(ctx, in, texts, func() (*schema.StreamReader[string], error) {
					out, err := next(ctx, in)
					if err != nil {
						return nil, err
					}
					return out.Result, nil
				})
				return &compose.StreamToolOutput{Result: result}, err
			}
		},
		EnhancedInvokable: func(next compose.EnhancedInvokableToolEndpoint) compose.EnhancedInvokableToolEndpoint {
			return func(ctx context.Context, in *compose.ToolInput) (*compose.EnhancedInvokableToolOutput, error) {
				result, err := invoke(ctx, in, parts, func() (*schema.ToolResult, error) {
					out, err := next(ctx, in)
					if err != nil {
						return nil, err
					}
					return out.Result, nil
				})
				return &compose.EnhancedInvokableToolOutput{Result: result}, err
			}
		},
		EnhancedStreamable: func(next compose.EnhancedStreamableToolEndpoint) compose.EnhancedStreamableToolEndpoint {
			return func(ctx context.Context, in *compose.ToolInput) (*compose.EnhancedStreamableToolOutput, error) {
				result, err := stream(ctx, in, parts, func() (*schema.StreamReader[*schema.ToolResult], error) {
					out, err := next(ctx, in)
					if err != nil {
						return nil, err
					}
					return out.Result, nil
				})
				return &compose.EnhancedStreamableToolOutput{Result: result}, err
			}
		},
	}
}

// form is a form of results.
type form[T any] struct {
	read   func(chunks []T) json.RawMessage // returns a result, or the chunks of one, as JSON
	say    func(text string) T              // returns a result, or a chunk of one, with a text
	attach func(result T, note string) T    // does not modify the result
}

var texts = form[string]{
	read:   func(chunks []string) json.RawMessage { return adapter.AsJSON(strings.Join(chunks, "")) },
	say:    func(text string) string { return text },
	attach: func(result, note string) string { return result + " " + note },
}

var parts = form[*schema.ToolResult]{
	read: readParts,
	say: func(text string) *schema.ToolResult {
		return &schema.ToolResult{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeText, Text: text}}}
	},
	attach: func(result *schema.ToolResult, note string) *schema.ToolResult {
		var all []schema.ToolOutputPart
		if result != nil {
			all = append(all, result.Parts...)
		}
		return &schema.ToolResult{Parts: append(all, schema.ToolOutputPart{Type: schema.ToolPartTypeText, Text: note})}
	},
}

// readParts returns the text if all parts are texts, else the parts.
func readParts(chunks []*schema.ToolResult) json.RawMessage {
	var all []schema.ToolOutputPart
	text, onlyText := "", true
	for _, chunk := range chunks {
		if chunk == nil {
			continue
		}
		for _, part := range chunk.Parts {
			all, text = append(all, part), text+part.Text
			onlyText = onlyText && part.Type == schema.ToolPartTypeText
		}
	}
	if onlyText {
		return adapter.AsJSON(text)
	}
	raw, _ := json.Marshal(all) // a result that cannot be encoded is one that is not known
	return raw
}

// invoke makes a call under the guard of the context.
func invoke[T any](ctx context.Context, in *compose.ToolInput, f form[T], next func() (T, error)) (T, error) {
	g := guard.FromContext(ctx)
	if g == nil {
		return next()
	}
	var none T
	call, d := adapter.BeginCall(ctx, g, guard.Call{Tool: in.Name, Args: adapter.AsJSON(in.Arguments)})
	if d.Stops() {
		return f.say(adapter.Refusal(d)), d.Err()
	}
	result, err := next()
	if err != nil {
		return none, failed(call, err)
	}
	d = call.End(guard.Outcome{Result: f.read([]T{result})})
	if d.Err() != nil {
		return none, d.Err()
	}
	if d.Note() != "" {
		result = f.attach(result, d.Note())
	}
	return result, nil
}

// stream is invoke for a result that is streamed. The call ends with the stream.
func stream[T any](ctx context.Context, in *compose.ToolInput, f form[T], next func() (*schema.StreamReader[T], error)) (*schema.StreamReader[T], error) {
	g := guard.FromContext(ctx)
	if g == nil {
		return next()
	}
	call, d := adapter.BeginCall(ctx, g, guard.Call{Tool: in.Name, Args: adapter.AsJSON(in.Arguments)})
	if d.Err() != nil {
		return nil, d.Err()
	}
	if d.Stops() {
		return schema.StreamReaderFromArray([]T{f.say(adapter.Refusal(d))}), nil
	}
	result, err := next()
	if err != nil {
		return nil, failed(call, err)
	}
	return forward(result, func(chunks []T, err error) ([]T, error) {
		if err != nil {
			return nil, failed(call, err)
		}
		d := call.End(guard.Outcome{Result: f.read(chunks)})
		if d.Err() == nil && d.Note() != "" {
			return []T{f.say(" " + d.Note())}, nil
		}
		return nil, d.Err()
	}), nil
}

// failed records that a call has failed or has interrupted the agent. It returns the error of the call, or that of a halt.
func failed(call *adapter.OpenCall, err error) error {
	if interrupts(err) {
		call.End(guard.Outcome{})
		return err
	}
	d := call.End(guard.Outcome{Err: err})
	if halt := d.Err(); halt != nil {
		return halt
	}
	return d.AttachError(err)
}

// interrupts reports whether an error asks for the agent to be interrupted and resumed.
func interrupts(err error) bool {
	if _, ok := compose.IsInterruptRerunError(err); ok {
		return true
	}
	_, ok := compose.ExtractInterruptInfo(err)
	return ok
}
