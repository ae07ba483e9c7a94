package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/sink"
	"github.com/unloop-ai/unloop/internal/sink/langfuse"
	"github.com/unloop-ai/unloop/internal/sink/otlp"
	"github.com/unloop-ai/unloop/internal/sink/webhook"
)

// makeNotices returns nil without targets.
func (p *components) makeNotices() (*sink.Sink, error) {
	url := p.config.URL
	if url == "" {
		url = "http://" + p.config.Addr
	}
	o := webhook.Options{URL: url, Version: p.version}
	for _, w := range p.config.Webhooks {
		o.Endpoints = append(o.Endpoints, webhook.Endpoint{
			URL: w.URL, Format: w.Format, Secret: w.Secret, Rules: w.Rules, Severity: unloop.Severity(w.Severity),
			Projects: w.Projects, Timeout: time.Duration(w.Timeout),
		})
	}
	targets, err := webhook.Targets(o)
	if err != nil {
		return nil, err
	}
	if p.config.OTLPExport.Endpoint != "" {
		target, err := p.otlpTarget(url)
		if err != nil {
			return nil, fmt.Errorf("otlp_export: %w", err)
		}
		targets = append(targets, target)
	}
	if p.config.Langfuse.Endpoint != "" {
		target, err := p.langfuseTarget()
		if err != nil {
			return nil, fmt.Errorf("langfuse: %w", err)
		}
		targets = append(targets, target)
	}
	if len(targets) == 0 {
		return nil, nil
	}
	return sink.New(targets, p.store, p.log), nil
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
