package grpcd

import (
	"context"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc/metadata"
)

// preface is what a client of HTTP/2 begins with, and its settings, which are empty.
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"

func TestUnprovenConnectionsDoNotExcludeOthers(t *testing.T) {
	for name, text := range map[string]string{
		"silent ones":                   "",
		"ones whose preface never ends": preface[:10],
		"ones that never make a call":   preface,
	} {
		for _, authorize := range []func(string) bool{nil, func(token string) bool { return token == "right" }} {
			kind := " without tokens"
			if authorize != nil {
				kind = " with tokens"
			}
			t.Run(name+kind, func(t *testing.T) {
				o := options()
				o.Connections, o.Authorize, o.Silence = 1024, authorize, time.Hour // the crowd stays
				to := &recorder{}
				r := start(t, to, o)
				send := func() {
					t.Helper()
					ctx, cancel := context.WithTimeout(metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer right"), time.Minute)
					defer cancel()
					if _, err := r.send(ctx, "a"); err != nil {
						t.Error(err)
					}
				}
				send()
				known := r.conn
				for range o.Connections + 50 {
					c, err := net.Dial("tcp", r.addr)
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { _ = c.Close() })
					_, _ = c.Write([]byte(text)) // it may be closed already
				}
				r.conn = dial(t, r.addr)
				send()
				r.conn = known
				send()
				if r.Stats().TurnedAway < 50 {
					t.Errorf("%+v", r.Stats())
				}
			})
		}
	}
}

func TestASilentUnprovenConnectionIsClosed(t *testing.T) {
	o := options()
	o.Silence = 50 * time.Millisecond
	r := start(t, &recorder{}, o)
	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte(preface)); err != nil {
		t.Fatal(err)
	}
	_ = c.SetReadDeadline(time.Now().Add(time.Minute))
	for err == nil {
		_, err = c.Read(make([]byte, 100))
	}
	if wait, ok := err.(net.Error); ok && wait.Timeout() {
		t.Error("the connection is open after a minute")
	}
	if got := r.Stats().TurnedAway; got != 1 {
		t.Errorf("turned away %d", got)
	}
}
