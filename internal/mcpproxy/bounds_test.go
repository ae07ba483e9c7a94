package mcpproxy

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/guard"
)

func TestTheHeadersForAServerReachNoOtherOne(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("another server got %s with the key %q", r.Method, r.Header.Get("X-Key"))
	}))
	t.Cleanup(other.Close)
	for name, answer := range map[string]http.HandlerFunc{
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		},
		"an endpoint for messages": func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				w.WriteHeader(http.StatusMethodNotAllowed)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprintf(w, "event: endpoint\ndata: %s/messages\n\n", other.URL)
		},
	} {
		t.Run(name, func(t *testing.T) {
			upstream := httptest.NewServer(answer)
			t.Cleanup(upstream.Close)
			c := Dial(upstream.URL, http.Header{"X-Key": {"secret"}}, &http.Client{})
			t.Cleanup(func() { _ = c.Close() })
			if err := c.Write(t.Context(), request(t, 1.0, "initialize", `{}`)); err != nil {
				t.Fatal(err)
			}
			if m, err := c.Read(t.Context()); err == nil && m.(*jsonrpc.Response).Error == nil {
				t.Errorf("the answer is %v", m)
			}
		})
	}
}

func TestADeletionThatTheServerRefusesKeepsTheSession(t *testing.T) {
	s := scripted(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
	}, nil)
	for range 40 {
		if _, got := send(t, s.URL, callBody(1), sessionHeader, "s"); strings.Contains(got, `"isError":true`) {
			return
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, s.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set(sessionHeader, "s")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
	}
	t.Error("a client that deletes its session after each call is never blocked")
}

func TestABatchIsDecodedWithinTheMemoryOfItsMessages(t *testing.T) {
	message := `{"jsonrpc":"2.0","method":"x"}`
	for name, batch := range map[string]string{
		"more messages than are judged": "[" + strings.Repeat(message+",", maxBatch) + message + "]",
		"no messages":                   "[" + strings.Repeat("1,", 8<<20) + "1]",
		"data behind it":                "[" + message + "] " + message,
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _, err := decode([]byte(batch))
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; err == nil || took > 100<<20 {
				t.Errorf("error %v after %d bytes of memory for %d", err, took, len(batch))
			}
		})
	}
	most := "[" + strings.Repeat(message+", ", maxBatch-1) + message + " ]"
	if messages, raw, err := decode([]byte(most)); err != nil || len(messages) != maxBatch || string(raw[7]) != message {
		t.Errorf("%d messages, %v", len(messages), err)
	}
}

func TestAnswersThatFindNoMemoryPassUnjudged(t *testing.T) {
	large := `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", 300<<10) + `"}]}}`
	for kind, answer := range map[string]string{"application/json": large, "text/event-stream": "data: " + large + "\n\n"} {
		t.Run(kind, func(t *testing.T) {
			var mu sync.Mutex
			completed := 0
			s := scripted(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", kind)
				_, _ = io.WriteString(w, answer)
			}, func(o *HTTPOptions) {
				o.MaxBodies = 256 << 10
				o.Record = func(e *unloop.Event) {
					mu.Lock()
					defer mu.Unlock()
					if e.Type == unloop.ToolCallCompleted {
						completed++
					}
				}
			})
			if _, got := send(t, s.URL, callBody(1)); got != answer {
				t.Errorf("got %d bytes, want the %d of the server", len(got), len(answer))
			}
			mu.Lock()
			defer mu.Unlock()
			if completed != 0 {
				t.Error("an answer without memory was judged")
			}
			if h := s.Config.Handler.(*HTTP); !h.bodies.TryTake(h.bodies.Size()) {
				t.Error("some memory was not given back")
			}
		})
	}
}

func TestCallsThatAreNeverAnsweredStayWithinTheMemoryOfSessions(t *testing.T) {
	s := scripted(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "id: 1\ndata:\n\n") // a client can resume the stream, so the call stays open
	}, func(o *HTTPOptions) { o.MaxMemory = 4 << 20 })
	body := strings.Replace(callBody(1), `"x"`, `"`+strings.Repeat("x", 900<<10)+`"`, 1)
	for i := range 20 {
		send(t, s.URL, body, sessionHeader, fmt.Sprint(i))
	}
	sessions := s.Config.Handler.(*HTTP).sessions
	sessions.mu.Lock()
	defer sessions.mu.Unlock()
	if n := sessions.kept.Len(); n > 5 || sessions.bytes > 4<<20 {
		t.Errorf("%d sessions are kept, with %d bytes", n, sessions.bytes)
	}
}

func TestTheArgumentsOfOpenAndLostCallsAreBounded(t *testing.T) {
	q, session := newRequests(), newSession(t)
	for i := range 20 {
		call := func(bytes int) openCall {
			return openCall{call: guard.Call{ID: fmt.Sprint(i), Tool: "t", Args: []byte(fmt.Sprintf("%q", strings.Repeat("x", bytes)))}}
		}
		q.add(i, call(8<<20))
		session.open.add(i, call(1<<20+i))
		session.lose(t.Context(), session.open, i)
	}
	if n := len(q.calls); n == 0 || n > 8 || q.bytes > maxOpenBytes {
		t.Errorf("%d open calls of 8 MiB are kept, with %d bytes", n, q.bytes)
	}
	if n := len(session.lost); n == 0 || n > 4 || session.lostBytes > maxLostBytes {
		t.Errorf("%d lost calls of 1 MiB are kept, with %d bytes", n, session.lostBytes)
	}
	for i := range 20 {
		q.takeCall(i)
	}
	if q.bytes != 0 || !q.add(1, openCall{call: guard.Call{Args: make([]byte, maxOpenBytes+1)}}) {
		t.Errorf("%d bytes are left, or a single large call is not kept", q.bytes)
	}
}

func TestAStreamWithoutASessionBeginsNone(t *testing.T) {
	s := scripted(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n")
	}, nil)
	for _, method := range []string{http.MethodGet, http.MethodOptions, http.MethodHead, http.MethodPut} {
		r, err := http.NewRequestWithContext(t.Context(), method, s.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		res.Body.Close()
	}
	if n := s.Config.Handler.(*HTTP).sessions.kept.Len(); n != 0 {
		t.Errorf("%d sessions", n)
	}
}

func TestOnlyTheFirstEndpointOfAStreamCounts(t *testing.T) {
	sent, release := make(chan bool), make(chan bool)
	s := scripted(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 100 {
			_, _ = fmt.Fprintf(w, "event: endpoint\ndata: /messages?%d\n\n", i)
		}
		_ = http.NewResponseController(w).Flush()
		sent <- true
		<-release
	}, nil)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	<-sent
	if _, err := io.ReadFull(res.Body, make([]byte, 100*len("event: endpoint\ndata: /messages?\n\n"))); err != nil {
		t.Fatal(err)
	}
	h := s.Config.Handler.(*HTTP)
	h.mu.Lock()
	if len(h.streams) != 1 || h.streams["/messages?0"] == nil {
		t.Errorf("%d streams", len(h.streams))
	}
	h.mu.Unlock()
	close(release)
	_, _ = io.Copy(io.Discard, res.Body)
}

func TestAListOfToolsTakesBoundedMemory(t *testing.T) {
	const levels = 4000
	schema := strings.Repeat(`{"x-mcp-header":"H","properties":{"a":`, levels) + "{}" + strings.Repeat("}}", levels)
	c := Dial("http://server", nil, &http.Client{}).(*remote)
	long := strings.Repeat("n", maxName+1)
	list := &jsonrpc.Response{ID: request(t, 1.0, "x", `{}`).ID, Result: []byte(
		`{"tools":[{"name":"deep","inputSchema":` + schema + `},` +
			`{"name":"` + long + `","annotations":{"readOnlyHint":true},"inputSchema":` + schema + `}]}`)}
	c.params.ask(request(t, 1.0, "tools/list", `{}`))
	c.params.learn(list)
	if fields := c.params.tools["deep"]; len(fields) != maxFieldDepth || len(c.params.tools) != 1 {
		t.Errorf("%d tools are kept, one with %d arguments in headers", len(c.params.tools), len(fields))
	}
	tools := newTools()
	tools.learn(list.Result)
	if len(tools.hints) != 0 {
		t.Error("the hints of a tool with a long name are kept")
	}
}
