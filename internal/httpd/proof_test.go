package httpd

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/unloop-ai/unloop/internal/nettest"
)

// crowd opens connections that send some text and then nothing, until leave is called. The server may close them.
func crowd(t *testing.T, url string, connections int, text string) (leave func()) {
	t.Helper()
	var all []net.Conn
	for range connections {
		c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Write([]byte(text)) // it may be closed already
		all = append(all, c)
	}
	return func() {
		for _, c := range all {
			_ = c.Close()
		}
	}
}

// ask asks for the runs with a token, and reports whether an open connection was good for that.
func ask(t *testing.T, client *http.Client, url string) (reused bool) {
	t.Helper()
	trace := &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { reused = c.Reused }}
	r, err := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), trace), http.MethodGet, url+"/api/runs", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer all")
	answer, err := client.Do(r)
	if err != nil {
		t.Error(err)
		return false
	}
	_, err = io.Copy(io.Discard, answer.Body)
	_ = answer.Body.Close()
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Errorf("answered %s, error %v", answer.Status, err)
	}
	return reused
}

func TestUnprovenConnectionsDoNotExcludeOthers(t *testing.T) {
	for name, text := range map[string]string{
		"silent ones":                          "",
		"ones whose header never ends":         "GET /api/runs HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
		"ones that are idle behind an answer":  "GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"ones whose token is not known":        "GET /api/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer guess\r\n\r\n",
		"ones whose body without a token lags": "POST /api/events HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",
	} {
		for _, tokens := range [][]Token{nil, {hashed("owner", Admin, "all")}} {
			t.Run(fmt.Sprintf("%s, %d tokens", name, len(tokens)), func(t *testing.T) {
				h := newTestServer(t, func(o *Options) {
					o.Tokens = tokens
					o.Limits.Silence, o.Limits.HeaderTime, o.Limits.ReadTime = time.Hour, time.Hour, time.Hour // the crowd stays
				})
				url, stop := serveOn(t, h)
				const limit = time.Minute
				client := &http.Client{Timeout: limit, Transport: &http.Transport{}}
				ask(t, client, url)
				leave := crowd(t, url, h.Limits.Connections+50, text)
				fresh := &http.Client{Timeout: limit, Transport: &http.Transport{}}
				ask(t, fresh, url)
				if !ask(t, client, url) {
					t.Error("the connection that had proved itself was closed")
				}
				if s := h.Connections(); s.Open > h.Limits.Connections {
					t.Errorf("%+v", s)
				}
				leave()
				client.CloseIdleConnections()
				fresh.CloseIdleConnections()
				if err := stop(); err != nil {
					t.Errorf("stop: %v", err)
				}
			})
		}
	}
}

func TestASilentConnectionWithoutATokenIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, network := newTestServer(t, func(o *Options) { o.Tokens = []Token{hashed("owner", Admin, "all")} }), nettest.NewPipes()
		stop := serveFrom(t, h, network)
		c, err := network.Dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write([]byte("GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		_ = c.SetReadDeadline(time.Now().Add(time.Minute)) // the server gives 120 s between two requests
		answer, err := io.ReadAll(c)
		if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 200") {
			t.Errorf("%q, %v", answer, err)
		}
		if s := h.Connections(); s.Silent != 1 {
			t.Errorf("%+v", s)
		}
		if err := stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
}
