package httpd

import (
	"net"
	"sync"
)

// limitListener lets in so many connections at once. Further ones wait in the kernel's queue.
type limitListener struct {
	net.Listener
	slots chan struct{} // full: Accept waits
	done  chan struct{}
	once  sync.Once
}

func newLimitListener(l net.Listener, connections int) *limitListener {
	return &limitListener{Listener: l, slots: make(chan struct{}, connections), done: make(chan struct{})}
}

// Accept returns the next connection when there is room for it.
func (l *limitListener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.done:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &limitedConn{Conn: c, leave: sync.OnceFunc(func() { <-l.slots })}, nil
}

// Close ends Accept.
func (l *limitListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return l.Listener.Close()
}

type limitedConn struct {
	net.Conn
	leave func()
}

// Close makes room for another connection.
func (c *limitedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
