package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/config"
	"github.com/unloop-ai/unloop/internal/sink"
	"github.com/unloop-ai/unloop/internal/sink/langfuse"
	"github.com/unloop-ai/unloop/internal/sink/otlp"
	"github.com/unloop-ai/unloop/internal/sink/webhook"
)

// makeAlerts makes the webhooks of the configuration, those that people set up, and the other targets of notices.
func (p *components) makeAlerts(ctx context.Context) error {
	o := webhook.Options{URL: p.config.URL, Version: p.version}
	if o.URL == "" {
		o.URL = "http://" + p.config.Addr
	}
	// Without tokens only this machine reaches the server. Its users can reach all addresses without the server, too.
	common := o
	common.PublicOnly = len(p.config.Tokens) > 0
	for _, w := range p.config.Webhooks {
		o.Endpoints = append(o.Endpoints, webhook.Endpoint{
			URL: w.URL, Format: w.Format, Secret: w.Secret, Rules: w.Rules, Severity: unloop.Severity(w.Severity),
			Projects: w.Projects, Timeout: time.Duration(w.Timeout),
		})
	}
	targets, err := webhook.Targets(o)
	if err != nil {
		return err
	}
	others, err := p.otherTargets(o.URL)
	if err != nil {
		return err
	}
	p.alerts = &alerts{store: p.store, sink: sink.New(slices.Concat(targets, others), p.store, p.name, p.log), common: common, known: make(map[int64]string)}
	for i := range targets {
		p.alerts.file = append(p.alerts.file, fileAlert{o.Endpoints[i], targets[i]})
	}
	return p.alerts.load(ctx)
}

// adoptEvery is the pause between two looks for notices of servers that were killed.
const adoptEvery = time.Second

// adoptNotices takes the due notices of servers of the cluster that have ended, until the context ends.
func (p *components) adoptNotices(ctx context.Context) error {
	if p.cluster == nil || !p.config.Cluster.Has(config.RoleWork) {
		return nil
	}
	tick := time.NewTicker(adoptEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
		adopted, err := p.store.AdoptNotices(ctx, p.name)
		if err != nil && ctx.Err() == nil {
			p.log.Warn("looking for the notices of servers that have ended failed", "error", err)
		}
		if adopted > 0 {
			p.alerts.sink.Wake()
		}
	}
}

// otherTargets returns the targets besides webhooks.
func (p *components) otherTargets(url string) (all []sink.Target, err error) {
	if p.config.OTLPExport.Endpoint != "" {
		target, err := p.otlpTarget(url)
		if err != nil {
			return nil, fmt.Errorf("otlp_export: %w", err)
		}
		all = append(all, target)
	}
	if p.config.Langfuse.Endpoint != "" {
		target, err := p.langfuseTarget()
		if err != nil {
			return nil, fmt.Errorf("langfuse: %w", err)
		}
		all = append(all, target)
	}
	return all, nil
}

func (p *components) otlpTarget(url string) (sink.Target, error) {
	export := &p.config.OTLPExport
	o := otlp.Options{Endpoint: export.Endpoint, Protocol: export.Protocol, URL: url, Version: p.version, SpanOf: p.spanOf}
	if export.HeadersEnv != "" {
		text := os.Getenv(export.HeadersEnv)
		if text == "" {
			return sink.Target{}, fmt.Errorf("the environment variable %s of headers_env is not set", export.HeadersEnv)
		}
		var err error
		if o.Headers, err = otlp.ParseHeaders(text); err != nil {
			return sink.Target{}, fmt.Errorf("the environment variable %s of headers_env: %w", export.HeadersEnv, err)
		}
	}
	return otlp.Target(o)
}

func (p *components) langfuseTarget() (sink.Target, error) {
	project := &p.config.Langfuse
	if project.PublicKey == "" || project.SecretKeyEnv == "" {
		return sink.Target{}, errors.New("public_key and secret_key_env must not be empty with an endpoint")
	}
	secret := os.Getenv(project.SecretKeyEnv)
	if secret == "" {
		return sink.Target{}, fmt.Errorf("the environment variable %s of secret_key_env is not set", project.SecretKeyEnv)
	}
	return langfuse.Target(langfuse.Options{Endpoint: project.Endpoint, PublicKey: project.PublicKey, SecretKey: secret, Version: p.version, SpanOf: p.spanOf})
}

// spanOf returns the span that an event came as. It is zero for other events, and if the run or the event was deleted.
func (p *components) spanOf(ctx context.Context, run, event string) (sink.Span, error) {
	row, err := p.store.Run(ctx, run)
	if err != nil || row == nil {
		return sink.Span{}, err
	}
	events, err := p.store.EventsOf(ctx, row.Number, []string{event})
	if err != nil || len(events) == 0 {
		return sink.Span{}, err
	}
	var ids struct {
		TraceID string `json:"trace_id"`
		SpanID  string `json:"span_id"`
	}
	if err := json.Unmarshal(events[0].Body, &ids); err != nil {
		return sink.Span{}, fmt.Errorf("read the span of event %s: %w", event, err)
	}
	return sink.Span(ids), nil
}
