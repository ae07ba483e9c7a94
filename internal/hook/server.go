package hook

import (
	"context"
	"errors"
	"time"

	"github.com/unloop-ai/unloop"
)

// Server is a server that makes rulings and records events, in addition to the state on this machine.
type Server interface {
	// Rule returns the rulings about the steps of a run, in order.
	Rule(ctx context.Context, run string, settings *Settings, steps []Step) ([]Ruling, error)
	// Orders returns the orders to a run after the order with a number, and the number of the last order. If there is none, it
	// waits for one, at most as long as wait.
	Orders(ctx context.Context, run string, after int64, wait time.Duration) (orders []Order, last int64, err error)
	// Send records events.
	Send(ctx context.Context, events []unloop.Event) error
}

// The maximum time that a hook waits for a server: before its answer, and after it.
const (
	ruleWait = 150 * time.Millisecond
	sendWait = 2 * time.Second
)

// HasServer reports whether a server is configured or runs on this machine.
func (h *Hook) HasServer() bool {
	settings, err := loadSettings("", "", h.Env)
	return err != nil || settings.Endpoint != "" || h.Folder.running() != ""
}

// connect returns the configured server, or else the one that runs on this machine.
func (h *Hook) connect(e *Event, settings *Settings) Server {
	if h.Server == nil {
		return nil
	}
	endpoint := settings.Endpoint
	if endpoint == "" {
		if endpoint = h.Folder.running(); endpoint == "" {
			return nil
		}
	}
	server, err := h.Server(endpoint)
	if err != nil {
		h.fault(e, err)
		return nil
	}
	return server
}

// askServer replaces the rulings of the local guard by those of the server, if it answers in time.
func (h *Hook) askServer(ctx context.Context, server Server, j *judge, settings *Settings) {
	if len(j.steps) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, ruleWait)
	defer cancel()
	rulings, err := server.Rule(ctx, RunID(j.event), settings, j.steps)
	if err != nil || len(rulings) != len(j.steps) {
		h.unanswered(ctx, j.event, settings, err)
		return
	}
	for k := range j.steps {
		rulings[k].Tool = j.steps[k].Call.Tool
		j.steps[k].Ruling = rulings[k]
	}
}

// unanswered logs that the server did not answer in time.
func (h *Hook) unanswered(ctx context.Context, e *Event, settings *Settings, err error) {
	if settings.Endpoint == "" && ctx.Err() == nil {
		h.Folder.withdraw() // the server has ended without withdrawing
	}
	h.fault(e, errors.Join(errors.New("the server's guard did not answer; the local guard was used"), err))
}

// afterwards does the work that can wait until the agent has its answer.
func (h *Hook) afterwards(ctx context.Context, server Server, j *judge) error {
	var sent error
	if server != nil {
		ctx, cancel := context.WithTimeout(ctx, sendWait)
		defer cancel()
		sent = server.Send(ctx, j.events(h.Now()))
	}
	if len(j.Ended) > 0 && server != nil && sent == nil {
		j.Ended = nil
		sent = h.Folder.save(j.session)
	}
	return errors.Join(sent, h.Folder.sweep(h.Now()))
}
