package grpcd

import (
	"context"
	"net"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"

	"github.com/unloop-ai/unloop/internal/connlimit"
)

// plain passes the connection to the calls. It provides no security.
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

// connection is the connection of a call.
type connection struct {
	credentials.AuthInfo
	limited *connlimit.Conn
}

// prove marks the connection of a call as proven, which protects it from eviction.
func prove(ctx context.Context) {
	if p, ok := peer.FromContext(ctx); ok {
		if c, ok := p.AuthInfo.(connection); ok {
			c.limited.Prove()
		}
	}
}
