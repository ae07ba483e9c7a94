// Package connlimit bounds the connections of a listener, so that clients that prove nothing cannot keep out those that do. A
// connection is unproven until the server calls Prove: when the client has shown a token, or has sent a whole request where there are
// no tokens. Unproven connections have a share of the places and a short time. One too many takes the place of the oldest of them.
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

// Options bound a listener.
type Options struct {
	Connections int           // open at once; at least 1
	Silence     time.Duration // of an unproven connection, after which it is closed; above 0
}

// Validate returns what is wrong with the options.
func (o *Options) Validate() error {
	var wrong []error
	if o.Connections < 1 {
		wrong = append(wrong, fmt.Errorf("connections must be 1 at least, not %d", o.Connections))
	}
	if o.Silence <= 0 {
		wrong = append(wrong, fmt.Errorf("silence must be above 0, not %s", o.Silence))
	}
	return errors.Join(wrong...)
}

// share is the part of the places that unproven connections have: a quarter.
const share = 4

// Stats count what a listener did.
type Stats struct {
	Open     int   // connections at the moment
	Unproven int   // of them
	Evicted  int64 // unproven connections that were closed for a newer one
	Silent   int64 // unproven connections that were closed since they were silent for too long
}

// Listener accepts connections of another listener at once, and closes unproven ones that are too many. It is safe for concurrent
// use.
type Listener struct {
	net.Listener
	options  Options
	unproven int // places of unproven connections

	mu      sync.Mutex
	proven  int
	waiting list.List // of unproven *Conn, the oldest in front: one that sends a byte now and then gains nothing
	evicted int64
	silent  int64
}

// New returns a listener that takes its connections from another. The options must be valid.
func New(from net.Listener, o Options) *Listener {
	return &Listener{Listener: from, options: o, unproven: max(1, o.Connections/share)}
}

// Accept returns the next connection, which is a *Conn.
func (l *Listener) Accept() (net.Conn, error) {
	inner, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &Conn{Conn: inner, listener: l}
	if evicted := l.admit(c); evicted != nil {
		_ = evicted.Conn.Close() // nobody is there to tell
	}
	return c, nil
}

// admit gives a connection a place, and returns the one that loses its place to it.
func (l *Listener) admit(c *Conn) (evicted *Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting.Len() >= l.unproven {
		evicted = l.waiting.Front().Value.(*Conn)
		l.leave(evicted)
		l.evicted++
	}
	c.heard.Store(time.Now().UnixNano())
	c.place = l.waiting.PushBack(c)
	c.unproven.Store(true)
	c.timer = time.AfterFunc(l.options.Silence, c.expire)
	return evicted
}

// leave takes a connection out. The listener is locked.
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
	heard    atomic.Int64 // when something was read or written last

	// Guarded by the listener's mutex.
	place  *list.Element // among the unproven; nil for one that is proven or closed
	proven bool
	timer  *time.Timer
}

// Prove gives a connection a place that no other can take. Where all such places are taken it stays as it is, and may prove itself
// again. A nil connection is none.
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
		c.heard.Store(time.Now().UnixNano())
	}
}

// expire closes an unproven connection that was silent for too long, and looks again later at one that was not.
func (c *Conn) expire() {
	l := c.listener
	l.mu.Lock()
	if c.place == nil {
		l.mu.Unlock()
		return
	}
	if left := l.options.Silence - time.Since(time.Unix(0, c.heard.Load())); left > 0 {
		c.timer.Reset(left)
		l.mu.Unlock()
		return
	}
	l.leave(c)
	l.silent++
	l.mu.Unlock()
	_ = c.Conn.Close() // nobody is there to tell
}

// Close makes room for another connection.
func (c *Conn) Close() error {
	c.listener.mu.Lock()
	c.listener.leave(c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}
