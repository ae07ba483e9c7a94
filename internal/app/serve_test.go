package app

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/unloop-ai/unloop/internal/config"
	"github.com/unloop-ai/unloop/internal/store/storetest/sqlite"
)

// serve runs a server as a user would have it, on a free port and with a database of its own, until the test ends. It returns the
// server's URL. Change may be nil.
func serve(t testing.TB, change func(*config.Config)) string {
	t.Helper()
	return serveAt(t, change).URL
}

// serveAt is serve for who wants more than the URL.
func serveAt(t testing.TB, change func(*config.Config)) Addresses {
	t.Helper()
	c := config.Default()
	c.Addr, c.GRPCAddr, c.DB = "127.0.0.1:0", "127.0.0.1:0", sqlite.Database(t)
	if change != nil {
		change(c)
	}
	a, stop, serving := startServer(c)
	if stop == nil {
		t.Fatal(serving.err)
	}
	t.Cleanup(func() {
		stop()
		if err := serving.wait(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// startServer starts a server, and returns its addresses and a function that stops it. If the server ended before it was ready, the function
// is nil.
func startServer(c *config.Config) (a Addresses, stop context.CancelFunc, serving *part) {
	ready := make(chan Addresses, 1)
	ctx, stop := context.WithCancel(context.Background())
	s := Serve{Config: c, Version: "test", Log: slog.New(slog.DiscardHandler), Ready: func(a Addresses) { ready <- a }}
	serving = begin(func() error { return s.Run(ctx) })
	select {
	case a = <-ready:
		return a, stop, serving
	case <-serving.done:
		stop()
		return a, nil, serving
	}
}

// post sends a body, and returns what was answered if that was fine. As a client does, it sends it again to a server that asks for
// that: on a busy machine the servers of a cluster may not reach one another in time.
func post(t testing.TB, url, contentType string, body []byte) []byte {
	t.Helper()
	for until := time.Now().Add(time.Minute); ; {
		answer, err := http.Post(url, contentType, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		again := answer.StatusCode == http.StatusServiceUnavailable && answer.Header.Get("Retry-After") != ""
		if !again || time.Now().After(until) {
			return read(t, answer)
		}
		answer.Body.Close()
		<-time.After(100 * time.Millisecond)
	}
}

// get returns what is at a URL.
func get(t testing.TB, url string) []byte {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	return read(t, answer)
}

func read(t testing.TB, answer *http.Response) []byte {
	t.Helper()
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode/100 != 2 {
		t.Fatalf("%s: %s: %.500s (%v)", answer.Request.URL.Path, answer.Status, body, err)
	}
	return body
}

func unmarshal(t testing.TB, text []byte, to any) {
	t.Helper()
	if err := json.Unmarshal(text, to); err != nil {
		t.Fatalf("%v: %.500s", err, text)
	}
}
