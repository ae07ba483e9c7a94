package app

import (
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"os"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/time/rate"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/config"
	"github.com/unloop-ai/unloop/internal/grpcd"
	"github.com/unloop-ai/unloop/internal/httpd"
	"github.com/unloop-ai/unloop/internal/live"
	"github.com/unloop-ai/unloop/internal/mask"
	"github.com/unloop-ai/unloop/internal/mcpd"
	"github.com/unloop-ai/unloop/internal/pipeline"
	"github.com/unloop-ai/unloop/internal/price"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/internal/store/sqlstore"
	"github.com/unloop-ai/unloop/internal/web"
	"github.com/unloop-ai/unloop/policy"
)

// assemble makes the components, beginning with the store.
func (s *Serve) assemble(ctx context.Context, hasGRPC bool) (_ *components, err error) {
	p := &components{config: s.Config, file: s.File, version: s.Version, log: s.Log, shares: shares(s.Config), clock: newClock(), grpcState: "on"}
	switch {
	case s.Config.GRPCAddr == config.Off || !s.Config.Cluster.Has(config.RoleIngest):
		p.grpcState = "off"
	case !hasGRPC:
		p.grpcState = "taken"
	}
	if p.dsn, err = s.Config.Database(); err != nil {
		return nil, err
	}
	if p.store, err = sqlstore.Open(ctx, p.dsn, sqlstore.Options{NoSearch: !s.Config.Search, Cluster: s.Config.Cluster.NATS != ""}); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			if p.cluster != nil {
				p.cluster.Close()
			}
			err = errors.Join(err, p.store.Close())
		}
	}()
	if s.Config.Cluster.NATS != "" {
		p.name = rand.Text()
		if err := p.applySettings(ctx); err != nil {
			return nil, err
		}
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	latest, _, err := p.store.Last(ctx)
	if err != nil {
		return nil, err
	}
	hub := live.Options{Arrival: latest, Total: p.shares.Updates}
	if s.Config.Cluster.NATS != "" {
		hub.Window = store.ArrivalsIn(store.ArrivalWindow, sqlstore.Partitions)
	}
	p.hub = live.New(hub)
	if err := p.makeRecorder(ctx, registry); err != nil {
		return nil, err
	}
	return p, p.makeEdges(ctx, registry)
}

func (p *components) makeRecorder(ctx context.Context, registry *prometheus.Registry) error {
	judge, err := p.config.LoadProfile()
	if err != nil {
		return err
	}
	if p.mask, err = p.masker(ctx); err != nil {
		return err
	}
	prices, err := p.prices()
	if err != nil {
		return err
	}
	if err := p.makeAlerts(ctx); err != nil {
		return err
	}
	if err := p.makeQuestions(); err != nil {
		return err
	}
	var ask func(string, policy.Question)
	if p.second != nil {
		ask = p.second.ask
	}
	limits := &p.config.Limits
	o := pipeline.Options{
		Profile: judge, Sinks: []pipeline.Sink{p.alerts.sink}, Metrics: pipeline.NewMetrics(registry), Log: p.log,
		Project:     p.config.Project,
		Mask:        p.mask,
		Content:     contents[p.config.Content],
		Notices:     p.alerts.sink.Notices,
		Prepare:     func(e *unloop.Event) { addCost(e, prices) },
		Ask:         ask,
		QueueEvents: limits.QueueEvents, QueueBytes: p.shares.Queue, TraceBytes: int(p.shares.Traces), LiveRuns: p.config.LiveRuns, RunBytes: p.shares.Runs,
		IdleMemory: time.Duration(p.config.IdleMemory), IdleClose: time.Duration(p.config.IdleClose),
	}
	if p.config.Cluster.NATS != "" {
		return p.joinCluster(ctx, o)
	}
	o.Store, o.Sinks = p.store, append([]pipeline.Sink{p.hub}, o.Sinks...)
	p.recorder, err = pipeline.New(ctx, o)
	return err
}

// makeQuestions prepares second opinions, if they are on.
func (p *components) makeQuestions() error {
	client, err := SecondOpinion(p.config, os.Getenv, p.log)
	if err != nil || client == nil {
		return err
	}
	p.second = &questions{
		client: client, model: p.config.SecondOpinion.Model, waiting: make(chan question, maxQuestions), log: p.log,
		known: func(ctx context.Context, id string) (bool, error) {
			row, err := p.store.Run(ctx, id)
			return row != nil, err
		},
		submit: func(ctx context.Context, s *pipeline.Submission) (pipeline.Ack, error) {
			return p.recorder.Submit(ctx, s)
		},
	}
	return nil
}

// contents are the levels of stored content by the name of the setting.
var contents = map[string]pipeline.Content{"full": pipeline.FullContent, "excerpts": pipeline.Excerpts, "none": pipeline.NoContent}

func (p *components) prices() (*price.Table, error) {
	if p.config.Prices == "" {
		return price.Load("", nil)
	}
	text, err := config.PriceFile.Read(p.config.Prices)
	if err != nil {
		return nil, err
	}
	return price.Load(p.config.Prices, text)
}

// addCost sets the cost of a model call without one.
func addCost(e *unloop.Event, prices *price.Table) {
	if e.Cost != 0 || e.Model == "" || e.Tokens == 0 && e.Usage == nil {
		return
	}
	var usage unloop.Usage
	if e.Usage != nil {
		usage = *e.Usage
	}
	e.Cost, _ = prices.Cost(e.Model, usage, e.Tokens) // 0 for an unknown model
}

// makeEdges makes the servers of HTTP and gRPC, and what the former answers from.
func (p *components) makeEdges(ctx context.Context, registry *prometheus.Registry) (err error) {
	limits := &p.config.Limits
	tokens := make([]httpd.Token, len(p.config.Tokens))
	for k, t := range p.config.Tokens {
		tokens[k] = httpd.Token{Name: t.Name, Scope: httpd.Scope(t.Scope), SHA256: t.SHA256}
	}
	receiver, readable := telemetry{p.recorder}, flushedStore{p.store, p.recorder, p.mask}
	judges, err := newJudges(p.store, p.config)
	if err != nil {
		return err
	}
	p.tuner = p.newTuner(judges)
	if p.shadow, err = p.newShadow(); err != nil {
		return err
	}
	agents, err := newGuards(ctx, p.store, judges, p.config.LiveRuns, p.shares.Guards)
	if err != nil {
		return err
	}
	if p.second != nil { // one lock serves the requests of all runs, so no request may wait
		agents.second = GuardOpinion(p.second.client, 0)
	}
	p.http, err = httpd.New(httpd.Options{
		Version: p.version, GRPC: p.grpcState, Pipeline: p.recorder, Store: readable, RunID: p.mask.ID, Name: p.mask.Text, Telemetry: receiver, Hub: p.hub,
		Judge: judges, Tuner: p.tuner, Shadow: p.shadow, Guards: agents, Alerts: p.alerts, Ready: p.health(), Recording: p.recorder.State, Cluster: p.clusterHealth(), NotFound: web.NotFound(),
		NoIngest: !p.config.Cluster.Has(config.RoleIngest), NoQueries: !p.config.Cluster.Has(config.RoleAPI),
		Tokens: tokens, Hosts: p.config.Hosts, Origins: p.config.Origins, Log: p.log,
		Limits: httpd.Limits{Body: int64(limits.Body), Bodies: p.shares.Bodies, Answers: p.shares.Answers, Events: limits.Batch, Levels: limits.Depth, Connections: limits.Connections},
	})
	if err != nil {
		return err
	}
	p.http.Mount("GET /metrics", httpd.Read, promhttp.HandlerFor(registry, promhttp.HandlerOpts{Registry: registry}))
	dashboard := web.Handler()
	for _, pattern := range web.Patterns() {
		p.http.Mount(pattern, httpd.Anyone, dashboard)
	}
	p.http.Mount("/mcp", httpd.Read, mcpd.Handler(mcpd.New(mcpd.Records{Store: readable}, p.version)))
	registry.MustRegister(stats{p})
	return p.makeGRPC(receiver)
}

// makeGRPC makes the server of gRPC, if it is on.
func (p *components) makeGRPC(receiver grpcd.Receiver) (err error) {
	if p.grpcState != "on" {
		return nil
	}
	limits := &p.config.Limits
	o := grpcd.DefaultOptions()
	o.Busy, o.Closed, o.Message = pipeline.ErrBusy, pipeline.ErrClosed, int(limits.Body)
	o.Connections = min(limits.Connections, 1<<16)
	o.Memory = max(p.shares.Calls, 2*int64(limits.Body))
	o.Authorize = p.http.MayIngest
	p.grpc, err = grpcd.New(receiver, o, p.log)
	return err
}

// health returns the check of whether the server accepts events. It also reports the last failed commit, because a small write
// can succeed although larger ones fail.
func (p *components) health() func(context.Context) error {
	unwritable := rate.Sometimes{Interval: 10 * time.Second}
	writable := throttle(func(ctx context.Context) error {
		err := p.store.Writable(ctx)
		if err != nil {
			unwritable.Do(func() { p.log.Error("the store is not writable", "error", err) })
		}
		return err
	})
	return func(ctx context.Context) error {
		if err := p.recorder.Health(); err != nil {
			return err
		}
		return writable(ctx)
	}
}

// throttle limits a check to one call a second. Each check writes to disk, and anyone may request it.
func throttle(ask func(context.Context) error) func(context.Context) error {
	var mu sync.Mutex
	var askedAt time.Time
	var last error
	return func(ctx context.Context) error {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(askedAt) > time.Second {
			last, askedAt = ask(context.WithoutCancel(ctx)), time.Now()
		}
		return last
	}
}

// publicDSN returns a data source without its password.
func publicDSN(dsn string) string {
	if u, err := url.Parse(dsn); err == nil && u.User != nil {
		return u.Redacted()
	}
	return dsn
}

// secretKey is the name of the key of masks in the store.
const secretKey = "mask"

func (p *components) masker(ctx context.Context) (*mask.Masker, error) {
	key, err := p.store.Secret(ctx, secretKey)
	if err != nil {
		return nil, err
	}
	return mask.New(mask.Settings{Disabled: p.config.Mask.Disabled, Patterns: p.config.Mask.Patterns, Key: key})
}
