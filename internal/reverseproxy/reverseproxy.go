// Package reverseproxy holds what the proxies in front of model APIs and of MCP servers share: reading a request's body, sending it
// on, refusing pages of other sites, and serving until the command ends.
package reverseproxy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/unloop-ai/unloop/internal/memory"
)

// ErrTooLarge is the error of a body that is larger than the limit.
var ErrTooLarge = errors.New("the body is larger than what is judged")

// ReadUpTo reads all of r. If that is more than limit bytes, the error is ErrTooLarge. With an error it returns what it read.
func ReadUpTo(r io.Reader, limit int64) ([]byte, error) {
	var b bytes.Buffer
	return readInto(&b, r, limit)
}

func readInto(b *bytes.Buffer, r io.Reader, limit int64) ([]byte, error) {
	if _, err := b.ReadFrom(io.LimitReader(r, limit+1)); err != nil {
		return b.Bytes(), err
	}
	if int64(b.Len()) > limit {
		return b.Bytes(), ErrTooLarge
	}
	return b.Bytes(), nil
}

// maxAhead is how much memory a body gets before its bytes arrive: a client may announce more than it sends. The lease does not count it.
const maxAhead = 64 << 10

// ReadBody reads the body of a request, within the memory of a lease, and puts it back, so that the request can be forwarded. A body of
// more than limit bytes is ErrTooLarge, and one that finds no memory is memory.ErrBusy; both are put back as well. The upstream is not
// asked whether it expects the body, because the client has sent it.
func ReadBody(r *http.Request, limit int64, l *Lease) ([]byte, error) {
	r.Header.Del("Expect")
	if r.ContentLength > limit {
		return nil, ErrTooLarge
	}
	var b bytes.Buffer
	if r.ContentLength > 0 {
		b.Grow(int(min(r.ContentLength, maxAhead)) + bytes.MinRead)
	}
	body, err := readInto(&b, l.Reader(r.Body), limit)
	switch {
	case errors.Is(err, ErrTooLarge), errors.Is(err, memory.ErrBusy):
		r.Body = Rejoin(body, r.Body)
		return nil, err
	case err != nil:
		return nil, err
	}
	SetBody(r, body)
	return body, nil
}

// Rejoin returns a body whose first bytes were already read.
func Rejoin(read []byte, rest io.ReadCloser) io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(read), rest), rest}
}

// SetBody gives a request a body.
func SetBody(r *http.Request, data []byte) {
	b := new(body)
	b.unread.Reset(data)
	r.Body = b
	r.ContentLength = int64(len(data))
	if r.Header.Get("Content-Length") != "" {
		r.Header.Set("Content-Length", strconv.Itoa(len(data)))
	}
}

// body is the body of a request. It releases its bytes once they are read, because the answer may be streamed for minutes after that.
type body struct{ unread bytes.Reader }

func (b *body) Read(p []byte) (int, error) {
	n, err := b.unread.Read(p)
	if b.unread.Len() == 0 {
		b.unread.Reset(nil)
	}
	return n, err
}

func (b *body) Close() error { return nil }

// Local returns a handler that refuses requests that a browser sends from another site, with status 403: a page could send requests to
// this machine, and the upstream cannot detect them, because the host that it sees is its own. Command is the name of the command in the
// answer.
func Local(command string, h http.Handler) http.Handler {
	guarded := http.NewCrossOriginProtection().Handler(h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLoopback(r.Host) {
			http.Error(w, "unloop "+command+": the host must be a loopback address or localhost", http.StatusForbidden)
			return
		}
		guarded.ServeHTTP(w, r)
	})
}

// isLoopback reports whether a Host header names this machine.
func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// Transport returns a transport that leaves the compression to the client and keeps enough idle connections for many agents.
func Transport() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DisableCompression, t.MaxIdleConnsPerHost = true, 256
	return t
}

// Reason returns the text of an error of a transport for the log. An error about an invalid answer quotes it, and an answer may repeat
// secrets of the request.
func Reason(err error) string {
	text, _, _ := strings.Cut(err.Error(), `"`)
	return text
}

// Serve serves h on l, over HTTP/1 and over HTTP/2 without TLS, until ctx ends. Answers that are under way have ten seconds to end.
func Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	server := &http.Server{
		Handler: cutSlow(h, slowest), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10, Protocols: protocols,
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if server.Shutdown(grace) != nil {
		_ = server.Close() // what is still under way is cut
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
