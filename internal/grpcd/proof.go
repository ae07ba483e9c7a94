package grpcd

import (
	"context"
	"net"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"

	"github.com/unloop-ai/unloop/internal/connlimit"
)

// plain hands calls the connection over which they come. It secures nothing.
type plain struct {
	credentials.TransportCredentials
}

// ServerHandshake implements credentials.TransportCredentials.
func (p plain) ServerHandshake(c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	secured, info, err := p.TransportCredentials.ServerHandshake(c)
	if limited, ok := c.(*connlimit.Conn); ok && err == nil {
		info = connection{info, limited}
	}
	return secured, info, err
}

// Clone implements credentials.TransportCredentials.
func (p plain) Clone() credentials.TransportCredentials { return plain{p.TransportCredentials.Clone()} }

// connection is what a call knows of its connection.
type connection struct {
	credentials.AuthInfo
	limited *connlimit.Conn
}

// prove gives the connection of a call a place that others cannot take.
func prove(ctx context.Context) {
	if p, ok := peer.FromContext(ctx); ok {
		if c, ok := p.AuthInfo.(connection); ok {
			c.limited.Prove()
		}
	}
}
