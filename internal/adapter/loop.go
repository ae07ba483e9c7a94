package adapter

import (
	"context"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/guard"
)

// Dialogue is a conversation with a model in the types of a client. M is the client's type of an answer.
type Dialogue[M any] interface {
	// Model returns the name of the model.
	Model() string
	// UserText returns the text of the last message if it is from the user, who starts a turn; else "".
	UserText() string
	// Send requests an answer. Only this request has the nudge, which may be "".
	Send(ctx context.Context, nudge string) (M, error)
	// Read returns an answer, and reports whether the model waits for the results of its calls.
	Read(message M) (answer Answer, waits bool)
	// Continue adds an answer and the results of its calls.
	Continue(message M, calls []ToolCall, results []ToolResult)
}

// RunLoop requests answers and runs their tool calls under a guard, until the model waits for no result. It returns the last answer. The
// error is a *guard.LoopError if the guard halts the run, the client's if a request fails, and that of ctx if it is done.
func RunLoop[M any](ctx context.Context, g *guard.Guard, tools map[string]guard.ToolFunc, d Dialogue[M]) (M, error) {
	var none M
	if text := d.UserText(); text != "" {
		if err := g.Text(ctx, unloop.RoleUser, "", text).Err(); err != nil {
			return none, err
		}
	}
	nudge := ""
	for {
		call := StartModelCall(ctx, g, d.Model())
		message, err := d.Send(Recorded(ctx), nudge)
		if err != nil {
			call.Failed(err.Error())
			return none, err
		}
		answer, waits := d.Read(message)
		decision := call.Answered(answer)
		if err := decision.Err(); err != nil {
			return none, err
		}
		if !waits {
			return message, nil
		}
		nudge = decision.Note()
		results, err := runTools(ctx, g, tools, answer.Calls)
		if err != nil {
			return none, err
		}
		d.Continue(message, answer.Calls, results)
	}
}
