package httpd

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"

	"github.com/unloop-ai/unloop/internal/connlimit"
)

// connectionKey is the key of a request's *connlimit.Conn in its context.
type connectionKey struct{}

func withConnection(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, c)
}

// prove marks the connection of an allowed request as proven, which protects it from eviction: at once if it has a token, and
// after the whole request if the server has no tokens.
func (s *Server) prove(r *http.Request, scope Scope) {
	c, ok := r.Context().Value(connectionKey{}).(*connlimit.Conn)
	switch {
	case !ok:
	case len(s.auth.tokens) > 0:
		if scope != Anyone {
			c.Prove()
		}
	case r.Body == nil || r.Body == http.NoBody:
		c.Prove()
	default:
		r.Body = &provingBody{r.Body, c}
	}
}

// provingBody marks its connection as proven at its end.
type provingBody struct {
	io.ReadCloser
	connection *connlimit.Conn
}

func (b *provingBody) Read(to []byte) (int, error) {
	n, err := b.ReadCloser.Read(to)
	if errors.Is(err, io.EOF) {
		b.connection.Prove()
	}
	return n, err
}

// Connections returns counts of the listener's connections.
func (s *Server) Connections() connlimit.Stats {
	l := s.listener.Load()
	if l == nil {
		return connlimit.Stats{}
	}
	return l.Stats()
}
