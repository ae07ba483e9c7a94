package grpcd

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

var (
	errBusy   = errors.New("busy")
	errClosed = errors.New("closed")
)

// recorder is a receiver that remembers the names of spans and the texts of records.
type recorder struct {
	mu       sync.Mutex
	spans    []string
	records  []string
	answers  []error // to the calls, in order; nil after them
	rejected int
	reason   string
	enter    chan struct{} // if not nil, is told of each call
	hold     chan struct{} // if not nil, calls wait for it or their end
}

func (r *recorder) next() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.answers) == 0 {
		return nil
	}
	err := r.answers[0]
	r.answers = r.answers[1:]
	return err
}

func (r *recorder) wait(ctx context.Context) error {
	if r.enter != nil {
		r.enter <- struct{}{}
	}
	if r.hold == nil {
		return nil
	}
	select {
	case <-r.hold:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *recorder) Traces(ctx context.Context, td ptrace.Traces) (int, string, error) {
	if err := errors.Join(r.wait(ctx), r.next()); err != nil {
		return 0, "", err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, s := range ss.Spans().All() {
				if s.Name() == "panic" {
					panic("the secret of a user")
				}
				r.spans = append(r.spans, s.Name())
			}
		}
	}
	return r.rejected, r.reason, nil
}

func (r *recorder) Logs(ctx context.Context, ld plog.Logs) (int, string, error) {
	if err := errors.Join(r.wait(ctx), r.next()); err != nil {
		return 0, "", err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, rl := range ld.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, l := range sl.LogRecords().All() {
				r.records = append(r.records, l.Body().AsString())
			}
		}
	}
	return r.rejected, r.reason, nil
}

// options are the defaults with the errors of the recorder.
func options() Options {
	o := DefaultOptions()
	o.Busy, o.Closed = errBusy, errClosed
	return o
}

// rig is a server and a connection to it.
type rig struct {
	*Server
	conn *grpc.ClientConn
	addr string
	log  *syncedText
}

// syncedText is a log.
type syncedText struct {
	mu sync.Mutex
	strings.Builder
}

func (s *syncedText) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Builder.Write(p)
}

func (s *syncedText) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Builder.String()
}

func start(t *testing.T, r Receiver, o Options) *rig {
	t.Helper()
	text := &syncedText{}
	s, err := New(r, o, slog.New(slog.NewTextHandler(text, nil)))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	conn := dial(t, l.Addr().String())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = s.Shutdown(ctx) // a test that is about it asks itself
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return &rig{Server: s, conn: conn, addr: l.Addr().String(), log: text}
}

func dial(t *testing.T, addr string) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// send sends spans of these names.
func (r *rig) send(ctx context.Context, names ...string) (ptraceotlp.ExportResponse, error) {
	td := ptrace.NewTraces()
	spans := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
	for _, name := range names {
		spans.AppendEmpty().SetName(name)
	}
	return ptraceotlp.NewGRPCClient(r.conn).Export(ctx, ptraceotlp.NewExportRequestFromTraces(td))
}

// sendRaw sends bytes, as whoever writes no OTLP does.
func (r *rig) sendRaw(ctx context.Context, message []byte, o ...grpc.CallOption) error {
	const method = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
	var answer any
	return r.conn.Invoke(ctx, method, message, &answer, append(o, grpc.ForceCodecV2(rawClient{}))...)
}

func TestTracesAndLogsArriveAndAreAnswered(t *testing.T) {
	to := &recorder{}
	r := start(t, to, options())
	answer, err := r.send(t.Context(), "a", "b")
	if err != nil {
		t.Fatal(err)
	}
	if n, m := answer.PartialSuccess().RejectedSpans(), answer.PartialSuccess().ErrorMessage(); n != 0 || m != "" {
		t.Errorf("rejected %d: %q", n, m)
	}
	ld := plog.NewLogs()
	ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().Body().SetStr("c")
	if _, err := plogotlp.NewGRPCClient(r.conn).Export(t.Context(), plogotlp.NewExportRequestFromLogs(ld)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]string{{"a", "b"}, {"c"}}, [][]string{to.spans, to.records}); diff != "" {
		t.Errorf("received (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Stats{Calls: 2}, r.Stats()); diff != "" {
		t.Errorf("stats (-want +got):\n%s", diff)
	}
}

func TestRejectedDataIsReportedWithTheReason(t *testing.T) {
	r := start(t, &recorder{rejected: 2, reason: "spans without a trace id"}, options())
	traces, err := r.send(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if p := traces.PartialSuccess(); p.RejectedSpans() != 2 || p.ErrorMessage() != "spans without a trace id" {
		t.Errorf("traces: %d, %q", p.RejectedSpans(), p.ErrorMessage())
	}
	logs, err := plogotlp.NewGRPCClient(r.conn).Export(t.Context(), plogotlp.NewExportRequest())
	if err != nil {
		t.Fatal(err)
	}
	if p := logs.PartialSuccess(); p.RejectedLogRecords() != 2 || p.ErrorMessage() != "spans without a trace id" {
		t.Errorf("logs: %d, %q", p.RejectedLogRecords(), p.ErrorMessage())
	}
}

func TestErrorsHaveTheirCodes(t *testing.T) {
	for _, c := range []struct {
		what  string
		err   error
		code  codes.Code
		again time.Duration
	}{
		{"busy", errBusy, codes.ResourceExhausted, time.Second},
		{"busy, wrapped", errors.Join(errors.New("run r"), errBusy), codes.ResourceExhausted, time.Second},
		{"closed", errClosed, codes.Unavailable, 0},
		{"the sender went away", context.Canceled, codes.Canceled, 0},
		{"a timeout", context.DeadlineExceeded, codes.DeadlineExceeded, 0},
		{"an error of the store", errors.New("the disk that says secret is full"), codes.Unavailable, 0},
	} {
		t.Run(c.what, func(t *testing.T) {
			r := start(t, &recorder{answers: []error{c.err}}, options())
			_, err := r.send(t.Context(), "a")
			told := status.Convert(err)
			if told.Code() != c.code {
				t.Errorf("code %s, want %s", told.Code(), c.code)
			}
			if strings.Contains(told.Message(), "secret") {
				t.Errorf("message: %s", told.Message())
			}
			if again := retryDelay(told); again != c.again {
				t.Errorf("again after %s, want %s", again, c.again)
			}
			if diff := cmp.Diff(Stats{Calls: 1, Refused: 1}, r.Stats()); diff != "" {
				t.Errorf("stats (-want +got):\n%s", diff)
			}
		})
	}
}

// retryDelay returns when a status asks to be tried again; 0 for never.
func retryDelay(s *status.Status) time.Duration {
	for _, d := range s.Details() {
		if info, ok := d.(*errdetails.RetryInfo); ok {
			return info.GetRetryDelay().AsDuration()
		}
	}
	return 0
}

func TestATokenIsRequiredIfConfigured(t *testing.T) {
	o := options()
	o.Authorize = func(token string) bool { return token == "sesame" }
	to := &recorder{}
	r := start(t, to, o)
	for _, c := range []struct {
		what   string
		values []string
		want   codes.Code
	}{
		{"the token", []string{"Bearer sesame"}, codes.OK},
		{"the token, the scheme in small letters", []string{"bearer sesame"}, codes.OK},
		{"no token", nil, codes.Unauthenticated},
		{"another", []string{"Bearer simsim"}, codes.Unauthenticated},
		{"another scheme", []string{"Basic sesame"}, codes.Unauthenticated},
		{"no scheme", []string{"sesame"}, codes.Unauthenticated},
		{"two", []string{"Bearer sesame", "Bearer simsim"}, codes.Unauthenticated},
	} {
		ctx := t.Context()
		for _, v := range c.values {
			ctx = metadata.AppendToOutgoingContext(ctx, "authorization", v)
		}
		if _, err := r.send(ctx, c.what); status.Code(err) != c.want {
			t.Errorf("%s: %v, want %s", c.what, err, c.want)
		}
	}
	if diff := cmp.Diff([]string{"the token", "the token, the scheme in small letters"}, to.spans); diff != "" {
		t.Errorf("received (-want +got):\n%s", diff)
	}
}

func TestTheServerReadsNoMessageWithoutAToken(t *testing.T) {
	o := options()
	o.Authorize = func(string) bool { return false }
	r := start(t, &recorder{}, o)
	// The stream is refused while it is open, before anything but its metadata was sent.
	desc := &grpc.StreamDesc{StreamName: "Export", ClientStreams: true}
	stream, err := r.conn.NewStream(t.Context(), desc, "/opentelemetry.proto.collector.trace.v1.TraceService/Export")
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.RecvMsg(nil); status.Code(err) != codes.Unauthenticated {
		t.Errorf("answered %v", err)
	}
}

func TestAPanicEndsOnlyItsCall(t *testing.T) {
	to := &recorder{}
	r := start(t, to, options())
	_, err := r.send(t.Context(), "panic")
	if status.Code(err) != codes.Internal {
		t.Errorf("answered %v", err)
	}
	if _, err := r.send(t.Context(), "next"); err != nil {
		t.Errorf("the next call: %v", err)
	}
	if text := r.log.String(); !strings.Contains(text, "panicked") || strings.Contains(text, "secret of a user") {
		t.Errorf("logged: %s", text)
	}
	if diff := cmp.Diff(Stats{Calls: 2, Refused: 1, Panics: 1}, r.Stats()); diff != "" {
		t.Errorf("stats (-want +got):\n%s", diff)
	}
}

func TestOptionsReportAllErrors(t *testing.T) {
	o := Options{Message: 1}
	err := o.Validate()
	if err == nil {
		t.Fatal("no mistakes")
	}
	for _, name := range []string{"busy", "message", "memory", "calls", "connections", "timeout"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("no error for %s: %v", name, err)
		}
	}
	if _, err := New(&recorder{}, o, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a server with these options")
	}
}
