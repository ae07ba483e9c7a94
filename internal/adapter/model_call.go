// Package adapter is what the adapters for Go frameworks share: it records model calls in a guard, runs the tool calls of a model under
// it, and reads model calls from HTTP requests. The modules in adapters/ import it.
package adapter

import (
	"context"
	"encoding/json"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/guard"
)

// Answer is the answer of a model.
type Answer struct {
	Model string
	Usage unloop.Usage
	Text  string
	Calls []ToolCall
	Err   string // why there is no answer; "" if there is one
}

// ToolCall is a tool call that a model wants.
type ToolCall struct {
	ID, Tool string
	Args     json.RawMessage
}

// ModelCall is a model call that has started.
type ModelCall struct {
	ctx   context.Context
	guard *guard.Guard
	model string
	began time.Time
}

// StartModelCall records the start of a model call.
func StartModelCall(ctx context.Context, g *guard.Guard, model string) *ModelCall {
	c := &ModelCall{ctx, g, model, time.Now()}
	g.Record(ctx, unloop.Event{Type: unloop.LLMCallStarted, Model: model})
	return c
}

// Answered records the end of the call and the text of the answer. It returns the stronger of the two decisions.
func (c *ModelCall) Answered(a Answer) guard.Decision {
	if a.Err != "" {
		return c.Failed(a.Err)
	}
	e := c.end(unloop.LLMCallCompleted)
	e.Tokens = a.Usage.Input + a.Usage.Output
	if a.Model != "" {
		e.Model = a.Model
	}
	if a.Usage != (unloop.Usage{}) {
		e.Usage = &a.Usage
	}
	d := c.guard.Record(c.ctx, e)
	if a.Text == "" {
		return d
	}
	if text := c.guard.Text(c.ctx, unloop.RoleAssistant, "", a.Text); text.Action > d.Action {
		return text
	}
	return d
}

// Failed records that the call has failed.
func (c *ModelCall) Failed(reason string) guard.Decision {
	e := c.end(unloop.LLMCallFailed)
	e.Error, _ = json.Marshal(reason) // a string always encodes
	return c.guard.Record(c.ctx, e)
}

func (c *ModelCall) end(t unloop.EventType) unloop.Event {
	ms := float64(time.Since(c.began)) / float64(time.Millisecond)
	return unloop.Event{Type: t, Model: c.model, Latency: &ms}
}
