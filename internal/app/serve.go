package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/unloop-ai/unloop/internal/config"
	"github.com/unloop-ai/unloop/internal/grpcd"
	"github.com/unloop-ai/unloop/internal/httpd"
	"github.com/unloop-ai/unloop/internal/live"
	"github.com/unloop-ai/unloop/internal/mask"
	"github.com/unloop-ai/unloop/internal/memory"
	"github.com/unloop-ai/unloop/internal/pipeline"
	"github.com/unloop-ai/unloop/internal/sink"
	"github.com/unloop-ai/unloop/internal/store/sqlstore"
)

// Serve says how a server runs.
type Serve struct {
	Config  *config.Config
	Version string
	Log     *slog.Logger

	// GRPCOptional has the server start without gRPC where its port cannot be had, as for a default that nobody asked for: OTLP's
	// port is often that of a collector.
	GRPCOptional bool

	// Ready, if set, is told where the server answers, once it does.
	Ready func(Addresses)
}

// Addresses are where a server can be reached.
type Addresses struct {
	HTTP  string // HOST:PORT
	GRPC  string // the same; "" where it is off
	Proxy string // the same, of the proxy in front of model APIs; "" where there is none
	URL   string // of the server, for people
	DB    string // where it records, without a password
}

// Run serves until ctx is done; then it takes nothing more, ends what is at hand, has all of it recorded, and returns. An error
// says what kept it from starting or what failed.
func (s *Serve) Run(ctx context.Context) (err error) {
	web, rpc, err := s.listen(ctx) // first: where another program listens, nothing is to be made
	if err != nil {
		return err
	}
	front, err := s.listenProxy(ctx)
	if err != nil {
		return errors.Join(err, hangUp(web), hangUp(rpc))
	}
	p, err := s.assemble(ctx, rpc != nil)
	if err == nil {
		if p.proxy, err = p.makeProxy(front); err != nil {
			err = errors.Join(err, p.store.Close())
		}
	}
	if err != nil {
		return errors.Join(err, hangUp(web), hangUp(rpc), hangUp(front))
	}
	defer func() { err = errors.Join(err, p.store.Close()) }()
	if s.Ready != nil {
		s.Ready(p.addresses(web, rpc))
	}
	return p.run(ctx, web, rpc)
}

// components are what a server is made of.
type components struct {
	config   *config.Config
	version  string
	log      *slog.Logger
	shares   memory.Shares
	dsn      string
	store    *sqlstore.Store
	mask     *mask.Masker
	pipeline *pipeline.Pipeline
	hub      *live.Hub
	webhooks *sink.Sink // nil where nobody is to be told
	second   *questions // nil without second opinions
	http     *httpd.Server
	grpc     *grpcd.Server // nil where it is off
	proxy    *modelProxy   // nil where there is none

	grpcState string // on, off or taken
}

// run has all parts work. Those before the pipeline end first and those behind it last, so that nothing is lost on the way.
func (p *components) run(ctx context.Context, web, rpc net.Listener) error {
	serving, failed := context.WithCancelCause(ctx)
	defer failed(nil)
	recording, recorded := context.WithCancel(context.WithoutCancel(ctx))
	defer recorded()

	inner := begin(func() error { return p.pipeline.Run(recording) })
	cleaning := begin(func() error { return p.retain(serving) })
	asking := begin(func() error { return p.answerQuestions(serving) })
	edge := begin(func() error { return p.http.Serve(serving, web) })
	telemetry := begin(func() error { return p.serveGRPC(serving, rpc) })
	proxying := begin(func() error { return p.proxy.run(serving) })
	for _, part := range []*part{inner, edge, telemetry, proxying} {
		go func() {
			<-part.done
			failed(part.err) // one that ends by itself ends all
		}()
	}
	<-serving.Done()
	p.log.Info("stopping")
	err := errors.Join(edge.wait(), telemetry.wait(), proxying.wait(), cleaning.wait(), asking.wait())
	recorded()
	err = errors.Join(err, inner.wait())
	p.hub.Close()
	return errors.Join(err, p.endWebhooks(ctx))
}

// answerQuestions works until the context ends.
func (p *components) answerQuestions(ctx context.Context) error {
	if p.second == nil {
		return nil
	}
	return p.second.work(ctx)
}

// endWebhooks gives messages that are on their way some time.
func (p *components) endWebhooks(ctx context.Context) error {
	if p.webhooks == nil {
		return nil
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := p.webhooks.Close(bounded); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// part is something that works in a goroutine of its own.
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

// grace is how long what is at hand has when a server stops.
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
		p.log.Warn("calls of telemetry were ended", "after", grace)
	}
	return served.wait()
}

// listen opens the ports; rpc is nil where gRPC is off, or has no port and is optional.
func (s *Serve) listen(ctx context.Context) (web, rpc net.Listener, err error) {
	c := s.Config
	var sockets net.ListenConfig
	if web, err = sockets.Listen(ctx, "tcp", c.Addr); err != nil {
		return nil, nil, fmt.Errorf("addr: %w (another server? unloop doctor tells; --addr takes another address)", err)
	}
	if c.GRPCAddr == config.Off {
		return web, nil, nil
	}
	rpc, err = sockets.Listen(ctx, "tcp", c.GRPCAddr)
	switch {
	case err != nil && s.GRPCOptional:
		s.Log.Warn("the server takes no telemetry over gRPC: its port is taken; --grpc-addr takes another address, or off", "addr", c.GRPCAddr, "error", err)
		return web, nil, nil
	case err != nil:
		return nil, nil, errors.Join(fmt.Errorf("grpc_addr: %w (--grpc-addr takes another address, or off)", err), web.Close())
	}
	return web, rpc, nil
}

// hangUp closes a port; nil is none.
func hangUp(l net.Listener) error {
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

// secretKey is what the key of the masks is called in the store.
const secretKey = "mask"

func (p *components) masker(ctx context.Context) (*mask.Masker, error) {
	key, err := p.store.Secret(ctx, secretKey)
	if err != nil {
		return nil, err
	}
	return mask.New(mask.Settings{Disabled: p.config.Mask.Disabled, Patterns: p.config.Mask.Patterns, Key: key})
}
