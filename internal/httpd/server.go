// Package httpd is the HTTP server. Agents send events and telemetry to it. People and programs read runs, warnings and
// decisions, or receive them as streams. It decodes requests, submits events to the pipeline, and reads from the store and the
// hub. All clients are untrusted: every request is limited in size, depth and time, its origin is checked, and it needs a token
// if tokens are configured.
package httpd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"golang.org/x/time/rate"

	"github.com/unloop-ai/unloop/internal/connlimit"
	"github.com/unloop-ai/unloop/internal/memory"
)

// Server answers HTTP requests. New makes it.
type Server struct {
	Options
	log    *slog.Logger
	mux    *http.ServeMux
	api    huma.API
	auth   auth
	scopes map[string]Scope // of the mounted handlers, by pattern

	controls   *controls           // orders of people to guards
	parameters map[string][]string // of the queries of described operations, by pattern

	listener atomic.Pointer[connlimit.Listener] // nil until the server listens

	failing rate.Sometimes // limits the log lines about failed requests

	small    *memory.Pool // bytes of bodies in progress and their decoded forms; small bodies have their own pool
	large    *memory.Pool
	answers  *memory.Pool       // bytes of large answers in progress, or of the parts of streams
	building chan struct{}      // the places to build lists of events
	streams  atomic.Int64       // number of open streams
	running  context.Context    // ends when streams must end
	end      context.CancelFunc // of running
}

// New returns a server. The error joins all errors of the options.
func New(o Options) (*Server, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("options of the HTTP server: %w", err)
	}
	o.fill()
	s := &Server{
		Options: o, log: o.Log, mux: http.NewServeMux(), scopes: make(map[string]Scope), failing: rate.Sometimes{Interval: 10 * time.Second},
		auth: newAuth(&o), controls: newControls(),
		small: memory.NewPool(o.Limits.Bodies / 4), large: memory.NewPool(o.Limits.Bodies / 4 * 3), answers: memory.NewPool(o.Limits.Answers),
		building: make(chan struct{}, places()),
	}
	s.running, s.end = context.WithCancel(context.Background())
	s.api = humago.New(scoped{s}, s.describe())
	s.routes()
	s.parameters = s.parametersOf()
	return s, nil
}

// scoped registers the routes of huma in the mux. Its operations have their own scopes.
type scoped struct{ s *Server }

func (m scoped) HandleFunc(pattern string, handler func(http.ResponseWriter, *http.Request)) {
	m.s.mux.HandleFunc(pattern, handler)
}

func (m scoped) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.s.mux.ServeHTTP(w, r) }

// Mount registers a handler of another package behind authorization: metrics, MCP, the dashboard. The pattern is that of
// http.ServeMux. Mount must be called before the server answers requests.
func (s *Server) Mount(pattern string, scope Scope, h http.Handler) {
	s.scopes[pattern] = scope
	s.mux.Handle(pattern, h)
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.Access != nil {
		var done func()
		w, done = s.logged(w, r)
		defer done()
	}
	defer s.recovered(w)
	s.securityHeaders(w.Header())
	if p := s.auth.origin(w.Header(), r); p != nil {
		p.write(w)
		return
	}
	if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	h, pattern := s.mux.Handler(r)
	if pattern == "" {
		s.notFound(w, r, h)
		return
	}
	if p := s.admit(pattern, r); p != nil {
		if p.Status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", `Bearer realm="unloop"`)
		}
		p.write(w)
		return
	}
	s.answered(w, r)
}

// admit returns a problem unless this server answers the request: the server has the role, the token the scope, and each parameter is known.
func (s *Server) admit(pattern string, r *http.Request) *Problem {
	scope, known := s.scopes[pattern]
	if !known {
		scope = Admin // the strictest scope for an operation without one
	}
	if p := s.elsewhere(pattern, scope); p != nil {
		return p
	}
	if p := s.auth.admit(r, scope); p != nil {
		return p
	}
	s.prove(r, scope)
	return s.unknownParameter(pattern, r)
}

// elsewhere returns a problem if another server of the cluster answers the request.
func (s *Server) elsewhere(pattern string, scope Scope) *Problem {
	switch {
	case pattern == "GET /api/health" || pattern == "GET /metrics":
	case scope == Ingest && s.NoIngest:
		return problem(http.StatusNotFound, "", "this server takes no events, because it does not have the role ingest (cluster.roles)")
	case scope != Ingest && s.NoQueries:
		return problem(http.StatusNotFound, "", "this server answers no queries, because it does not have the role api (cluster.roles)")
	}
	return nil
}

// notFound answers a request without a route: 404, 405 if another method has a route, or a redirect.
func (s *Server) notFound(w http.ResponseWriter, r *http.Request, h http.Handler) {
	probe := &statusOnly{header: make(http.Header)}
	h.ServeHTTP(probe, r)
	if allow := probe.header.Get("Allow"); probe.status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", allow)
		problem(http.StatusMethodNotAllowed, "", "the method "+r.Method+" is not allowed here; allowed: "+allow).write(w)
		return
	}
	if s.NotFound != nil && r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html") {
		s.NotFound.ServeHTTP(w, r)
		return
	}
	problem(http.StatusNotFound, "", "unknown path; /openapi.json lists all paths").write(w)
}

// statusOnly records the answer of a handler except for the body.
type statusOnly struct {
	header http.Header
	status int
}

func (p *statusOnly) Header() http.Header         { return p.header }
func (p *statusOnly) Write(b []byte) (int, error) { return len(b), nil }
func (p *statusOnly) WriteHeader(status int)      { p.status = status }

// recovered answers for a handler that panicked. Other requests are not affected.
func (s *Server) recovered(w http.ResponseWriter) {
	cause := recover()
	failed, _ := cause.(error)
	var cut *net.OpError
	switch {
	case cause == nil:
	case errors.Is(failed, http.ErrAbortHandler):
		panic(cause)
	case errors.As(failed, &cut): // huma panics if the client does not read its answer
		panic(http.ErrAbortHandler)
	default:
		s.log.Error("a request panicked", "cause", fmt.Sprintf("%T", cause), "stack", stack())
		problem(http.StatusInternalServerError, "", "internal error; the server's log has the reason").write(w)
	}
}

// Serve answers requests on a listener until ctx is done. It then accepts no new ones, ends the streams, and waits for open
// requests, at most as long as Limits.Grace. It closes the listener and the connections of requests that are still open.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	limits := &s.Limits
	web := &http.Server{
		Handler: s, ReadHeaderTimeout: limits.HeaderTime, ReadTimeout: limits.ReadTime, WriteTimeout: limits.WriteTime,
		IdleTimeout: limits.IdleTime, MaxHeaderBytes: limits.Header, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		ConnContext: withConnection,
	}
	bounded := connlimit.New(l, connlimit.Options{Connections: limits.Connections, Silence: limits.Silence})
	s.listener.Store(bounded)
	served := make(chan error, 1) // of one
	go func() { served <- web.Serve(bounded) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve HTTP: %w", err)
	case <-ctx.Done():
	}
	s.end()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), limits.Grace)
	defer cancel()
	err := web.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) { // a slow client does not make the stop an error
		s.log.Warn("open HTTP requests were canceled", "after", limits.Grace)
		err = web.Close()
	}
	<-served
	return err
}
