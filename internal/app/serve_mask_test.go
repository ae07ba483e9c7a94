package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/trace"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/client"
	"github.com/unloop-ai/unloop/internal/config"
	"github.com/unloop-ai/unloop/internal/scan"
)

// canary is a secret, put together so that no scanner takes it for a real one; canaryTail is the part of it that is searched for.
const (
	canaryTail = "c4n4ryC4N4RYc4n4ryC4N4RYc4n4ry"
	canary     = "gh" + "p_abcdef" + canaryTail
)

// canaryServer is a server of which all that leaves it is kept.
type canaryServer struct {
	Addresses
	db   string
	stop func()

	mu        sync.Mutex
	collected map[string]*bytes.Buffer
	told      chan struct{} // by webhooks; holds one
	streams   sync.WaitGroup
}

func (s *canaryServer) collect(what string) io.Writer {
	return writerFunc(func(p []byte) (int, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.collected[what] == nil {
			s.collected[what] = new(bytes.Buffer)
		}
		return s.collected[what].Write(p)
	})
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func serveCanary(t *testing.T) *canaryServer {
	t.Helper()
	s := &canaryServer{db: filepath.Join(t.TempDir(), "test.db"), collected: make(map[string]*bytes.Buffer), told: make(chan struct{}, 1)}
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		what := "webhooks"
		switch r.URL.Path {
		case "/v1/logs":
			what = "OTLP export"
		case "/api/public/scores":
			what = "scores"
		}
		if _, err := io.Copy(s.collect(what), r.Body); err != nil {
			t.Error(err)
		}
		select {
		case s.told <- struct{}{}:
		default:
		}
	}))
	t.Cleanup(hook.Close)
	c := config.Default()
	c.Addr, c.GRPCAddr, c.DB = "127.0.0.1:0", "127.0.0.1:0", s.db
	c.Webhooks = []config.Webhook{{URL: hook.URL, Format: "json", Severity: "info", Timeout: config.Duration(grace)}}
	c.OTLPExport.Endpoint = hook.URL
	t.Setenv("LANGFUSE_SECRET_KEY", "sesame")
	c.Langfuse = config.Langfuse{Endpoint: hook.URL, PublicKey: "pk", SecretKeyEnv: "LANGFUSE_SECRET_KEY"}
	ready := make(chan Addresses, 1)
	ctx, stop := context.WithCancel(context.Background())
	log := slog.New(slog.NewJSONHandler(s.collect("log"), &slog.HandlerOptions{Level: slog.LevelDebug}))
	server := Serve{Config: c, Version: "test", Log: log, Ready: func(a Addresses) { ready <- a }}
	serving := begin(func() error { return server.Run(ctx) })
	s.stop = sync.OnceFunc(func() {
		stop()
		if err := serving.wait(); err != nil {
			t.Error(err)
		}
		s.streams.Wait()
	})
	t.Cleanup(s.stop)
	select {
	case s.Addresses = <-ready:
	case <-serving.done:
		t.Fatal(serving.err)
	}
	return s
}

// follow keeps what a stream tells until the server ends.
func (s *canaryServer) follow(t *testing.T, path string) {
	t.Helper()
	answer, err := http.Get(s.URL + path)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal(answer, err)
	}
	s.streams.Go(func() {
		defer answer.Body.Close()
		_, _ = io.Copy(s.collect("stream "+path), answer.Body) // until it is cut
	})
}

// TestASecretInAnyFieldIsMasked sends a secret in every field of every way in, and then looks for it in all that the server keeps
// or tells.
func TestASecretInAnyFieldIsMasked(t *testing.T) {
	s := serveCanary(t)
	run := "run " + canary
	s.follow(t, "/api/stream")
	s.follow(t, "/api/runs/"+url.PathEscape(run)+"/stream")
	s.sendEvents(t, run)
	s.sendImport(t)
	s.sendTraces(t)
	s.sendLogs(t)
	s.askGuard(t, run)
	<-s.told

	var recorded struct {
		ID    string
		Count int `json:"event_count"`
	}
	unmarshal(t, get(t, s.URL+"/api/runs/"+url.PathEscape(run)), &recorded) // by the id that it was sent with
	if recorded.Count != 41 || !strings.HasPrefix(recorded.ID, "masked-") {
		t.Errorf("the run is %+v, want 41 events under a masked id", recorded)
	}
	for _, path := range []string{"/api/runs?limit=200", "/api/runs/" + recorded.ID + "/events?limit=500", "/api/runs/" + recorded.ID + "/warnings", "/metrics", "/api/overview"} {
		_, _ = s.collect("GET " + path).Write(get(t, s.URL+path))
	}
	s.stop()
	files, err := filepath.Glob(s.db + "*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = s.collect("file " + filepath.Base(file)).Write(text)
	}
	s.mustHoldNone(t)
}

func (s *canaryServer) mustHoldNone(t *testing.T) {
	t.Helper()
	for what, text := range s.collected {
		if at := bytes.Index(text.Bytes(), []byte(canaryTail)); at >= 0 {
			t.Errorf("%s holds the secret: %q", what, text.Bytes()[max(0, at-300):at+len(canaryTail)])
		}
	}
	for _, what := range []string{"webhooks", "OTLP export", "scores", "stream /api/stream", "file test.db"} {
		if text := s.collected[what]; text == nil || !strings.Contains(text.String(), "[masked ") {
			t.Errorf("%s contains no mask, so the test checks nothing", what)
		}
	}
}

// canaryEvent has the secret in every field.
func canaryEvent(run string, n int, kind string) map[string]any {
	return map[string]any{
		"event_id": fmt.Sprint("event ", n, canary), "run_id": run, "type": kind, "agent": "agent " + canary, "name": "name " + canary,
		"status": "status " + canary, "model": "model " + canary, "tool": "tool " + canary, "call_id": fmt.Sprint("call ", n/2, canary),
		"role": "role " + canary, "text": "text " + canary, "project": "project " + canary, "input": map[string]any{"key " + canary: canary},
		"output": canary, "error": "error " + canary, "metadata": map[string]any{"note": []any{"x\n" + canary}},
		"parent_event_id": "parent " + canary, "span_id": "span " + canary, "trace_id": "trace " + canary,
	}
}

func (s *canaryServer) sendEvents(t *testing.T, run string) {
	t.Helper()
	announced := map[string]any{"id": run, "name": "name " + canary, "project": "project " + canary, "metadata": map[string]any{canary: canary}}
	send := func(path string, v any) {
		body, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = s.collect("answer to " + path).Write(post(t, s.URL+path, "application/json", body))
	}
	send("/api/runs", announced)
	send("/api/events", canaryEvent(run, 1000, "run_started"))
	var events []any
	for n := range 20 {
		started, failed := canaryEvent(run, 2*n, "tool_call_started"), canaryEvent(run, 2*n+1, "tool_call_failed")
		delete(started, "output")
		events = append(events, started, failed)
	}
	send("/api/events", events)
	send("/api/events", canaryEvent("run 2 "+canary, 1, "type "+canary))
}

// sendImport sends a file as the command import does.
func (s *canaryServer) sendImport(t *testing.T) {
	t.Helper()
	line, err := json.Marshal(canaryEvent("imported "+canary, 1, "tool_call_completed"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "run.jsonl")
	if err := os.WriteFile(file, append(line, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(s.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	sender := c.NewSender()
	feed := scan.Importer{Take: func(e *unloop.Event, project string) error { return sender.AddTo(t.Context(), e, project) }, Warn: func(err error) { t.Error(err) }}
	if fed, err := feed.Run(t.Context(), []string{file}); err != nil || fed.Events == 0 {
		t.Fatal(fed, err)
	}
	if err := sender.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (s *canaryServer) sendTraces(t *testing.T) {
	t.Helper()
	for _, exporter := range []*sent{overHTTP(t, s.Addresses), overGRPC(t, s.Addresses)} {
		for _, d := range dialects() {
			p := exporter.provider(t, "service "+canary, 8)
			tracer := p.Tracer("scope " + canary)
			title, attributes := d.agent("agent " + canary)
			ctx, agent := start(t, tracer, title, attributes)
			title, attributes = d.tool(playedStep{tool: "tool " + canary, input: `{"a":"` + canary + `"}`, output: canary}, "call "+canary)
			_, tool := tracer.Start(ctx, title, trace.WithAttributes(append(attributes, attribute.String("graph.node.id", canary))...))
			tool.SetStatus(codes.Error, "failed "+canary)
			tool.RecordError(fmt.Errorf("failed %s", canary))
			tool.End()
			title, attributes = d.model()
			said := `[{"role":"user","content":"ask ` + canary + `"}]`
			_, model := tracer.Start(ctx, title, trace.WithAttributes(append(attributes, attribute.String("gen_ai.input.messages", said),
				attribute.String("gen_ai.output.messages", strings.ReplaceAll(said, "user", "assistant")))...))
			model.End()
			agent.End()
			if exporter.flush(t, p) == 0 {
				t.Error("nothing was sent")
			}
		}
	}
}

func start(t *testing.T, tracer trace.Tracer, title string, attributes []attribute.KeyValue) (context.Context, trace.Span) {
	t.Helper()
	attributes = append(attributes, attribute.String("gen_ai.conversation.id", "session "+canary), attribute.String("session.id", "session "+canary))
	return tracer.Start(t.Context(), title, trace.WithAttributes(attributes...))
}

func (s *canaryServer) sendLogs(t *testing.T) {
	t.Helper()
	web, err := otlploghttp.New(t.Context(), otlploghttp.WithEndpointURL(s.URL+"/v1/logs"))
	if err != nil {
		t.Fatal(err)
	}
	rpc, err := otlploggrpc.New(t.Context(), otlploggrpc.WithEndpoint(s.GRPC), otlploggrpc.WithInsecure())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []sdklog.Exporter{web, rpc} {
		exporter := &sentLogs{Exporter: e}
		p := sdklog.NewLoggerProvider(sdklog.WithResource(service("claude-code "+canary)), sdklog.WithProcessor(sdklog.NewSimpleProcessor(exporter)))
		session := codingSession{logger: p.Logger("com.anthropic.claude_code.events")}
		text := attribute.String
		session.record(t, "tool_result", text("tool_name", "tool "+canary), text("tool_use_id", "toolu "+canary), text("success", "false"),
			text("error", "error "+canary), text("tool_input", `{"a":"`+canary+`"}`), text("session.id", "session "+canary))
		session.record(t, "user_prompt", text("prompt", "prompt "+canary), text("session.id", "session "+canary))
		session.record(t, "api_request", text("model", "model "+canary), text("request_id", "request "+canary))
		if err := p.Shutdown(t.Context()); err != nil || exporter.count(t) == 0 {
			t.Fatal(err)
		}
	}
}

// askGuard asks the guard, which answers the asker alone: what it is told must not get anywhere else.
func (s *canaryServer) askGuard(t *testing.T, run string) {
	t.Helper()
	for range 8 {
		askOne(t, s.URL+"/api/guard", map[string]any{"op": "before", "run": run, "tool": "tool " + canary, "args": map[string]any{"a": canary}})
		askOne(t, s.URL+"/api/guard", map[string]any{"op": "after", "run": run, "tool": "tool " + canary, "args": map[string]any{"a": canary}, "error": canary})
	}
}
