// Package nettest gives tests addresses that nothing else takes, and connections for tests in fake time.
package nettest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
)

// FreeAddress returns an address of the loopback interface on which nothing listens. The kernel does not use its port for outgoing
// connections, so a server can listen on it, end, and listen on it again.
func FreeAddress(t testing.TB) string {
	t.Helper()
	var err error
	for range 100 {
		address := fmt.Sprint("127.0.0.1:", 20_000+rand.IntN(12_000)) // Linux uses ports from 32768 on, others from 49152 on
		var l net.Listener
		if l, err = net.Listen("tcp", address); err == nil {
			_ = l.Close() // it only tested the port
			return address
		}
	}
	t.Fatal(err)
	return ""
}

// Pipes is a listener whose connections are pipes, so that its server can be tested in fake time.
type Pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	close  func()
}

// NewPipes returns a listener. In a bubble of synctest it must be made in the bubble.
func NewPipes() *Pipes {
	closed := make(chan struct{})
	return &Pipes{conns: make(chan net.Conn), closed: closed, close: sync.OnceFunc(func() { close(closed) })}
}

// Dial connects to the listener, whatever the address is.
func (p *Pipes) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.conns <- far:
		return near, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept is for servers.
func (p *Pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close is for servers.
func (p *Pipes) Close() error { p.close(); return nil }

// Addr is for servers.
func (p *Pipes) Addr() net.Addr { return &net.TCPAddr{} }
