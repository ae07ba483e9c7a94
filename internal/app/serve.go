// Package app connects the parts of a server, and starts and stops it. Package config says what to build, and unloop serve runs it. The
// package is the only one that knows all parts: edges, pipeline, store and sinks.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/unloop-ai/unloop/internal/cluster"
	"github.com/unloop-ai/unloop/internal/config"
	"github.com/unloop-ai/unloop/internal/grpcd"
	"github.com/unloop-ai/unloop/internal/httpd"
	"github.com/unloop-ai/unloop/internal/live"
	"github.com/unloop-ai/unloop/internal/mask"
	"github.com/unloop-ai/unloop/internal/memory"
	"github.com/unloop-ai/unloop/internal/pipeline"
	"github.com/unloop-ai/unloop/internal/store/sqlstore"
	"github.com/unloop-ai/unloop/profile"
)

// Serve is a server with its configuration.
type Serve struct {
	Config  *config.Config
	File    string // path of the configuration file; "" for none
	Version string
	Log     *slog.Logger

	// GRPCOptional makes the server start without gRPC if the port is not available. It is set for the default port of OTLP,
	// which a collector often uses.
	GRPCOptional bool

	// Ready is called when the server accepts connections. It may be nil.
	Ready func(Addresses)
}

// Addresses are the addresses of a server.
type Addresses struct {
	HTTP  string // HOST:PORT
	GRPC  string // HOST:PORT; "" if gRPC is off
	Proxy string // HOST:PORT of the proxy for model APIs; "" if there is none
	URL   string // of the server, for people
	DB    string // the data source of the database, without a password
}

// Run serves until ctx is done. It then stops accepting events, completes the current requests, records everything and returns.
// The error is why the server could not start or what failed.
func (s *Serve) Run(ctx context.Context) (err error) {
	web, rpc, err := s.listen(ctx) // first, so that nothing is created if another server has the port
	if err != nil {
		return err
	}
	front, err := s.listenProxy(ctx)
	if err != nil {
		return errors.Join(err, closeListener(web), closeListener(rpc))
	}
	p, err := s.assemble(ctx, rpc != nil)
	if err == nil {
		if p.proxy, err = p.makeProxy(front); err != nil {
			err = errors.Join(err, p.store.Close())
		}
	}
	if err != nil {
		return errors.Join(err, closeListener(web), closeListener(rpc), closeListener(front))
	}
	defer func() { err = errors.Join(err, p.store.Close()) }()
	if s.Ready != nil {
		s.Ready(p.addresses(web, rpc))
	}
	return p.run(ctx, web, rpc)
}

// components are the parts of a server.
type components struct {
	config  *config.Config
	file    string // path of the configuration file; "" for none
	version string
	name    string // of this process in a cluster; "" outside

	fileSettings config.Settings // of the configuration file; config also has the settings that people applied in a cluster

	log      *slog.Logger
	shares   memory.Shares
	clock    *clock // of retention
	dsn      string
	store    *sqlstore.Store
	mask     *mask.Masker
	recorder recorder
	cluster  *cluster.Node // the recorder, if the server is one of a cluster; else nil
	hub      *live.Hub
	alerts   *alerts
	tuner    *tuner
	shadow   *shadow
	second   *questions // nil without second opinions
	http     *httpd.Server
	grpc     *grpcd.Server // nil if gRPC is off
	proxy    *modelProxy   // nil without a proxy

	grpcState string // on, off or taken
}

// recorder records submissions. It is a pipeline, or the node of a cluster.
type recorder interface {
	// Run records until ctx ends and all accepted submissions are recorded.
	Run(ctx context.Context) error
	// Submit returns when a submission is on disk.
	Submit(ctx context.Context, d *pipeline.Submission) (pipeline.Ack, error)
	// Flush returns when the rows of runs include all recorded events.
	Flush(ctx context.Context) error
	// State returns the state for the health.
	State() pipeline.State
	// Health returns why nothing can be recorded at the moment, or nil.
	Health() error
	// SetProfile sets the profile of new runs. It has the name of the former one and other settings.
	SetProfile(own *profile.Profile)
}

// run runs all parts. When the server stops, the parts that submit to the pipeline end before it, and the sinks end after it, so
// that no event is lost.
func (p *components) run(ctx context.Context, web, rpc net.Listener) error {
	serving, failed := context.WithCancelCause(ctx)
	defer failed(nil)
	recording, recorded := context.WithCancel(context.WithoutCancel(ctx))
	defer recorded()

	inner := begin(func() error { return p.recorder.Run(recording) })
	cleaning := begin(func() error { return p.retain(serving) })
	indexing := begin(func() error { return p.index(serving) })
	shadowing := begin(func() error { return p.judgeShadows(serving) })
	following := begin(func() error { return p.follow(serving) })
	adopting := begin(func() error { return p.adoptNotices(serving) })
	asking := begin(func() error { return p.answerQuestions(serving) })
	edge := begin(func() error { return p.http.Serve(serving, web) })
	telemetry := begin(func() error { return p.serveGRPC(serving, rpc) })
	proxying := begin(func() error { return p.proxy.run(serving) })
	for _, part := range []*part{inner, edge, telemetry, proxying} {
		go func() {
			<-part.done
			failed(part.err) // if one part ends, all end
		}()
	}
	<-serving.Done()
	p.log.Info("stopping")
	err := errors.Join(edge.wait(), telemetry.wait(), proxying.wait(), cleaning.wait(), indexing.wait(), shadowing.wait(), following.wait(), adopting.wait(), asking.wait())
	recorded()
	err = errors.Join(err, inner.wait())
	p.hub.Close()
	return errors.Join(err, p.endAlerts(ctx))
}

// answerQuestions asks for second opinions until the context ends.
func (p *components) answerQuestions(ctx context.Context) error {
	if p.second == nil {
		return nil
	}
	return p.second.work(ctx)
}

// endAlerts waits for open messages, at most as long as grace.
func (p *components) endAlerts(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := p.alerts.sink.Close(bounded); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// part is a function that runs in a goroutine.
type part struct {
	done chan struct{}
	err  error
}

func begin(work func() error) *part {
	p := &part{done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.err = work()
	}()
	return p
}

func (p *part) wait() error {
	<-p.done
	return p.err
}

// grace is the maximum time for open requests and messages when a server stops.
const grace = 10 * time.Second

func (p *components) serveGRPC(ctx context.Context, l net.Listener) error {
	if p.grpc == nil {
		<-ctx.Done()
		return nil
	}
	served := begin(func() error { return p.grpc.Serve(l) })
	select {
	case <-served.done:
		return served.err
	case <-ctx.Done():
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := p.grpc.Shutdown(bounded); err != nil {
		p.log.Warn("open gRPC calls were canceled", "after", grace)
	}
	return served.wait()
}

// listen opens the ports. rpc is nil if gRPC is off, or if it is optional and its port is not available.
func (s *Serve) listen(ctx context.Context) (web, rpc net.Listener, err error) {
	c := s.Config
	var sockets net.ListenConfig
	if web, err = sockets.Listen(ctx, "tcp", c.Addr); err != nil {
		return nil, nil, fmt.Errorf("addr: %w (unloop doctor shows whether a server uses it; --addr sets another address)", err)
	}
	if c.GRPCAddr == config.Off || !c.Cluster.Has(config.RoleIngest) {
		return web, nil, nil
	}
	rpc, err = sockets.Listen(ctx, "tcp", c.GRPCAddr)
	switch {
	case err != nil && s.GRPCOptional:
		s.Log.Warn("OTLP over gRPC is off because its port is in use; --grpc-addr sets another address, or off", "addr", c.GRPCAddr, "error", err)
		return web, nil, nil
	case err != nil:
		return nil, nil, errors.Join(fmt.Errorf("grpc_addr: %w (--grpc-addr sets another address, or off)", err), web.Close())
	}
	return web, rpc, nil
}

// closeListener closes a listener, which may be nil.
func closeListener(l net.Listener) error {
	if l == nil {
		return nil
	}
	return l.Close()
}

func (p *components) addresses(web, rpc net.Listener) Addresses {
	a := Addresses{HTTP: web.Addr().String(), URL: p.config.URL, DB: publicDSN(p.dsn)}
	if rpc != nil {
		a.GRPC = rpc.Addr().String()
	}
	if p.proxy != nil {
		a.Proxy = p.proxy.listener.Addr().String()
	}
	if a.URL == "" {
		a.URL = "http://" + a.HTTP
	}
	return a
}
