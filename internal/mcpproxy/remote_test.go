package mcpproxy

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// transport is a server without a network.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// streamOf returns an answer with a stream.
func streamOf(body io.Reader) *http.Response {
	return &http.Response{
		StatusCode: http.StatusOK, Status: "200 OK", Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(body),
	}
}

// lasting is a body that ends after a time.
type lasting time.Duration

func (l lasting) Read([]byte) (int, error) {
	time.Sleep(time.Duration(l))
	return 0, io.ErrUnexpectedEOF
}

// sendTo sends a message to a server and returns the connection.
func sendTo(t *testing.T, server transport, m jsonrpc.Message) *remote {
	t.Helper()
	c := Dial("http://server/mcp", nil, &http.Client{Transport: server}).(*remote)
	if err := c.Write(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestABrokenStreamIsContinuedBehindItsLastEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		gets := 0
		c := sendTo(t, func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPost {
				return streamOf(strings.NewReader("id: 7\nretry: 3000\ndata:\n\n")), nil
			}
			if gets++; gets < 3 {
				return nil, errors.New("unreachable")
			}
			if id, waited := r.Header.Get("Last-Event-ID"), time.Since(begun); id != "7" || waited != 9*time.Second {
				t.Errorf("the stream continues behind %q after %v, want 7 after three times the 3 s that the server asks for", id, waited)
			}
			return streamOf(strings.NewReader("id: 8\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n")), nil
		}, request(t, float64(1), "tools/call", `{}`))
		m, err := c.Read(t.Context())
		if answer, ok := m.(*jsonrpc.Response); err != nil || !ok || answer.Error != nil {
			t.Errorf("the answer is %v (%v)", m, err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestAStreamThatBringsNothingIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gets := 0
		c := sendTo(t, func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodGet {
				gets++
				return streamOf(strings.NewReader("")), nil
			}
			return streamOf(strings.NewReader("id: 7\ndata:\n\n")), nil
		}, request(t, float64(1), "tools/call", `{}`))
		m, err := c.Read(t.Context())
		if answer, ok := m.(*jsonrpc.Response); err != nil || !ok || answer.Error == nil || gets != maxResumes {
			t.Errorf("the answer is %v (%v) after %d connections", m, err, gets)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestAQuietStreamIsOpenedAgainWheneverAGatewayCutsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gets := 0
		c := sendTo(t, func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPost {
				return &http.Response{StatusCode: http.StatusAccepted, Body: http.NoBody}, nil
			}
			if gets++; gets < 3*maxResumes {
				return streamOf(lasting(time.Minute)), nil
			}
			return streamOf(strings.NewReader("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n")), nil
		}, &jsonrpc.Request{Method: "notifications/initialized"})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if m, err := c.Read(ctx); err != nil {
			t.Errorf("the notification is %v (%v) after %d connections", m, err, gets)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}
