package grpcd

import (
	"net"
	"sync"
	"sync/atomic"
)

// listener holds connections to a limit. One too many is closed at once and counted, so that its client hears of it and those
// behind it do not wait for one that never ends.
type listener struct {
	net.Listener
	limit      int64
	open       atomic.Int64
	turnedAway *atomic.Int64
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.open.Add(1) <= l.limit {
			return &conn{Conn: c, release: sync.OnceFunc(func() { l.open.Add(-1) })}, nil
		}
		l.open.Add(-1)
		l.turnedAway.Add(1)
		_ = c.Close() // nobody is there to tell
	}
}

type conn struct {
	net.Conn
	release func()
}

func (c *conn) Close() error {
	c.release()
	return c.Conn.Close()
}
