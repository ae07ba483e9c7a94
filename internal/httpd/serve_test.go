package httpd

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/unloop-ai/unloop/internal/nettest"
)

// serveOn runs a server on a port of its own until stop is called, which returns what Serve returned.
func serveOn(t *testing.T, h *testServer) (url string, stop func() error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return "http://" + l.Addr().String(), serveFrom(t, h, l)
}

// serveFrom runs a server on a listener until stop is called, which returns what Serve returned.
func serveFrom(t *testing.T, h *testServer, l net.Listener) (stop func() error) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- h.Serve(ctx, l) }()
	return sync.OnceValue(func() error { cancel(); return <-done })
}

func TestStreamsEndWhenTheServerStops(t *testing.T) {
	h := newTestServer(t, nil)
	url, stop := serveOn(t, h)
	w := watch(t, url+"/api/stream")
	w.block()
	w.block()
	if err := stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	if m := w.next(); m != (sse{}) {
		t.Errorf("%+v", m)
	}
}

func TestAStreamMayExceedTheTimeoutOfRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, network := newTestServer(t, nil), nettest.NewPipes()
		stop := serveFrom(t, h, network)
		w := watchOver(t, network.Dial, "http://localhost/api/stream")
		for begin := time.Now(); time.Since(begin) < 3*max(h.Limits.ReadTime, h.Limits.WriteTime); {
			if w.block() == "" {
				t.Fatalf("it ended after %v", time.Since(begin))
			}
		}
		w.body.Close()
		if err := stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
}

func TestASlowSenderIsDisconnected(t *testing.T) {
	for name, begun := range map[string]string{
		"a header": "GET /api/health HTTP/1.1\r\nHost: localhost\r\n",
		"a body":   "POST /api/events HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network := nettest.NewPipes()
				stop := serveFrom(t, newTestServer(t, func(o *Options) { o.Limits.ReadTime, o.Limits.Silence = 30*time.Second, time.Hour }), network)
				c, err := network.Dial(t.Context(), "", "")
				if err != nil {
					t.Fatal(err)
				}
				if _, err := c.Write([]byte(begun)); err != nil {
					t.Fatal(err)
				}
				_ = c.SetReadDeadline(time.Now().Add(2 * time.Minute))
				answer := make([]byte, 4096)
				n, err := c.Read(answer)
				answered := strings.HasPrefix(string(answer[:n]), "HTTP/1.1 4")
				if !answered && name == "a body" || !answered && err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("%q, %v", answer[:n], err)
				}
				c.Close()
				if err := stop(); err != nil {
					t.Errorf("stop: %v", err)
				}
			})
		})
	}
}

func TestASlowSenderDoesNotMakeAStopAnError(t *testing.T) {
	h := newTestServer(t, func(o *Options) { o.Limits.Grace = 50 * time.Millisecond })
	url, stop := serveOn(t, h)
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	begun := "POST /api/events HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n"
	if _, err := c.Write([]byte(begun)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 1)); err != nil { // the server reads the body
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
}
