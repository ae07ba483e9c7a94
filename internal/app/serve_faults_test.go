package app

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/unloop-ai/unloop/internal/config"
	"github.com/unloop-ai/unloop/internal/store/storetest/postgres"
)

func TestAServerWhoseDatabaseFileIsDeletedAcknowledgesNothing(t *testing.T) {
	db := filepath.Join(t.TempDir(), "test.db")
	url := serve(t, func(c *config.Config) { c.DB = db })
	post(t, url+"/api/events", "application/json", []byte(`{"event_id":"1","run_id":"r","type":"x"}`))
	get(t, url+"/api/runs/r/events") // a connection that reads is open
	if err := os.Remove(db); err != nil {
		t.Fatal(err)
	}
	if status, said := answered(t, http.MethodPost, url+"/api/events", `{"event_id":"2","run_id":"r","type":"x"}`); status != http.StatusServiceUnavailable {
		t.Errorf("the response to an event is %d %s", status, said)
	}
	if status, said := answered(t, http.MethodGet, url+"/api/health", ""); status != http.StatusServiceUnavailable || !strings.Contains(said, "deleted or replaced") {
		t.Errorf("health: %d %s", status, said)
	}
	eventually(t, time.Minute, "the recorded events cannot be read", func() bool { // the server itself may use the connection
		status, _ := answered(t, http.MethodGet, url+"/api/runs/r/events", "")
		return status == http.StatusOK
	})
}

// withTokens has a server want tokens: "sender", which may send, and "reader", which may read. One hash is in upper case.
func withTokens(c *config.Config) {
	c.Tokens = []config.Token{
		{Name: "ci", Scope: "ingest", SHA256: strings.ToUpper(config.HashToken("sender"))},
		{Name: "ui", Scope: "read", SHA256: config.HashToken("reader")},
	}
}

func TestHealthGivesReasonsOnlyWithATokenForReading(t *testing.T) {
	db := postgres.Database(t)
	url := serve(t, func(c *config.Config) {
		withTokens(c)
		c.DB = db
	})
	postgres.Exec(t, db, "ALTER TABLE settings RENAME TO elsewhere")
	defer postgres.Exec(t, db, "ALTER TABLE elsewhere RENAME TO settings")
	for token, tells := range map[string]bool{"": false, "wrong": false, "sender": false, "reader": true} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/api/health", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		_, err = said.ReadFrom(answer.Body)
		_ = answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusServiceUnavailable || strings.Contains(said.String(), "settings") != tells {
			t.Errorf("the response to token %q is %s %s, error %v", token, answer.Status, said.String(), err)
		}
	}
}

// export sends a span over gRPC, with a token, and reports whether the server took it.
func export(t *testing.T, addr, token string) bool {
	t.Helper()
	e, err := otlptracegrpc.New(t.Context(), otlptracegrpc.WithEndpoint(addr), otlptracegrpc.WithInsecure(),
		otlptracegrpc.WithHeaders(map[string]string{"authorization": "Bearer " + token}))
	if err != nil {
		t.Fatal(err)
	}
	span := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1}})
	err = e.ExportSpans(t.Context(), tracetest.SpanStubs{{Name: "chat", SpanContext: span}}.Snapshots())
	if err != nil && !strings.Contains(err.Error(), "missing or unknown token") {
		t.Errorf("token %q over gRPC: %v", token, err)
	}
	if err := e.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	return err == nil
}

func TestHTTPAndGRPCTakeTheSameTokens(t *testing.T) {
	a := serveAt(t, withTokens)
	for token, want := range map[string]bool{"wrong": false, "reader": false, "sender": true} {
		if taken := export(t, a.GRPC, token); taken != want {
			t.Errorf("token %q over gRPC: accepted is %v", token, taken)
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.URL+"/v1/traces", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if taken := answer.StatusCode == http.StatusOK; taken != want {
			t.Errorf("token %q over HTTP: %s", token, answer.Status)
		}
	}
}

func TestATakenPortForGRPCIsAnErrorOnlyIfItIsConfigured(t *testing.T) {
	collector, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer collector.Close()
	c := config.Default()
	c.Addr, c.GRPCAddr, c.DB = "127.0.0.1:0", collector.Addr().String(), filepath.Join(t.TempDir(), "test.db")
	asked := Serve{Config: c, Log: slog.New(slog.DiscardHandler)}
	if err := asked.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "--grpc-addr sets another address") {
		t.Errorf("with a configured port the error is %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var log bytes.Buffer
	ready := make(chan Addresses, 1)
	optional := Serve{Config: c, GRPCOptional: true, Log: slog.New(slog.NewTextHandler(&log, nil)), Ready: func(a Addresses) { ready <- a }}
	serving := begin(func() error { return optional.Run(ctx) })
	select {
	case a := <-ready:
		if said := string(get(t, a.URL+"/api/health")); !strings.Contains(said, `"grpc":"taken"`) || a.GRPC != "" {
			t.Errorf("health is %s, the address of gRPC is %q", said, a.GRPC)
		}
	case <-serving.done:
	}
	stop()
	if err := serving.wait(); err != nil || !strings.Contains(log.String(), "OTLP over gRPC is off") {
		t.Errorf("error %v, the log is %s", err, log.String())
	}
}
