package reverseproxy

import (
	"io"
	"net/http"
	"sync"
	"time"
)

// slowest is how long a client may neither send nor take a byte that the proxy waits for.
const slowest = time.Minute

// cutSlow returns a handler that ends the request of a client that takes longer than limit to send or to take the next bytes. How long an
// answer takes altogether is not limited.
func cutSlow(h http.Handler, limit time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &client{ResponseWriter: w, control: http.NewResponseController(w), limit: limit}
		_ = c.control.SetWriteDeadline(time.Time{}) // that of the request before, on the same connection
		defer c.end()
		if r.Body != nil && r.Body != http.NoBody {
			r.Body = &clientBody{r.Body, c}
		}
		h.ServeHTTP(c, r)
		_ = c.control.SetWriteDeadline(time.Now().Add(limit)) // the server writes the rest
	})
}

// client writes an answer. A deadline holds during each write only, because HTTP/2 resets a stream whose deadline passes. Connections
// without deadlines have no limit, so their errors are ignored.
type client struct {
	http.ResponseWriter
	control *http.ResponseController
	limit   time.Duration

	mu    sync.Mutex
	ended bool // the handler has returned: its ResponseWriter must not be used any more
}

func (c *client) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
}

// readUntil sets the deadline of the client's body. A transport may read the body after the handler has returned, when the client or
// the upstream has ended the request. HTTP/2 would panic then, which would end the program.
func (c *client) readUntil(deadline time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		_ = c.control.SetReadDeadline(deadline)
	}
}

// Unwrap is for http.ResponseController.
func (c *client) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *client) Write(p []byte) (int, error) {
	_ = c.control.SetWriteDeadline(time.Now().Add(c.limit))
	defer func() { _ = c.control.SetWriteDeadline(time.Time{}) }()
	return c.ResponseWriter.Write(p)
}

// FlushError is for http.ResponseController.
func (c *client) FlushError() error {
	_ = c.control.SetWriteDeadline(time.Now().Add(c.limit))
	defer func() { _ = c.control.SetWriteDeadline(time.Time{}) }()
	return c.control.Flush()
}

// clientBody is the body of a request. A deadline holds until its end is read, and not behind it, where the server notices that the
// client has gone by reading on.
type clientBody struct {
	io.ReadCloser
	client *client
}

func (b *clientBody) Read(p []byte) (int, error) {
	b.client.readUntil(time.Now().Add(b.client.limit))
	n, err := b.ReadCloser.Read(p)
	b.client.readUntil(time.Time{})
	return n, err
}
