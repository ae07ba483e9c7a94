package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/client"
	"github.com/unloop-ai/unloop/internal/hook"
	"github.com/unloop-ai/unloop/policy"
)

// connectHook connects a hook to a server.
func connectHook(endpoint string) (hook.Server, error) {
	c, err := client.New(endpoint, os.Getenv("UNLOOP_TOKEN"))
	if err != nil {
		return nil, err
	}
	return &hookServer{c}, nil
}

// hookServer asks a server's guard over the guard protocol, and sends it events.
type hookServer struct{ client *client.Client }

// guardLine is a request of the guard protocol.
type guardLine struct {
	Op     string          `json:"op"`
	ID     string          `json:"id,omitempty"`
	Run    string          `json:"run"`
	Tool   string          `json:"tool,omitempty"`
	Args   json.RawMessage `json:"args,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
	Took   float64         `json:"duration_ms,omitempty"`
	Role   string          `json:"role,omitempty"`
	Text   string          `json:"text,omitempty"`
}

// guardAnswer is an answer of the guard protocol.
type guardAnswer struct {
	Action   string           `json:"action"`
	Shadow   string           `json:"shadow"`
	Code     string           `json:"code"`
	Count    int              `json:"count"`
	Message  string           `json:"message"`
	Findings []unloop.Finding `json:"findings"`
	Error    *struct{ Message string }
}

// Rule asks the server's guard about the steps in one request.
func (s *hookServer) Rule(ctx context.Context, run string, settings *hook.Settings, steps []hook.Step) ([]hook.Ruling, error) {
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	for _, step := range steps {
		l := guardLine{Op: step.Op, ID: step.Call.ID, Run: run, Tool: step.Call.Tool, Args: step.Call.Args, Role: step.Role, Text: step.Text}
		if step.Op == "after" {
			l.Result, l.Took = step.Call.Result, float64(step.Call.Took)/float64(time.Millisecond)
			if step.Call.Failed {
				l.Result, l.Error = nil, step.Call.Error
			}
		}
		if err := encoder.Encode(l); err != nil {
			return nil, fmt.Errorf("ask the server's guard: %w", err)
		}
	}
	query := url.Values{}
	if settings.Profile != "" {
		query.Set("profile", settings.Profile)
	}
	for name, value := range settings.Settings {
		query.Add("set", name+"="+value)
	}
	if settings.Mode != hook.Guard {
		query.Add("set", "shadow=true")
	}
	answers, err := s.client.Guard(ctx, query, lines.Bytes())
	if err != nil {
		return nil, err
	}
	var rulings []hook.Ruling
	for line := range bytes.Lines(answers) {
		var a guardAnswer
		if err := json.Unmarshal(line, &a); err != nil {
			return nil, fmt.Errorf("read the answer of the server's guard: %w", err)
		}
		if a.Error != nil {
			return nil, errors.New("the server's guard: " + a.Error.Message)
		}
		action, _ := policy.ActionOf(a.Action) // an action of a later version allows
		shadow, _ := policy.ActionOf(a.Shadow)
		rulings = append(rulings, hook.Ruling{
			Action: max(action, shadow), Code: a.Code, Count: a.Count, Text: a.Message, Findings: a.Findings,
		})
	}
	return rulings, nil
}

// Orders fetches the orders to the run.
func (s *hookServer) Orders(ctx context.Context, run string, after int64, wait time.Duration) (orders []hook.Order, last int64, err error) {
	heard, err := s.client.Listen(ctx, &api.Listen{Runs: []api.Listener{{RunID: run, After: after}}, Wait: int(wait.Milliseconds())})
	if err != nil {
		return nil, after, err
	}
	for k := range heard.Orders {
		orders = append(orders, hook.Order{Number: heard.Orders[k].Number, Event: client.EventOf(&heard.Orders[k])})
	}
	for _, r := range heard.Runs {
		after = max(after, r.After)
	}
	return orders, after, nil
}

// Send records the events.
func (s *hookServer) Send(ctx context.Context, events []unloop.Event) error {
	sender := s.client.NewSender()
	sender.Patience = time.Second
	for k := range events {
		if err := sender.Add(ctx, &events[k]); err != nil {
			return err
		}
	}
	return sender.Flush(ctx)
}
