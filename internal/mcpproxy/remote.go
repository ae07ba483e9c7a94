package mcpproxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"sync"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/unloop-ai/unloop/internal/mcplines"
	"github.com/unloop-ai/unloop/internal/reverseproxy"
)

// MaxMessage is the greatest size of a message of a server, or of a client over lines, in bytes.
const MaxMessage = 64 << 20

// withoutSessions is the first revision without sessions and without streams of GET.
const withoutSessions = "2026-07-28"

// remote is a connection to a server that speaks streamable HTTP. The client of the SDK would keep only messages that it knows.
// It is safe for concurrent use.
type remote struct {
	url      string
	header   http.Header
	client   *http.Client
	incoming chan jsonrpc.Message // to Read; without a buffer
	ctx      context.Context
	stop     context.CancelFunc
	params   *paramHeaders

	mu      sync.Mutex
	session string
	version string                     // of the protocol, "" until it is known
	open    map[any]context.CancelFunc // requests that are not answered, by id
	legacy  mcp.Connection             // to a server of revision 2024-11-05; nil for others
}

// Dial returns a connection to the server at url. The header is sent with each request. It connects with the first message.
func Dial(url string, header http.Header, client *http.Client) mcp.Connection {
	ctx, stop := context.WithCancel(context.Background())
	kept := *client
	kept.Transport = onlyOrigin{url, client.Transport}
	client = &kept
	return &remote{
		url: url, header: header, client: client, incoming: make(chan jsonrpc.Message), ctx: ctx, stop: stop,
		open: make(map[any]context.CancelFunc), params: newParamHeaders(),
	}
}

func (c *remote) SessionID() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session
}

// Read returns the next message of the server.
func (c *remote) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-c.incoming:
		return m, nil
	case <-c.ctx.Done():
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// deliver hands a message to Read.
func (c *remote) deliver(m jsonrpc.Message) {
	if r, ok := m.(*jsonrpc.Response); ok {
		c.params.learn(r)
	}
	select {
	case c.incoming <- m:
	case <-c.ctx.Done():
	}
}

// Write sends a message. It waits for the answer of a notification, so that messages behind it are sent behind it, and does not
// wait for that of a request.
func (c *remote) Write(ctx context.Context, m jsonrpc.Message) error {
	c.mu.Lock()
	legacy := c.legacy
	c.mu.Unlock()
	if legacy != nil {
		return legacy.Write(ctx, m)
	}
	r, ok := m.(*jsonrpc.Request)
	if ok && r.IsCall() {
		c.params.ask(r)
		callCtx, cancel := context.WithCancel(c.ctx)
		c.mu.Lock()
		c.open[r.ID.Raw()] = cancel
		c.mu.Unlock()
		go func() {
			defer c.closed(r.ID.Raw())
			c.call(callCtx, r)
		}()
		return nil
	}
	if ok && r.Method == "notifications/cancelled" && c.cancelCall(r) {
		return nil
	}
	res, err := c.post(c.ctx, m)
	if err != nil {
		return nil // a notification has no answer that could tell it
	}
	_ = res.Body.Close() // it has no content
	if ok && r.Method == "notifications/initialized" {
		go c.listen()
	}
	return nil
}

// closed forgets a request.
func (c *remote) closed(id any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel := c.open[id]; cancel != nil {
		cancel()
	}
	delete(c.open, id)
}

// cancelCall closes the connection of a request, which cancels it from revision 2026-07-28 on. It reports false in other
// revisions.
func (c *remote) cancelCall(r *jsonrpc.Request) bool {
	id := mcplines.CanceledID(r.Params)
	c.mu.Lock()
	defer c.mu.Unlock()
	cancel := c.open[id]
	if c.version < withoutSessions || cancel == nil {
		return false
	}
	cancel()
	return true
}

// call sends a request and delivers the messages of its answer. A request without an answer gets an error.
func (c *remote) call(ctx context.Context, r *jsonrpc.Request) {
	res, err := c.post(ctx, r)
	if err == nil && r.Method == "initialize" && isOldServer(res.StatusCode) && c.connectLegacy(ctx, r) {
		_ = res.Body.Close() // the answer is no message
		return
	}
	if err == nil {
		err = c.answer(ctx, r, res)
	}
	if err != nil && c.ctx.Err() == nil && ctx.Err() == nil {
		c.deliver(&jsonrpc.Response{ID: r.ID, Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}})
	}
}

// isOldServer reports whether status is the answer of a server of revision 2024-11-05 to a message by POST.
func isOldServer(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusNotFound || status == http.StatusMethodNotAllowed
}

// connectLegacy connects to a server of revision 2024-11-05 and sends it the first request.
func (c *remote) connectLegacy(ctx context.Context, first *jsonrpc.Request) bool {
	client := &http.Client{Transport: withHeader{c.header, c.client.Transport}}
	legacy, err := (&mcp.SSEClientTransport{Endpoint: c.url, HTTPClient: client}).Connect(c.ctx)
	if err != nil {
		return false
	}
	c.mu.Lock()
	c.legacy = legacy
	c.mu.Unlock()
	go func() {
		defer c.stop()
		for {
			m, err := legacy.Read(c.ctx)
			if err != nil {
				return
			}
			c.deliver(m)
		}
	}()
	return legacy.Write(ctx, first) == nil
}

// errOtherOrigin is the error of a request that the server directs to another server. That one must learn neither the headers nor the
// messages.
var errOtherOrigin = errors.New("the server directs the request to another server")

// onlyOrigin is a transport that sends requests only to the host of an address, and without TLS only if the address has none.
type onlyOrigin struct {
	address string
	next    http.RoundTripper
}

func (t onlyOrigin) RoundTrip(r *http.Request) (*http.Response, error) {
	origin, err := url.Parse(t.address)
	if err != nil || r.URL.Host != origin.Host || r.URL.Scheme != origin.Scheme && r.URL.Scheme != "https" {
		return nil, errOtherOrigin
	}
	return cmp.Or(t.next, http.DefaultTransport).RoundTrip(r)
}

// withHeader is a transport that sends more headers.
type withHeader struct {
	header http.Header
	next   http.RoundTripper
}

func (t withHeader) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, values := range t.header {
		r.Header[name] = values
	}
	return t.next.RoundTrip(r)
}

// answer delivers the messages of the answer to a request.
func (c *remote) answer(ctx context.Context, r *jsonrpc.Request, res *http.Response) error {
	defer res.Body.Close()
	if id := res.Header.Get(sessionHeader); id != "" {
		c.mu.Lock()
		c.session = id
		c.mu.Unlock()
	}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")) // another one is an error below
	switch kind {
	case "application/json":
		body, err := reverseproxy.ReadUpTo(res.Body, MaxMessage)
		if err != nil {
			return fmt.Errorf("read the answer of the server: %w", err)
		}
		messages, _, err := decode(body)
		if err != nil {
			return fmt.Errorf("the server answered with status %s and no message", res.Status)
		}
		for _, m := range messages {
			c.received(r, m)
		}
		return nil
	case "text/event-stream":
		return c.follow(ctx, r, res)
	}
	return &statusError{res.Status}
}

// received delivers a message, and learns the version of the protocol from the answer to initialize. It reports whether the
// message answers r.
func (c *remote) received(r *jsonrpc.Request, m jsonrpc.Message) bool {
	answer, ok := m.(*jsonrpc.Response)
	answers := ok && r != nil && answer.ID == r.ID
	if answers && r.Method == "initialize" {
		var result struct {
			Version string `json:"protocolVersion"`
		}
		_ = jsonv2.Unmarshal(answer.Result, &result, lenient) // an error has no version
		c.mu.Lock()
		c.version = result.Version
		c.mu.Unlock()
	}
	c.deliver(m)
	return answers
}

// listen delivers the messages that answer no request, in the revisions that have a stream for them.
func (c *remote) listen() {
	if c.protocol() >= withoutSessions {
		return
	}
	res, err := c.get(c.ctx, "")
	if err != nil {
		return // the server has no such stream
	}
	_ = c.follow(c.ctx, nil, res) // without it, the answers to requests still come
}

func (c *remote) protocol() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version
}

// Close ends the session.
func (c *remote) Close() error {
	c.mu.Lock()
	session, legacy := c.session, c.legacy
	c.session = ""
	c.mu.Unlock()
	defer c.stop()
	if legacy != nil {
		return legacy.Close()
	}
	if session == "" || c.ctx.Err() != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(c.ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, c.url, nil)
	if err != nil {
		return err
	}
	c.setHeaders(req, nil)
	req.Header.Set(sessionHeader, session)
	res, err := c.client.Do(req)
	if err != nil {
		return nil // the server ends the session on its own
	}
	return res.Body.Close()
}
