// Package proxy is a reverse proxy in front of model APIs. It judges each request by the history that the request contains:
// it folds the tool calls, their results and the messages into a profile.Session, and nudges or halts the agent by its
// decision. It needs no state to do so. The state that it keeps of a conversation only saves it from folding the same history again.
// Other requests and answers pass unchanged.
package proxy

import (
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/memory"
	"github.com/unloop-ai/unloop/internal/reverseproxy"
	"github.com/unloop-ai/unloop/profile"
)

// Mode says how the proxy acts on a decision.
type Mode string

// The modes.
const (
	Observe Mode = "observe" // record, and change nothing
	Nudge   Mode = "nudge"   // append nudges to requests
	Guard   Mode = "guard"   // append nudges, and answer in the model's place when a run is halted
)

// OnHalt is how the proxy answers a request of a run that is halted.
type OnHalt string

// The answers of a halt.
const (
	HaltAnswer OnHalt = "answer" // a complete answer of the model's kind, with which agents end in order
	HaltError  OnHalt = "error"  // status 400, which no client retries
)

// Limits of the memory of requests, in bytes.
const (
	MaxBody     = 64 << 20                           // of a request that is judged
	LeastBodies = reverseproxy.LeaseFactor * MaxBody // for all requests: enough for the largest one
)

// Options are the options of a proxy.
type Options struct {
	Profile   *profile.Profile
	Upstreams map[string]*url.URL // base URLs by the name of the API: openai, anthropic, gemini
	Mode      Mode
	OnHalt    OnHalt
	Budgets   Budgets

	MaxBody   int64                                                    // bytes of a request that is judged; a larger one passes unjudged
	MaxBodies int64                                                    // bytes of memory that all requests take until they are judged and sent; more pass unjudged
	MaxMemory int                                                      // bytes of the histories that are kept
	Record    func(*unloop.Event)                                      // receives each event once in order; must not block or keep the event; nil for none
	Controls  func(run string, take func(*unloop.Event)) (stop func()) // calls take with the orders of people to a run; nil for no orders
	Log       *slog.Logger
	Transport http.RoundTripper // nil for a transport like http.DefaultTransport
}

// guardName is the name of the proxy in the records of guarded runs.
const guardName = "proxy"

// Proxy is the handler of the proxy's port. It is safe for concurrent use.
type Proxy struct {
	options       Options
	handler       http.Handler
	apis          map[string]http.Handler // by the first part of the path
	own           *http.ServeMux          // the paths that the proxy answers itself
	conversations *conversations
	budgets       *budgets
	bodies        *memory.Pool
	judging       chan struct{} // holds an element for each request that is being judged
	patience      time.Duration // how long a request waits for its verdict
	stats         stats
}

// New returns a proxy. The error names the option that is invalid.
func New(o Options) (*Proxy, error) {
	switch {
	case o.Profile == nil:
		return nil, fmt.Errorf("no profile")
	case o.Mode != Observe && o.Mode != Nudge && o.Mode != Guard:
		return nil, fmt.Errorf("invalid mode %q: want observe, nudge or guard", o.Mode)
	case o.OnHalt != HaltAnswer && o.OnHalt != HaltError:
		return nil, fmt.Errorf("invalid answer to a halt %q: want answer or error", o.OnHalt)
	}
	if o.Transport == nil {
		o.Transport = reverseproxy.Transport()
	}
	b, err := newBudgets(o.Budgets)
	if err != nil {
		return nil, err
	}
	p := &Proxy{
		options: o, apis: make(map[string]http.Handler), own: http.NewServeMux(), conversations: newConversations(o), budgets: b,
		bodies: memory.NewPool(o.MaxBodies), judging: make(chan struct{}, maxJudging), patience: patience,
	}
	for name, upstream := range o.Upstreams {
		if err := checkUpstream(name, upstream); err != nil {
			return nil, err
		}
		p.apis[name] = http.StripPrefix("/"+name, p.route(name, upstream))
	}
	p.own.HandleFunc("/{$}", p.index)
	p.own.HandleFunc("/", p.unknown)
	p.own.HandleFunc("GET /healthz", p.health)
	p.own.Handle("GET /metrics", p.metrics())
	p.handler = reverseproxy.Local("proxy", http.HandlerFunc(p.serve))
	return p, nil
}

// checkUpstream returns an error if the proxy cannot send requests to upstream.
func checkUpstream(name string, upstream *url.URL) error {
	if _, ok := routes[name]; !ok {
		return fmt.Errorf("unknown API %q: want anthropic, gemini or openai", name)
	}
	if (upstream.Scheme != "http" && upstream.Scheme != "https") || upstream.Host == "" {
		return fmt.Errorf("invalid upstream %q of %s: want http://HOST or https://HOST", upstream.Redacted(), name)
	}
	return nil
}

// SetProfile sets the profile of new runs. Its shadow mode must be that of the options.
func (p *Proxy) SetProfile(of *profile.Profile) { p.conversations.profile.Store(of) }

// ServeHTTP forwards a request to the upstream of its path, or answers it.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.handler.ServeHTTP(w, r) }

// serve finds the API of a path. A ServeMux would redirect a path with two slashes, which an upstream may accept. A path with ".." is
// refused, because it could leave the path of the upstream.
func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	api := p.apis[name]
	switch {
	case api == nil:
		p.own.ServeHTTP(w, r)
	case slices.Contains(strings.FieldsFunc(r.URL.Path, isSlash), ".."):
		http.Error(w, `unloop proxy: the path must not contain ".."`, http.StatusBadRequest)
	default:
		api.ServeHTTP(w, r)
	}
}

// isSlash reports whether a character separates the parts of a path. Some servers take a backslash for a slash.
func isSlash(c rune) bool { return c == '/' || c == '\\' }

// index shows a person the base URLs.
func (p *Proxy) index(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprintln(w, "unloop proxy. Base URLs:")
	for _, name := range []string{"openai", "anthropic", "gemini"} {
		if p.options.Upstreams[name] != nil {
			fmt.Fprintln(w, "  /"+name+hints[name])
		}
	}
}

// unknown answers a path of no API, such as that of a client whose base URL lacks the name of the API.
func (p *Proxy) unknown(w http.ResponseWriter, r *http.Request) {
	apis := slices.Sorted(maps.Keys(p.apis))
	http.Error(w, fmt.Sprintf("unloop proxy: unknown path %.200q; it must begin with /%s", r.URL.Path, strings.Join(apis, " or /")), http.StatusNotFound)
}

// hints are the ends of the base URLs that clients expect.
var hints = map[string]string{"openai": "/v1", "anthropic": "", "gemini": ""}

// route returns the handler of the paths of one upstream.
func (p *Proxy) route(name string, upstream *url.URL) http.Handler {
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.RawQuery = r.In.URL.RawQuery // a query that Go cannot parse, too
			r.SetURL(upstream)
			r.Out.Host = ""
			if _, judged := r.In.Context().Value(judgedKey{}).(*judged); judged {
				r.Out.Header.Set("Accept-Encoding", "identity") // the answer is read
			}
		},
		Transport:      p.options.Transport,
		FlushInterval:  -1,
		ErrorHandler:   p.upstreamFailed(name),
		ErrorLog:       slog.NewLogLogger(p.options.Log.Handler(), slog.LevelDebug),
		ModifyResponse: p.answered,
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		api := routes[name](r)
		switch {
		case api == nil:
			forward.ServeHTTP(w, r)
		case strings.Contains(strings.ToLower(r.Header.Get("Upgrade")), "websocket"):
			// Codex tries a WebSocket first, and takes HTTP at once after this status.
			p.refuse(w, api, http.StatusUpgradeRequired, "the proxy does not speak WebSocket here; use HTTP")
		case r.Method != http.MethodPost:
			forward.ServeHTTP(w, r)
		default:
			r.Header.Del("Upgrade") // the client of Java offers HTTP/2 with each request, and goes on without it
			p.judge(w, r, api, forward)
		}
	})
}

// upstreamFailed answers a request whose upstream cannot be reached.
func (p *Proxy) upstreamFailed(name string) func(http.ResponseWriter, *http.Request, error) {
	return func(w http.ResponseWriter, r *http.Request, err error) {
		p.stats.upstreamErrors.Add(1)
		if r.Context().Err() != nil {
			return // the client has gone
		}
		p.options.Log.Warn("upstream unreachable", "api", name, "error", reverseproxy.Reason(err))
		a := routes[name](r)
		if a == nil {
			a = chat{}
		}
		p.refuse(w, a, http.StatusBadGateway, "unloop proxy: the upstream of "+name+" cannot be reached")
	}
}

// refuse answers with an error in the form of the API.
func (p *Proxy) refuse(w http.ResponseWriter, a api, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(a.failure(status, text)) // the client may have gone
}
