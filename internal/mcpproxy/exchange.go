package mcpproxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/internal/memory"
	"github.com/unloop-ai/unloop/internal/reverseproxy"
)

// exchange is a request of a client and its answer, which may be a stream.
type exchange struct {
	proxy   *HTTP
	key     string   // of the session
	session *Session // nil for a stream without a session
	open    *requests
	lease   *reverseproxy.Lease // memory of the request and of its answer
	ends    bool                // the request ends the session
	posted  bool
	kept    bool      // open outlives the exchange: an answer may come in another one
	batch   bool      // the request is a batch
	events  *exchange // the stream that carries the answers, in revision 2024-11-05

	closeCancels bool              // the client cancels its call by closing the connection
	calls        []any             // the ids of the calls
	blocked      []json.RawMessage // answers in the server's place
	ctx          context.Context   // of the request
	resumable    bool              // the stream has ids

	mu     sync.Mutex
	stream *eventStream // nil before the answer
	path   string       // to which messages are posted, in revision 2024-11-05
}

// begin gives the exchange the session with the key, which begins if there is none.
func (x *exchange) begin(key string) {
	x.key, x.session = key, x.proxy.sessions.get(key)
	x.open = x.session.open
}

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// judge judges a message of the client.
func (x *exchange) judge(ctx context.Context, m jsonrpc.Message) *jsonrpc.Response {
	r, ok := m.(*jsonrpc.Request)
	if !ok {
		return nil
	}
	answer := x.session.request(ctx, x.open, r)
	if answer == nil && r.Method == "tools/call" && r.ID.IsValid() {
		x.calls = append(x.calls, r.ID.Raw())
	}
	return answer
}

// answer gives the blocked answers to a client whose request does not reach the server.
func (x *exchange) answer(w http.ResponseWriter) {
	if x.events != nil {
		for _, b := range x.blocked {
			if x.events.put(b) != nil {
				break // the client has gone
			}
		}
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(x.withBlocked(nil)) // the client may have gone
}

// put sends an event to the client in the stream of the exchange.
func (x *exchange) put(data []byte) error {
	x.mu.Lock()
	s := x.stream
	x.mu.Unlock()
	if s == nil {
		return errors.New("no stream")
	}
	return s.put(data)
}

// withBlocked returns the answers of the server and the blocked ones.
func (x *exchange) withBlocked(raw []json.RawMessage) []byte {
	raw = append(raw, x.blocked...)
	if len(raw) == 1 && !x.batch {
		return raw[0]
	}
	return encodeBatch(raw)
}

// answered reads the answer of the server.
func (h *HTTP) answered(res *http.Response) error {
	x := exchangeOf(res.Request.Context())
	if x == nil || res.Header.Get("Content-Encoding") != "" {
		return nil
	}
	if x.ends {
		if res.StatusCode < http.StatusMultipleChoices || res.StatusCode == http.StatusNotFound {
			h.sessions.remove(x.key)
		}
		return nil
	}
	x.ctx = res.Request.Context()
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")) // another one is passed
	switch {
	case kind == "text/event-stream":
		s := newEventStream(res.Body, &eventMemory{pool: h.bodies, limit: int(h.options.MaxBody)}, x.blocked, x.event, x.ended)
		x.mu.Lock()
		x.stream = s
		x.mu.Unlock()
		res.Body = s
		res.ContentLength = -1
		res.Header.Del("Content-Length")
	case kind == "application/json":
		return x.document(res)
	case len(x.blocked) > 0 && res.StatusCode == http.StatusAccepted:
		res.StatusCode, res.Status = http.StatusOK, "200 OK"
		res.Header.Set("Content-Type", "application/json")
		setAnswer(res, x.withBlocked(nil))
	case res.StatusCode >= http.StatusBadRequest:
		x.fail(res.Status)
	}
	return nil
}

// document reads an answer that is one JSON document.
func (x *exchange) document(res *http.Response) error {
	body, err := reverseproxy.ReadUpTo(x.lease.Reader(res.Body), x.proxy.options.MaxBody)
	if errors.Is(err, reverseproxy.ErrTooLarge) || errors.Is(err, memory.ErrBusy) {
		res.Body = reverseproxy.Rejoin(body, res.Body)
		x.fail("a result that is too large to be judged")
		return nil
	}
	_ = res.Body.Close() // it is read
	if err != nil {
		return err
	}
	messages, raw, err := decode(body)
	if err != nil {
		x.fail(res.Status)
		setAnswer(res, body)
		return nil
	}
	if x.responses(messages, raw) || len(x.blocked) > 0 {
		x.batch = x.batch || isBatch(body)
		body = x.withBlocked(raw)
	}
	setAnswer(res, body)
	x.ended(io.EOF)
	return nil
}

// responses judges messages of the server. It replaces the bytes of those that change, and reports whether there are any.
func (x *exchange) responses(messages []jsonrpc.Message, raw []json.RawMessage) (changed bool) {
	if x.session == nil {
		return false
	}
	for i, m := range messages {
		r, ok := m.(*jsonrpc.Response)
		if !ok {
			continue
		}
		if judged := x.session.response(x.ctx, x.open, r); judged != r {
			raw[i], changed = encodeResponse(judged), true
		}
	}
	return changed
}

// setAnswer gives an answer a body.
func setAnswer(res *http.Response, body []byte) {
	res.Body = io.NopCloser(bytes.NewReader(body))
	res.ContentLength = int64(len(body))
	res.Header.Set("Content-Length", strconv.Itoa(len(body)))
}

// event judges an event of a stream and returns its bytes for the client.
func (x *exchange) event(e sse) []byte {
	if e.id != "" {
		x.resumable = true
	}
	if e.name == "endpoint" && !x.posted && x.path == "" {
		return x.endpoint(e)
	}
	if len(e.data) == 0 {
		return e.raw
	}
	messages, raw, err := decode(e.data)
	if err != nil {
		return e.raw
	}
	switch {
	case !x.responses(messages, raw):
		return e.raw
	case isBatch(e.data):
		return e.withData(encodeBatch(raw))
	}
	return e.withData(raw[0])
}

// endpoint notes the path to which the messages of a stream are posted, in revision 2024-11-05. An address at the server becomes
// one at the proxy.
func (x *exchange) endpoint(e sse) []byte {
	at, err := x.proxy.options.Upstream.Parse(strings.TrimSpace(string(e.data)))
	if err != nil || at.Host != x.proxy.options.Upstream.Host {
		return e.raw
	}
	x.begin(hashed("stream", at.RequestURI()))
	x.mu.Lock()
	x.path = at.RequestURI()
	x.mu.Unlock()
	x.proxy.mu.Lock()
	defer x.proxy.mu.Unlock()
	if len(x.proxy.streams) < maxSessions {
		x.proxy.streams[x.path] = x
	}
	if strings.Contains(string(e.data), "://") {
		return e.withData([]byte(x.path))
	}
	return e.raw
}

// ended is called at the end of an answer. Calls that it did not answer are lost, canceled, or answered in another exchange.
func (x *exchange) ended(err error) {
	if x.path != "" {
		x.proxy.mu.Lock()
		if x.proxy.streams[x.path] == x {
			delete(x.proxy.streams, x.path)
		}
		x.proxy.mu.Unlock()
	}
	clientLeft := !errors.Is(err, io.EOF) && x.ctx != nil && x.ctx.Err() != nil || errors.Is(err, io.ErrClosedPipe)
	for _, id := range x.calls {
		switch {
		case clientLeft && (x.closeCancels || !x.kept):
			x.session.giveUp(context.Background(), x.open, id)
		case clientLeft, x.kept && (x.resumable || x.events != nil):
		default:
			x.session.lose(context.Background(), x.open, id)
		}
	}
}

// fail records that the server answered the calls with something that is no result.
func (x *exchange) fail(why string) {
	for _, id := range x.calls {
		if c, ok := x.open.takeCall(id); ok {
			x.session.guard.After(context.Background(), c.call, guard.Outcome{Err: errors.New(why), Latency: time.Since(c.begun)})
		}
	}
}
