// Package grpcd receives OTLP traces and logs over gRPC from exporters of OpenTelemetry and passes them to a Receiver, which
// records them. A call succeeds when its data is recorded. Otherwise its code says whether the exporter should retry.
//
// A message is measured before it is decoded, because decoding is recursive and can need a hundred times the memory of the
// message: see otlp.MeasureTraces.
package grpcd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"golang.org/x/time/rate"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	_ "google.golang.org/grpc/encoding/gzip" // the compression that every exporter supports
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/tap"

	"github.com/unloop-ai/unloop/internal/connlimit"
	"github.com/unloop-ai/unloop/internal/memory"
)

// Receiver records telemetry. It returns when the data is recorded, with the number of rejected spans or records and the reason.
// An error means that nothing was recorded. It must be safe for concurrent use.
type Receiver interface {
	Traces(ctx context.Context, td ptrace.Traces) (rejected int, reason string, err error)
	Logs(ctx context.Context, ld plog.Logs) (rejected int, reason string, err error)
}

// Options are the bounds of a server.
type Options struct {
	// Authorize reports whether the holder of a bearer token may send; "" is no token. Nil allows everything.
	Authorize func(token string) bool

	Busy   error // error of the Receiver that is worth a retry after a second
	Closed error // error of the Receiver after it was closed

	Message     int           // maximum bytes of a decompressed message
	Memory      int64         // maximum bytes of all messages in progress: half of it as sent, half as decoded
	Calls       int           // maximum number at once, a quarter of them for one connection
	Connections int           // maximum number at once, a quarter of them for unproven connections (see Silence)
	Silence     time.Duration // maximum time of a connection without a token, or without a complete message if there are no tokens
	Timeout     time.Duration // maximum time of a call, from its first byte to its answer
}

// DefaultOptions returns limits for one machine. The caller sets Busy and Closed.
func DefaultOptions() Options {
	return Options{Message: 16 << 20, Memory: 512 << 20, Calls: 64, Connections: 256, Silence: 10 * time.Second, Timeout: 30 * time.Second}
}

// Validate returns all errors of the options.
func (o *Options) Validate() error {
	var mistakes []error
	mistake := func(wrong bool, format string, args ...any) {
		if wrong {
			mistakes = append(mistakes, fmt.Errorf(format, args...))
		}
	}
	mistake(o.Busy == nil || o.Closed == nil, "busy and closed must be errors")
	mistake(o.Message < 1<<10 || o.Message > 1<<30, "message must be from 1 KiB to 1 GiB, not %d bytes", o.Message)
	mistake(o.Memory < 2*int64(o.Message), "memory must be twice the message at least, not %d bytes", o.Memory)
	mistake(o.Calls < 1 || o.Calls > 1<<16, "calls must be from 1 to %d, not %d", 1<<16, o.Calls)
	mistake(o.Connections < 1 || o.Connections > 1<<16, "connections must be from 1 to %d, not %d", 1<<16, o.Connections)
	mistake(o.Silence < time.Millisecond || o.Silence > time.Hour, "silence must be from 1ms to 1h, not %s", o.Silence)
	mistake(o.Timeout < time.Second || o.Timeout > time.Hour, "timeout must be from 1s to 1h, not %s", o.Timeout)
	return errors.Join(mistakes...)
}

// Limits that are not configurable.
const (
	idle       = 15 * time.Minute // a connection without a call is closed
	ping       = 2 * time.Minute  // of inactivity, after which the client is pinged
	pong       = 20 * time.Second // for the client's answer to a ping
	pingLimit  = 10 * time.Second // minimum time between two pings of a client
	handshake  = 10 * time.Second
	headerList = 16 << 10 // bytes of metadata

	share = 4 // the divisor for the calls of one connection: a quarter of all
)

// Server serves OTLP over gRPC.
type Server struct {
	options  Options
	receiver Receiver
	log      *slog.Logger
	grpc     *grpc.Server
	refusals []refusal

	calls  atomic.Int64 // in progress
	sent   *memory.Pool // bytes of their messages
	memory atomic.Int64 // bytes of their decoded messages
	counts counts

	listener atomic.Pointer[connlimit.Listener] // nil until the server listens
	tokens   bool                               // clients without a token may not send

	unrecorded rate.Sometimes // limits the log lines about errors of the store
}

// counts are the counters of Stats.
type counts struct{ calls, refused, panics atomic.Int64 }

// Stats are counts since the start.
type Stats struct {
	Calls      int64 // all calls
	Refused    int64 // calls that failed
	Panics     int64 // calls that panicked
	TurnedAway int64 // unproven connections that were closed because of the limit or of inactivity
}

// New returns a server that passes data to r. Serve makes it listen.
func New(r Receiver, o Options, log *slog.Logger) (*Server, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("options of the gRPC server: %w", err)
	}
	s := &Server{
		options: o, receiver: r, log: log, refusals: refusals(&o), sent: memory.NewPool(o.Memory / 2), unrecorded: rate.Sometimes{Interval: 10 * time.Second},
	}
	s.tokens = o.Authorize != nil && !o.Authorize("")
	s.grpc = grpc.NewServer(
		grpc.Creds(plain{insecure.NewCredentials()}),
		grpc.ForceServerCodecV2(codec{}),
		grpc.MaxRecvMsgSize(o.Message),
		grpc.MaxConcurrentStreams(uint32(max(1, min(o.Calls/share, math.MaxUint32)))),
		grpc.MaxHeaderListSize(headerList),
		grpc.ConnectionTimeout(handshake),
		grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionIdle: idle, Time: ping, Timeout: pong}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: pingLimit, PermitWithoutStream: true}),
		grpc.InTapHandle(s.deadline),
	)
	s.register("opentelemetry.proto.collector.trace.v1.TraceService", s.traces)
	s.register("opentelemetry.proto.collector.logs.v1.LogsService", s.logs)
	return s, nil
}

// deadline limits the time of a call, including the time to receive its message. Clients do not have to set a deadline.
func (s *Server) deadline(ctx context.Context, _ *tap.Info) (context.Context, error) {
	ctx, end := context.WithTimeout(ctx, s.options.Timeout)
	context.AfterFunc(ctx, end) // the end of the call ends ctx, too
	return context.WithValue(ctx, endKey{}, end), nil
}

// endKey is the key of the function that cancels a call in its context.
type endKey struct{}

// cancel cancels a call.
func cancel(ctx context.Context) {
	if end, ok := ctx.Value(endKey{}).(context.CancelFunc); ok {
		end()
	}
}

// Serve accepts connections from l until Shutdown, and then returns nil. It closes l.
func (s *Server) Serve(l net.Listener) error {
	bounded := connlimit.New(l, connlimit.Options{Connections: s.options.Connections, Silence: s.options.Silence})
	s.listener.Store(bounded)
	if err := s.grpc.Serve(bounded); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return fmt.Errorf("serve gRPC: %w", err)
	}
	return nil
}

// Shutdown accepts no more calls and waits for open ones. When ctx is done it cancels them and returns the error of ctx.
func (s *Server) Shutdown(ctx context.Context) error {
	stopped := make(chan struct{})
	go func() {
		s.grpc.GracefulStop()
		close(stopped)
	}()
	select {
	case <-stopped:
		return nil
	case <-ctx.Done():
		s.grpc.Stop() // cancels the calls; the graceful stop ends with the last of them
		return ctx.Err()
	}
}

// Stats returns the counts. It is safe for concurrent use.
func (s *Server) Stats() Stats {
	c := &s.counts
	stats := Stats{Calls: c.calls.Load(), Refused: c.refused.Load(), Panics: c.panics.Load()}
	if l := s.listener.Load(); l != nil {
		connections := l.Stats()
		stats.TurnedAway = connections.Evicted + connections.Silent
	}
	return stats
}
