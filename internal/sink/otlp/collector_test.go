package otlp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// collector receives log records and spans over HTTP and gRPC.
type collector struct {
	plogotlp.UnimplementedGRPCServer
	got      chan plog.Logs // holds more than a test sends
	gotSpans chan ptrace.Traces
	status   int    // of answers over HTTP; 0 for 200
	after    string // header Retry-After
	err      error  // of answers over gRPC
	rejected int64  // records or spans, in the answer
}

// spanCollector is a collector as the service for spans of gRPC.
type spanCollector struct {
	ptraceotlp.UnimplementedGRPCServer
	*collector
}

const authorization = "Bearer sesame, and more"

func check(authorized string) error {
	if authorized != authorization {
		return status.Error(codes.Unauthenticated, "wrong header "+authorized)
	}
	return nil
}

func (c *collector) answerLogs(request plogotlp.ExportRequest) plogotlp.ExportResponse {
	answer := plogotlp.NewExportResponse()
	c.got <- request.Logs()
	if c.rejected > 0 {
		answer.PartialSuccess().SetRejectedLogRecords(c.rejected)
		answer.PartialSuccess().SetErrorMessage("too old")
	}
	return answer
}

func (c *collector) answerSpans(request ptraceotlp.ExportRequest) ptraceotlp.ExportResponse {
	answer := ptraceotlp.NewExportResponse()
	c.gotSpans <- request.Traces()
	if c.rejected > 0 {
		answer.PartialSuccess().SetRejectedSpans(c.rejected)
		answer.PartialSuccess().SetErrorMessage("too old")
	}
	return answer
}

func authorizationOf(ctx context.Context) string {
	return strings.Join(metadata.ValueFromIncomingContext(ctx, "authorization"), "|")
}

func (c *collector) Export(ctx context.Context, request plogotlp.ExportRequest) (plogotlp.ExportResponse, error) {
	if err := check(authorizationOf(ctx)); err != nil {
		return plogotlp.NewExportResponse(), err
	}
	return c.answerLogs(request), c.err
}

func (c *spanCollector) Export(ctx context.Context, request ptraceotlp.ExportRequest) (ptraceotlp.ExportResponse, error) {
	if err := check(authorizationOf(ctx)); err != nil {
		return ptraceotlp.NewExportResponse(), err
	}
	return c.answerSpans(request), c.err
}

// receive reads a request, and returns the answer in protobuf.
func (c *collector) receive(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Header.Get("Content-Type") != "application/x-protobuf" {
		return nil, fmt.Errorf("content type %q, error %w", r.Header.Get("Content-Type"), err)
	}
	switch r.URL.Path {
	case "/base/v1/logs":
		request := plogotlp.NewExportRequest()
		if err := request.UnmarshalProto(body); err != nil {
			return nil, err
		}
		return c.answerLogs(request).MarshalProto()
	case "/base/v1/traces":
		request := ptraceotlp.NewExportRequest()
		if err := request.UnmarshalProto(body); err != nil {
			return nil, err
		}
		return c.answerSpans(request).MarshalProto()
	}
	return nil, errors.New("wrong path " + r.URL.Path)
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	err := check(r.Header.Get("Authorization"))
	var text []byte
	if err == nil {
		text, err = c.receive(r)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if c.status == 0 {
		_, _ = w.Write(text) // the client notices a lost answer
		return
	}
	w.Header().Set("Retry-After", c.after)
	w.WriteHeader(c.status)
}

// serve starts the collector and returns its endpoint.
func (c *collector) serve(t *testing.T, protocol string) string {
	t.Helper()
	c.got, c.gotSpans = make(chan plog.Logs, 10), make(chan ptrace.Traces, 10)
	if protocol == HTTP {
		server := httptest.NewServer(c)
		t.Cleanup(server.Close)
		return server.URL + "/base/"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	plogotlp.RegisterGRPCServer(server, c)
	ptraceotlp.RegisterGRPCServer(server, &spanCollector{collector: c})
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return "http://" + listener.Addr().String()
}
