package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/client"
	"github.com/unloop-ai/unloop/internal/pipeline"
	"github.com/unloop-ai/unloop/internal/proxy"
	"github.com/unloop-ai/unloop/internal/reverseproxy"
	"github.com/unloop-ai/unloop/profile"
)

// modelProxy is the proxy in front of model APIs that a server runs, and the queue of the events that it records.
type modelProxy struct {
	listener net.Listener
	proxy    *proxy.Proxy
	submit   func(context.Context, *pipeline.Submission) (pipeline.Ack, error)
	orders   *client.Orders
	log      *slog.Logger

	waiting chan *unloop.Event // an event that finds it full is dropped
	dropped atomic.Int64       // logged at the end
}

// Limits of the queue of events.
const (
	maxProxyEvents = 16384
	maxProxyBatch  = 512
)

// listenProxy opens the port of the proxy. It returns nil if no port is configured.
func (s *Serve) listenProxy(ctx context.Context) (net.Listener, error) {
	if s.Config.Proxy.Addr == "" {
		return nil, nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.Config.Proxy.Addr)
	if err != nil {
		return nil, fmt.Errorf("proxy.addr: %w", err)
	}
	return l, nil
}

// makeProxy returns the proxy behind a listener, or nil without one.
func (p *components) makeProxy(l net.Listener) (*modelProxy, error) {
	if l == nil {
		return nil, nil
	}
	m := &modelProxy{listener: l, submit: p.recorder.Submit, orders: client.NewOrders(p.http.Listen), log: p.log, waiting: make(chan *unloop.Event, maxProxyEvents)}
	c := &p.config.Proxy
	judge, err := p.config.LoadProfile()
	if err != nil {
		return nil, err
	}
	o := proxy.Options{
		Profile: judge, Mode: proxy.Mode(c.Mode), OnHalt: proxy.OnHalt(c.OnHalt), Upstreams: make(map[string]*url.URL), Log: p.log,
		MaxBody: proxy.MaxBody, MaxBodies: max(p.shares.Bodies, proxy.LeastBodies), MaxMemory: int(p.shares.Guards), Record: m.record, Controls: m.orders.Controls,
	}
	for name, text := range map[string]string{"openai": c.OpenAI, "anthropic": c.Anthropic, "gemini": c.Gemini} {
		if o.Upstreams[name], err = url.Parse(text); err != nil {
			return nil, fmt.Errorf("proxy.%s_upstream: %w", name, err)
		}
	}
	for name, b := range map[string]struct {
		text string
		to   *proxy.Budget
	}{"session": {c.SessionBudget, &o.Budgets.Session}, "key": {c.KeyBudget, &o.Budgets.Key}, "project": {c.ProjectBudget, &o.Budgets.Project}} {
		if b.text == "" {
			continue
		}
		if *b.to, err = proxy.ParseBudget(b.text); err != nil {
			return nil, fmt.Errorf("proxy.%s_budget: %w", name, err)
		}
	}
	m.proxy, err = proxy.New(o)
	return m, err
}

// setProfile sets the profile of new runs, if there is a proxy.
func (m *modelProxy) setProfile(of *profile.Profile) {
	if m != nil {
		m.proxy.SetProfile(of)
	}
}

// record queues an event. It never blocks.
func (m *modelProxy) record(e *unloop.Event) {
	select {
	case m.waiting <- e.Clone():
	default:
		m.dropped.Add(1)
	}
}

// run serves until the context ends, and then records the queued events.
func (m *modelProxy) run(ctx context.Context) error {
	if m == nil {
		<-ctx.Done()
		return nil
	}
	served := make(chan struct{})
	recording := begin(func() error { m.work(context.WithoutCancel(ctx), served); return nil })
	err := reverseproxy.Serve(ctx, m.listener, m.proxy)
	m.orders.Close()
	close(served)
	err = errors.Join(err, recording.wait())
	if n := m.dropped.Load(); n > 0 {
		m.log.Warn("events of the proxy were not recorded: the queue was full", "events", n)
	}
	return err
}

// work records queued events until served is closed and the queue is empty.
func (m *modelProxy) work(ctx context.Context, served <-chan struct{}) {
	for {
		select {
		case e := <-m.waiting:
			m.send(ctx, m.batch(e), served)
		case <-served:
			for len(m.waiting) > 0 {
				m.send(ctx, m.batch(<-m.waiting), served)
			}
			return
		}
	}
}

// batch returns an event and the queued events after it.
func (m *modelProxy) batch(first *unloop.Event) []*unloop.Event {
	events := []*unloop.Event{first}
	for len(events) < maxProxyBatch {
		select {
		case e := <-m.waiting:
			events = append(events, e)
		default:
			return events
		}
	}
	return events
}

// send records events. While the server is busy it retries, until served is closed.
func (m *modelProxy) send(ctx context.Context, events []*unloop.Event, served <-chan struct{}) {
	for {
		_, err := m.submit(ctx, &pipeline.Submission{Events: events})
		if err == nil {
			return
		}
		if errors.Is(err, pipeline.ErrBusy) {
			select {
			case <-time.After(time.Second):
				continue
			case <-served:
			}
		}
		m.log.Warn("events of the proxy were not recorded", "events", len(events), "error", err)
		return
	}
}
