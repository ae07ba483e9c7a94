package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/memory"
	"github.com/unloop-ai/unloop/internal/reverseproxy"
	"github.com/unloop-ai/unloop/profile"
)

// HTTPOptions are the options of a proxy with HTTP on both sides.
type HTTPOptions struct {
	Profile   *profile.Profile
	Upstream  *url.URL            // of the server; all paths of its origin are forwarded to it
	Record    func(*unloop.Event) // as in Options
	Controls  func(run string, take func(*unloop.Event)) (stop func())
	Log       *slog.Logger
	MaxBody   int64             // bytes of a message that is judged; a larger one passes unjudged
	MaxBodies int64             // bytes of memory that all requests take while they are answered; more pass unjudged
	MaxMemory int               // bytes of all sessions
	Transport http.RoundTripper // nil for a transport like http.DefaultTransport
}

// HTTP is the handler of a proxy in front of a server that speaks streamable HTTP, or the older HTTP with server-sent events. It
// is safe for concurrent use.
type HTTP struct {
	options  HTTPOptions
	bodies   *memory.Pool
	sessions *sessions
	forward  *httputil.ReverseProxy
	guarded  http.Handler

	mu      sync.Mutex
	streams map[string]*exchange // of revision 2024-11-05, by the path to which their messages are posted
}

// NewHTTP returns a proxy. The error says what is wrong with the address of the server.
func NewHTTP(o HTTPOptions) (*HTTP, error) {
	if (o.Upstream.Scheme != "http" && o.Upstream.Scheme != "https") || o.Upstream.Host == "" {
		return nil, fmt.Errorf("invalid URL %q of the server: want http://HOST/PATH or https://HOST/PATH", o.Upstream.Redacted())
	}
	tools := newTools()
	h := &HTTP{options: o, bodies: memory.NewPool(o.MaxBodies), streams: make(map[string]*exchange)}
	h.sessions = newSessions(o.MaxMemory, func(run string) *Session {
		return NewSession(o.Profile, Options{Run: run, Tools: tools, Record: o.Record, Controls: o.Controls})
	})
	if o.Transport == nil {
		h.options.Transport = reverseproxy.Transport()
	}
	h.forward = &httputil.ReverseProxy{
		Rewrite: h.rewrite, Transport: h.options.Transport, FlushInterval: -1, ModifyResponse: h.answered, ErrorHandler: h.failed,
		ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
	}
	h.guarded = reverseproxy.Local("mcp-proxy", http.HandlerFunc(h.serve))
	return h, nil
}

// rewrite directs a request to the server. Its path and headers stay, and the answer is asked for without compression.
func (h *HTTP) rewrite(r *httputil.ProxyRequest) {
	r.Out.URL.Scheme, r.Out.URL.Host, r.Out.URL.User = h.options.Upstream.Scheme, h.options.Upstream.Host, h.options.Upstream.User
	r.Out.Host = ""
	r.Out.URL.RawQuery = r.In.URL.RawQuery // a query that Go cannot parse, too
	r.Out.Header.Set("Accept-Encoding", "identity")
}

// failed answers a request whose server cannot be reached.
func (h *HTTP) failed(w http.ResponseWriter, r *http.Request, err error) {
	if x := exchangeOf(r.Context()); x != nil {
		x.ended(err)
	}
	if r.Context().Err() != nil {
		return // the client has gone
	}
	h.options.Log.Warn("MCP server unreachable", "error", reverseproxy.Reason(err))
	http.Error(w, "unloop mcp-proxy: the server cannot be reached", http.StatusBadGateway)
}

// ServeHTTP passes a request to the server, or answers it.
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.guarded.ServeHTTP(w, r) }

func (h *HTTP) serve(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost:
		h.post(w, r)
	case http.MethodDelete:
		h.pass(w, r, &exchange{proxy: h, ends: r.Header.Get(sessionHeader) != "", key: keyOf(r, nil)})
	case http.MethodGet:
		h.listen(w, r)
	default:
		h.forward.ServeHTTP(w, r)
	}
}

// listen passes a stream for the messages of the server. Without a session, it begins none: a page of another site can send such requests.
func (h *HTTP) listen(w http.ResponseWriter, r *http.Request) {
	x := &exchange{proxy: h, lease: reverseproxy.NewLease(h.bodies)}
	defer x.lease.Release()
	if r.Header.Get(sessionHeader) != "" {
		key := keyOf(r, nil)
		x.begin(key)
		defer h.sessions.measure(key)
	}
	h.pass(w, r, x)
}

// pass forwards a request whose answer is read.
func (h *HTTP) pass(w http.ResponseWriter, r *http.Request, x *exchange) {
	h.forward.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x)))
}

// post judges the messages of a client. What cannot be read is forwarded as it is. The messages are kept until they are answered.
func (h *HTTP) post(w http.ResponseWriter, r *http.Request) {
	lease := reverseproxy.NewLease(h.bodies)
	defer lease.Release()
	body, err := reverseproxy.ReadBody(r, h.options.MaxBody, lease)
	if errors.Is(err, reverseproxy.ErrTooLarge) || errors.Is(err, memory.ErrBusy) {
		h.forward.ServeHTTP(w, r)
		return
	}
	if err != nil {
		http.Error(w, "unloop mcp-proxy: the request ended early", http.StatusBadRequest)
		return
	}
	messages, raw, err := decode(body)
	if err != nil || r.Header.Get("Content-Encoding") != "" {
		h.forward.ServeHTTP(w, r)
		return
	}
	x := h.exchange(r, messages, isBatch(body))
	x.lease = lease
	defer h.sessions.measure(x.key)
	var kept []json.RawMessage
	for i, m := range messages {
		if answer := x.judge(r.Context(), m); answer != nil {
			x.blocked = append(x.blocked, encodeResponse(answer))
			continue
		}
		kept = append(kept, raw[i])
	}
	h.sessions.measure(x.key) // the calls are kept until they are answered
	if len(kept) == 0 && len(x.blocked) > 0 {
		x.answer(w)
		return
	}
	if len(x.blocked) > 0 {
		reverseproxy.SetBody(r, encodeBatch(kept))
	}
	h.pass(w, r, x)
}

// exchange returns the exchange that a posted request begins.
func (h *HTTP) exchange(r *http.Request, messages []jsonrpc.Message, batch bool) *exchange {
	x := &exchange{proxy: h, batch: batch, posted: true}
	x.closeCancels = r.Header.Get("Mcp-Protocol-Version") >= withoutSessions
	h.mu.Lock()
	x.events = h.streams[r.URL.RequestURI()]
	h.mu.Unlock()
	if x.events != nil {
		x.session, x.open, x.key, x.kept = x.events.session, x.events.open, x.events.key, true
		return x
	}
	x.begin(keyOf(r, messages))
	if x.kept = r.Header.Get(sessionHeader) != ""; !x.kept {
		x.open = newRequests() // the ids of a request without a session are its own
	}
	return x
}
