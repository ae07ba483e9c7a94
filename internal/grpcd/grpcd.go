// Package grpcd takes OTLP traces and logs over gRPC. It stands at the edge of the arrow: exporters of OpenTelemetry are
// before it, and behind it is whoever makes events of what they send and records them. A call is answered when its data is
// recorded, or refused with a code that tells the exporter whether to send it again.
//
// A message is looked at before it is decoded, for decoding is recursive and makes up to a hundred bytes of one: see otlp.MeasureTraces.
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
	_ "google.golang.org/grpc/encoding/gzip" // the compression that every exporter knows
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/tap"

	"github.com/unloop-ai/unloop/internal/connlimit"
	"github.com/unloop-ai/unloop/internal/memory"
)

// Receiver takes what was sent. It returns once that is recorded, with the number of spans or records that it cannot use and
// why; an error says that nothing was recorded. It is called by many goroutines.
type Receiver interface {
	Traces(ctx context.Context, td ptrace.Traces) (rejected int, reason string, err error)
	Logs(ctx context.Context, ld plog.Logs) (rejected int, reason string, err error)
}

// Options are the bounds of a server.
type Options struct {
	// Authorize tells whether the holder of a bearer token may send; "" is no token. Nil lets everybody send.
	Authorize func(token string) bool

	Busy   error // what a Receiver returns when it is worth a retry in a second
	Closed error // what it returns when it takes nothing any more

	Message     int           // bytes in a message, unpacked
	Memory      int64         // bytes that all messages at hand may take: half of it as sent, half, as estimated, when they are decoded
	Calls       int           // at once
	Connections int           // at once, a quarter of them for those that Silence is about
	Silence     time.Duration // of a connection that has shown no token, or sent no whole message where there are none
	Timeout     time.Duration // of a call, from its first byte to its answer
}

// DefaultOptions returns bounds for one machine. Who is busy or closed is for the caller to say.
func DefaultOptions() Options {
	return Options{Message: 16 << 20, Memory: 512 << 20, Calls: 64, Connections: 256, Silence: 10 * time.Second, Timeout: 30 * time.Second}
}

// Validate names all mistakes in the options.
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

// What a well-behaved client needs, which nobody has asked to change.
const (
	idle       = 15 * time.Minute // a connection without a call is closed
	ping       = 2 * time.Minute  // of silence, after which the client is asked whether it is there
	pong       = 20 * time.Second // it has for the answer
	pingLimit  = 10 * time.Second // a client that asks more often than that is sent away
	handshake  = 10 * time.Second
	headerList = 16 << 10 // bytes of metadata
)

// Server serves OTLP over gRPC.
type Server struct {
	options  Options
	receiver Receiver
	log      *slog.Logger
	grpc     *grpc.Server
	refusals []refusal

	calls  atomic.Int64 // at hand
	sent   *memory.Pool // bytes of their messages
	memory atomic.Int64 // that these take when they are decoded
	counts counts

	listener atomic.Pointer[connlimit.Listener] // nil until the server listens
	tokens   bool                               // who shows none may not send

	unrecorded rate.Sometimes // bounds the lines about refusals that the store is the reason of
}

// counts are what Stats tells.
type counts struct{ calls, refused, panics atomic.Int64 }

// Stats are counts since the start.
type Stats struct {
	Calls      int64 // all that came
	Refused    int64 // of them, were answered with an error
	Panics     int64 // of those, were ended by a panic
	TurnedAway int64 // connections that were closed since they proved nothing: for newer ones, or for their silence
}

// New returns a server that hands over to r. It does not listen yet.
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
		grpc.MaxConcurrentStreams(uint32(min(o.Calls, math.MaxUint32))),
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

// deadline bounds a call's time, also while its message comes: a client need not give a time itself.
func (s *Server) deadline(ctx context.Context, _ *tap.Info) (context.Context, error) {
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	context.AfterFunc(ctx, cancel) // the call's end ends ctx, too
	return ctx, nil
}

// Serve takes connections from l until Shutdown; then it returns nil. It closes l.
func (s *Server) Serve(l net.Listener) error {
	bounded := connlimit.New(l, connlimit.Options{Connections: s.options.Connections, Silence: s.options.Silence})
	s.listener.Store(bounded)
	if err := s.grpc.Serve(bounded); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return fmt.Errorf("serve gRPC: %w", err)
	}
	return nil
}

// Shutdown takes no more calls and waits for those at hand. When ctx is done it ends them and returns its error.
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

// Stats may be asked at any time.
func (s *Server) Stats() Stats {
	c := &s.counts
	stats := Stats{Calls: c.calls.Load(), Refused: c.refused.Load(), Panics: c.panics.Load()}
	if l := s.listener.Load(); l != nil {
		connections := l.Stats()
		stats.TurnedAway = connections.Evicted + connections.Silent
	}
	return stats
}
