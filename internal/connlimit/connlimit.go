// Package connlimit limits the connections of a listener, so that unauthenticated clients cannot exclude others. A connection is
// unproven until the server calls Prove: when the client has sent a token, or a whole request if the server has no tokens.
// Unproven connections may use a quarter of the limit, for a limited time. A further one replaces the oldest of them.
package connlimit

import (
	"container/list"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Options are the limits of a listener.
type Options struct {
	Connections int           // maximum number of open connections; at least 1
	Silence     time.Duration // time after which an inactive unproven connection is closed; above 0
}

// Validate returns all errors of the options.
func (o *Options) Validate() error {
	var wrong []error
	if o.Connections < 1 {
		wrong = append(wrong, fmt.Errorf("connections must be at least 1, not %d", o.Connections))
	}
	if o.Silence <= 0 {
		wrong = append(wrong, fmt.Errorf("silence must be above 0, not %s", o.Silence))
	}
	return errors.Join(wrong...)
}

// share is the divisor for the limit of unproven connections: a quarter of all.
const share = 4

// Stats are counts of a listener.
type Stats struct {
	Open     int   // open connections
	Unproven int   // open unproven connections
	Evicted  int64 // unproven connections that were closed for a newer one
	Silent   int64 // unproven connections that were closed because of inactivity
}

// Listener accepts all connections of another listener and closes unproven ones beyond the limit. It is safe for concurrent use.
type Listener struct {
	net.Listener
	options  Options
	unproven int       // maximum number of unproven connections
	begun    time.Time // what the times of connections count from; the clock of the day may be set

	mu      sync.Mutex
	proven  int
	waiting list.List // unproven *Conn, the oldest first; activity does not change the order
	evicted int64
	silent  int64
}

// New returns a listener for the connections of another. The options must be valid.
func New(from net.Listener, o Options) *Listener {
	return &Listener{Listener: from, options: o, unproven: max(1, o.Connections/share), begun: time.Now()}
}

// Accept returns the next connection, which is a *Conn.
func (l *Listener) Accept() (net.Conn, error) {
	inner, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &Conn{Conn: inner, listener: l}
	if evicted := l.admit(c); evicted != nil {
		_ = evicted.Conn.Close() // an error has no consequence
	}
	return c, nil
}

// admit adds a connection, and returns the one that is evicted for it.
func (l *Listener) admit(c *Conn) (evicted *Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting.Len() >= l.unproven {
		evicted = l.waiting.Front().Value.(*Conn)
		l.leave(evicted)
		l.evicted++
	}
	c.heard.Store(int64(time.Since(c.listener.begun)))
	c.place = l.waiting.PushBack(c)
	c.unproven.Store(true)
	c.timer = time.AfterFunc(l.options.Silence, c.expire)
	return evicted
}

// leave removes a connection. The caller holds the lock.
func (l *Listener) leave(c *Conn) {
	if c.place != nil {
		l.waiting.Remove(c.place)
		c.place = nil
		c.unproven.Store(false)
		c.timer.Stop()
	}
	if c.proven {
		c.proven = false
		l.proven--
	}
}

// Stats returns the counts so far.
func (l *Listener) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Stats{Open: l.proven + l.waiting.Len(), Unproven: l.waiting.Len(), Evicted: l.evicted, Silent: l.silent}
}

// Conn is a connection of a Listener.
type Conn struct {
	net.Conn
	listener *Listener
	unproven atomic.Bool
	heard    atomic.Int64 // of the last read or write: nanoseconds since the listener began

	// Guarded by the mutex of the listener.
	place  *list.Element // element in waiting; nil for a proven or closed connection
	proven bool
	timer  *time.Timer
}

// Prove protects a connection from eviction. If the limit of proven connections is reached, it does nothing, and may be called
// again. It does nothing for a nil connection.
func (c *Conn) Prove() {
	if c == nil || !c.unproven.Load() {
		return
	}
	l := c.listener
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.place == nil || l.proven >= l.options.Connections-l.unproven {
		return
	}
	l.leave(c)
	c.proven = true
	l.proven++
}

// Read implements net.Conn.
func (c *Conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.moved(n)
	return n, err
}

// Write implements net.Conn.
func (c *Conn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.moved(n)
	return n, err
}

func (c *Conn) moved(n int) {
	if n > 0 && c.unproven.Load() {
		c.heard.Store(int64(time.Since(c.listener.begun)))
	}
}

// expire closes an unproven connection that is inactive, and otherwise schedules the next check.
func (c *Conn) expire() {
	l := c.listener
	l.mu.Lock()
	if c.place == nil {
		l.mu.Unlock()
		return
	}
	if left := l.options.Silence - time.Since(l.begun) + time.Duration(c.heard.Load()); left > 0 {
		c.timer.Reset(left)
		l.mu.Unlock()
		return
	}
	l.leave(c)
	l.silent++
	l.mu.Unlock()
	_ = c.Conn.Close() // an error has no consequence
}

// Close closes the connection and frees its place.
func (c *Conn) Close() error {
	c.listener.mu.Lock()
	c.listener.leave(c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}
