package connlimit

import (
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// pipes is a listener whose connections a test makes.
type pipes struct {
	net.Listener
	conns chan net.Conn
}

func (p *pipes) Accept() (net.Conn, error) { return <-p.conns, nil }

// open makes a connection and returns both of its ends.
func open(t rapid.TB, l *Listener) (near net.Conn, accepted *Conn) {
	near, far := net.Pipe()
	l.Listener.(*pipes).conns <- far
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return near, c.(*Conn)
}

func listen(connections int) *Listener {
	return New(&pipes{conns: make(chan net.Conn, 1)}, Options{Connections: connections, Silence: time.Second})
}

func closed(near net.Conn) bool {
	_ = near.SetReadDeadline(time.Now()) // it is a pipe, which has deadlines
	_, err := near.Read(make([]byte, 1))
	return errors.Is(err, io.EOF)
}

func TestANewConnectionReplacesTheOldestUnprovenOne(t *testing.T) {
	l := listen(8) // of them 2 are for unproven ones
	first, _ := open(t, l)
	second, _ := open(t, l)
	known, accepted := open(t, l)
	accepted.Prove()
	if !closed(first) || closed(second) || closed(known) {
		t.Errorf("closed: %v, %v, %v", closed(first), closed(second), closed(known))
	}
	open(t, l)
	open(t, l)
	if !closed(second) || closed(known) {
		t.Errorf("closed after that: %v, %v", closed(second), closed(known))
	}
	if s := l.Stats(); s != (Stats{Open: 3, Unproven: 2, Evicted: 2}) {
		t.Errorf("%+v", s)
	}
}

func TestASilentUnprovenConnectionIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := listen(16)
		silent, _ := open(t, l)
		slow, slowEnd := open(t, l)
		known, knownEnd := open(t, l)
		knownEnd.Prove()
		go func() { _, _ = io.Copy(io.Discard, slowEnd) }()
		for range 10 {
			time.Sleep(900 * time.Millisecond)
			if _, err := slow.Write([]byte{'x'}); err != nil {
				t.Fatal(err)
			}
		}
		if !closed(silent) || closed(known) {
			t.Errorf("closed: %v, %v", closed(silent), closed(known))
		}
		time.Sleep(1100 * time.Millisecond)
		if !closed(slow) || closed(known) {
			t.Errorf("closed after that: %v, %v", closed(slow), closed(known))
		}
		if s := l.Stats(); s != (Stats{Open: 1, Silent: 2}) {
			t.Errorf("%+v", s)
		}
	})
}

// TestConnectionsAreLimitedAndProvenOnesKept does anything in any order.
func TestConnectionsAreLimitedAndProvenOnesKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 12).Draw(t, "limit")
		l := listen(limit)
		type pair struct {
			near net.Conn
			end  *Conn
		}
		var all []pair
		known := map[*Conn]net.Conn{}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			at := 0
			if len(all) > 0 {
				at = rapid.IntRange(0, len(all)-1).Draw(t, "at")
			}
			switch what := rapid.IntRange(0, 3).Draw(t, "what"); {
			case what <= 1 || len(all) == 0:
				near, end := open(t, l)
				all = append(all, pair{near, end})
			case what == 2:
				all[at].end.Prove()
				if all[at].end.proven {
					known[all[at].end] = all[at].near
				}
			default:
				_ = all[at].end.Close()
				delete(known, all[at].end)
				all = append(all[:at], all[at+1:]...)
			}
			if s := l.Stats(); s.Open > limit || s.Unproven > max(1, limit/share) || s.Open-s.Unproven != len(known) {
				t.Fatalf("%+v, with %d proven and a limit of %d", s, len(known), limit)
			}
			for _, near := range known {
				if closed(near) {
					t.Fatal("a proven connection was closed")
				}
			}
		}
		for _, p := range all {
			_ = p.end.Close()
		}
		if s := l.Stats(); s.Open != 0 {
			t.Fatalf("when all are closed: %+v", s)
		}
	})
}
