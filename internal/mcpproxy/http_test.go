package mcpproxy

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"pgregory.net/rapid"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/memory"
	"github.com/unloop-ai/unloop/internal/nettest"
	"github.com/unloop-ai/unloop/profile"
)

// sdkServer returns a server of the SDK with a tool that finds nothing, and counts its calls.
func sdkServer() (*mcp.Server, *atomic.Int64) {
	calls := new(atomic.Int64)
	server := mcp.NewServer(&mcp.Implementation{Name: "server", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "search", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, _ *mcp.CallToolRequest, _ searchInput) (*mcp.CallToolResult, any, error) {
			calls.Add(1)
			return says("no results"), nil, nil
		})
	return server, calls
}

// inFront serves an HTTP proxy in front of the server at address.
func inFront(t *testing.T, address string, change func(*HTTPOptions)) *httptest.Server {
	t.Helper()
	upstream, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.New(profile.Default)
	if err != nil {
		t.Fatal(err)
	}
	o := HTTPOptions{Profile: p, Upstream: upstream, Log: slog.New(slog.DiscardHandler), MaxBody: 1 << 20, MaxBodies: 1 << 30, MaxMemory: 64 << 20}
	if change != nil {
		change(&o)
	}
	h, err := NewHTTP(o)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// dialRemote returns a transport of the stdio proxy in front of the server at address.
func pumpTo(t *testing.T, address string) mcp.Transport {
	t.Helper()
	clientSide, front := mcp.NewInMemoryTransports()
	connection, err := front.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	back := Dial(address, http.Header{"X-Key": {"k"}}, http.DefaultClient)
	go func() { ended <- Pump(context.WithoutCancel(t.Context()), newSession(t), connection, back) }()
	t.Cleanup(func() {
		if err := <-ended; err != nil {
			t.Errorf("the pump ended with %v", err)
		}
	})
	return clientSide
}

// servers are the ways in which a server of the SDK speaks HTTP.
var servers = map[string]func(*mcp.Server) http.Handler{
	"with sessions, in streams": func(s *mcp.Server) http.Handler {
		return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
	},
	"with sessions, in JSON": func(s *mcp.Server) http.Handler {
		return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{JSONResponse: true})
	},
	"without sessions": func(s *mcp.Server) http.Handler {
		return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true})
	},
	"as in 2024-11-05": func(s *mcp.Server) http.Handler {
		return mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return s }, nil)
	},
}

func TestARepeatedCallOverHTTPIsNudgedThenBlocked(t *testing.T) {
	for name, handler := range servers {
		for _, over := range []string{"HTTP", "stdio"} {
			t.Run(name+", the client over "+over, func(t *testing.T) {
				server, calls := sdkServer()
				upstream := httptest.NewServer(handler(server))
				t.Cleanup(upstream.Close)
				var transport mcp.Transport
				switch {
				case over == "stdio":
					transport = pumpTo(t, upstream.URL+"/mcp")
				case strings.Contains(name, "2024"):
					transport = &mcp.SSEClientTransport{Endpoint: inFront(t, upstream.URL+"/mcp", nil).URL + "/mcp"}
				default:
					transport = &mcp.StreamableClientTransport{Endpoint: inFront(t, upstream.URL+"/mcp", nil).URL + "/mcp"}
				}
				client, err := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil).Connect(t.Context(), transport, nil)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = client.Close() })
				loopUntilBlocked(t, client, calls)
			})
		}
	}
}

// loopUntilBlocked repeats a call until the proxy blocks it.
func loopUntilBlocked(t *testing.T, client *mcp.ClientSession, calls *atomic.Int64) {
	t.Helper()
	if _, err := client.ListTools(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	nudged := 0
	for i := range 40 {
		r, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "search", Arguments: map[string]any{"query": "loops"}})
		switch {
		case err != nil:
			t.Fatal(err)
		case r.IsError:
			if int64(i) != calls.Load() || !strings.HasPrefix(text(r), prefix) || nudged == 0 {
				t.Errorf("call %d was blocked with %q after %d nudges and %d calls at the server", i, text(r), nudged, calls.Load())
			}
			return
		case strings.Contains(text(r), prefix):
			nudged++
		}
	}
	t.Error("the call was never blocked")
}

func TestProgressAndRequestsOfTheServerPassOverHTTP(t *testing.T) {
	for _, over := range []string{"HTTP", "stdio"} {
		t.Run(over, func(t *testing.T) {
			server := mcp.NewServer(&mcp.Implementation{Name: "server", Version: "1"}, nil)
			mcp.AddTool(server, &mcp.Tool{Name: "search"}, func(ctx context.Context, r *mcp.CallToolRequest, _ searchInput) (*mcp.CallToolResult, any, error) {
				err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: "p", Message: "half", Progress: 1})
				return says("done"), nil, err
			})
			upstream := httptest.NewServer(servers["with sessions, in streams"](server))
			t.Cleanup(upstream.Close)
			transport := mcp.Transport(&mcp.StreamableClientTransport{Endpoint: inFront(t, upstream.URL, nil).URL})
			if over == "stdio" {
				transport = pumpTo(t, upstream.URL)
			}
			told := make(chan string, 8)
			client, err := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, &mcp.ClientOptions{
				ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { told <- r.Params.Message },
			}).Connect(t.Context(), transport, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = client.Close() })
			params := &mcp.CallToolParams{Name: "search", Arguments: map[string]any{"query": "x"}}
			params.SetProgressToken("p")
			if r, err := client.CallTool(t.Context(), params); err != nil || text(r) != "done" {
				t.Fatalf("%v, %v", r, err)
			}
			if got := <-told; got != "half" {
				t.Errorf("the progress is %q", got)
			}
		})
	}
}

// scripted is a server whose answers the test writes.
func scripted(t *testing.T, answer http.HandlerFunc, change func(*HTTPOptions)) *httptest.Server {
	t.Helper()
	upstream := httptest.NewServer(answer)
	t.Cleanup(upstream.Close)
	return inFront(t, upstream.URL+"/mcp", change)
}

// send posts a body and returns the answer.
func send(t *testing.T, address, body string, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
	return res, string(data)
}

func callBody(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"search","arguments":{"query":"x"}}}`, id)
}

func TestHeadersAndUnknownThingsPassOverHTTP(t *testing.T) {
	s := scripted(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Server", r.Header.Get("Mcp-Param-Region")+" "+r.Header.Get("Mcp-Name")+" "+r.Header.Get("Last-Event-Id")+" "+r.URL.Path)
		_, _ = fmt.Fprintf(w, `{ "jsonrpc":"2.0","id":1, "result":{"x":1.0,"body":%q} }`, body)
	}, nil)
	body := `{"jsonrpc":"2.0", "id":1,"method":"experimental/x","params":{ "y":2.50 }}`
	res, got := send(t, s.URL, body, "Mcp-Param-Region", "eu", "Mcp-Name", "n", "Last-Event-ID", "7")
	if want := fmt.Sprintf(`{ "jsonrpc":"2.0","id":1, "result":{"x":1.0,"body":%q} }`, body); got != want || res.Header.Get("X-Server") != "eu n 7 /mcp" {
		t.Errorf("got %s and %q, want %s", got, res.Header.Get("X-Server"), want)
	}
}

func TestBrowsersOfOtherSitesAndOtherHostsAreRefused(t *testing.T) {
	s := scripted(t, func(http.ResponseWriter, *http.Request) { t.Error("the request reached the server") }, nil)
	if res, _ := send(t, s.URL, `{}`, "Origin", "https://example.com", "Sec-Fetch-Site", "cross-site"); res.StatusCode != http.StatusForbidden {
		t.Errorf("another site got status %d", res.StatusCode)
	}
	r, err := http.NewRequest(http.MethodPost, s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "example.com"
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusForbidden {
		t.Errorf("another host got status %d", res.StatusCode)
	}
}

func TestOneBlockedCallOfABatchIsAnsweredByTheProxy(t *testing.T) {
	s := scripted(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		messages, _, err := decode(body)
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		var answers []string
		for range messages {
			answers = append(answers, `{"jsonrpc":"2.0","id":100,"result":{"content":[{"type":"text","text":"no results"}]}}`)
		}
		_, _ = io.WriteString(w, "["+strings.Join(answers, ",")+"]")
	}, nil)
	for i := range 40 {
		body := "[" + strings.Replace(callBody(i), `"x"`, `"x"`, 1) + `,{"jsonrpc":"2.0","id":100,"method":"ping"}]`
		_, got := send(t, s.URL, body, sessionHeader, "s")
		messages, _, err := decode([]byte(got))
		if err != nil || len(messages) != 2 {
			t.Fatalf("got %s, %v", got, err)
		}
		if strings.Contains(got, `"isError":true`) {
			return
		}
		// The result of the call has the id of the ping here, so the call stays open: only its number counts.
	}
	t.Error("no call of a batch was blocked")
}

func TestSessionsAreApartByTraceTokenAndSessionHeader(t *testing.T) {
	var mu sync.Mutex
	runs := map[string]int{}
	s := scripted(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
	}, func(o *HTTPOptions) {
		o.Record = func(e *unloop.Event) {
			mu.Lock()
			defer mu.Unlock()
			runs[e.RunID]++
		}
	})
	trace := func(id string) string {
		meta := fmt.Sprintf(`"_meta":{"traceparent":"00-%s-00f067aa0ba902b7-01"},`, strings.Repeat(id, 32))
		return strings.Replace(callBody(1), `"params":{`, `"params":{`+meta, 1)
	}
	for range 3 {
		send(t, s.URL, callBody(1), sessionHeader, "a")
		send(t, s.URL, callBody(1), sessionHeader, "b")
		send(t, s.URL, trace("1"), "Authorization", "Bearer t")
		send(t, s.URL, trace("2"), "Authorization", "Bearer t")
		send(t, s.URL, callBody(1), "Authorization", "Bearer t")
	}
	mu.Lock()
	defer mu.Unlock()
	if len(runs) != 5 {
		t.Errorf("%d runs, want 5: %v", len(runs), runs)
	}
	for run, n := range runs {
		if n != 6 {
			t.Errorf("run %s has %d events, want the start and the end of 3 calls", run, n)
		}
	}
}

func TestACallThatIsIssuedAgainAfterABrokenStreamIsNoFurtherCall(t *testing.T) {
	var events atomic.Int64
	broken := true
	s := scripted(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, ": hello\n\n")
		if !broken {
			_, _ = io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":[]}}\n\n")
		}
	}, func(o *HTTPOptions) {
		o.Record = func(e *unloop.Event) {
			if e.Type == unloop.ToolCallStarted {
				events.Add(1)
			}
		}
	})
	send(t, s.URL, callBody(1), sessionHeader, "s")
	broken = false
	send(t, s.URL, callBody(2), sessionHeader, "s")
	if events.Load() != 1 {
		t.Errorf("%d calls, want 1", events.Load())
	}
	send(t, s.URL, callBody(2), sessionHeader, "s")
	if events.Load() != 2 {
		t.Errorf("%d calls after one that was answered, want 2", events.Load())
	}
}

func TestPagesOfTheListOfToolsKeepTheirHints(t *testing.T) {
	session := newSession(t)
	for i, tool := range []string{"a", "b"} {
		r := request(t, float64(i), "tools/list", `{}`)
		session.Request(t.Context(), r)
		session.Response(t.Context(), &jsonrpc.Response{ID: r.ID, Result: []byte(fmt.Sprintf(
			`{"tools":[{"name":%q,"annotations":{"readOnlyHint":true}}],"nextCursor":"n"}`, tool))})
	}
	for _, tool := range []string{"a", "b"} {
		if h := session.tools.of(tool); h == nil || !h.ReadOnly {
			t.Errorf("the hints of %s are %v", tool, h)
		}
	}
}

// TestAStreamPassesUnchanged holds that a stream of any bytes, in chunks with any borders, reaches the client as it is if nothing
// in it is judged.
func TestAStreamPassesUnchanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.SampledFrom([]string{
			"data: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n", "data:\r\n", "\n", "\r\n", ": ping\n", "id: 7\n", "event: message\n", "data: [1]\n",
			"retry: 5\n", "data", strings.Repeat("y", 200) + "\n", "\x00\xff\n",
		})).Draw(t, "lines")
		want := strings.Join(lines, "")
		upstream := io.NopCloser(nettest.NewChunks(want, rapid.SliceOfN(rapid.IntRange(1, 40), 1, 8).Draw(t, "sizes")...))
		s := newEventStream(upstream, &eventMemory{memory.NewPool(1), 128, 0}, nil, func(e sse) []byte { return e.raw }, func(error) {})
		got, err := io.ReadAll(s)
		if err != nil || string(got) != want {
			t.Fatalf("got %q, %v; want %q", got, err, want)
		}
	})
}

func TestAnEventWithOtherDataKeepsItsOtherLines(t *testing.T) {
	e := parseEvent([]byte("id: 7\ndata: a\ndatabase: x\ndata: b\n: note\n\n"))
	if got := string(e.withData([]byte("new"))); string(e.data) != "a\nb" || got != "id: 7\ndata: new\ndatabase: x\n: note\n\n" {
		t.Errorf("%q became %q", e.data, got)
	}
}

// FuzzEvent holds that an event with other data keeps its other fields, and has that data.
func FuzzEvent(f *testing.F) {
	f.Add([]byte("id: 1\nevent: message\ndata: {}\ndata: x\n\n"))
	f.Add([]byte("data\r\n\r\n"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		in := bufio.NewReader(bytes.NewReader(stream))
		var all []byte
		for {
			raw, err := readEvent(in, func(bytes int) bool { return bytes <= 1<<20 })
			all = append(all, raw...)
			if err != nil {
				break
			}
			e := parseEvent(raw)
			changed := parseEvent(e.withData([]byte("new")))
			if e.data != nil && (string(changed.data) != "new" || changed.id != e.id || changed.name != e.name) {
				t.Fatalf("%q became %q", raw, changed.raw)
			}
		}
		if !bytes.Equal(all, stream) {
			t.Fatalf("read %q of %q", all, stream)
		}
	})
}
