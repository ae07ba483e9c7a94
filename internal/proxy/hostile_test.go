package proxy

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/unloop-ai/unloop/internal/memory"
	"github.com/unloop-ai/unloop/internal/reverseproxy"
)

func TestAHostileBodyPassesUnjudgedAndUnchanged(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, _ = z.Write(make([]byte, 9<<20)) // a buffer takes all
	_ = z.Close()
	const n = 1 << 20
	for name, tc := range map[string]struct{ encoding, body string }{
		"brackets without end":   {"", `{"messages":` + strings.Repeat("[", n)},
		"a deep list":            {"", `{"messages":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`},
		"a deep item":            {"", `{"messages":[` + strings.Repeat(`{"content":`, n) + "1" + strings.Repeat("}", n) + `]}`},
		"deep arguments":         {"", `{"messages":[{"role":"user","content":"a"}],"tools":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`},
		"a gzip bomb":            {"gzip", bomb.String()},
		"a bomb that ends early": {"gzip", bomb.String()[:bomb.Len()/2]},
		"a cut character":        {"", "{\"messages\":[{\"role\":\"user\",\"content\":\"\xe2\x82"},
		"a body of 50 MB":        {"", `{"messages":[{"role":"user","content":"` + strings.Repeat("x ", 25<<20) + `"}]}`},
		"many empty members":     {"", `{` + strings.Repeat(`"":0,`, n/8) + `"messages":[1]}`},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUpstream(t)
			s, p := start(t, u, nil)
			r, err := http.NewRequest(http.MethodPost, s.URL+"/openai/v1/chat/completions", strings.NewReader(tc.body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Encoding", tc.encoding)
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if got := u.last(); string(got) != tc.body || p.Stats().Unjudged != 1 || p.Stats().Failures != 0 {
				t.Errorf("the upstream got %d bytes, want %d; %+v", len(got), len(tc.body), p.Stats())
			}
		})
	}
}

func TestRequestsOverTheMemoryOfAllPassUnjudged(t *testing.T) {
	const all = 1 << 20
	u := newUpstream(t)
	s, p := start(t, u, func(o *Options) { o.MaxBodies = all })
	body := `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("go on ", 1000) + `"}]}`
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = io.WriteString(z, body)
	_ = z.Close()
	for _, tc := range []struct {
		name     string
		taken    int64 // by other requests
		encoding string
		body     string
		unjudged int64
	}{
		{"a request that finds memory is judged", 0, "", body, 0},
		{"one that finds none passes", all, "", body, 1},
		{"one that finds some passes whole", all - reverseproxy.LeaseFactor<<12, "", body, 1},
		{"one that finds none for its decompressed form passes compressed", all - reverseproxy.LeaseFactor<<12, "gzip", packed.String(), 1},
		{"one that is larger than all memory passes", 0, "", strings.Repeat(body, 100), 1},
		{"one that cannot be read passes", 0, "gzip", body, 1},
		{"the next one is judged", 0, "", body, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before := p.Stats()
			take(t, p.bodies, tc.taken)
			_, _ = send(t, s.URL+"/openai/v1/chat/completions", []byte(tc.body), "Content-Encoding", tc.encoding)
			p.bodies.Give(tc.taken)
			if got := p.Stats(); got.Unjudged-before.Unjudged != tc.unjudged || got.Judged-before.Judged != 1-tc.unjudged || string(u.last()) != tc.body {
				t.Errorf("before %+v, then %+v, or the upstream got another body", before, got)
			}
			take(t, p.bodies, all)
			p.bodies.Give(all)
		})
	}
}

// take takes memory that requests return: an answer may reach the client before the transport has closed the body of the request.
func take(t *testing.T, pool *memory.Pool, bytes int64) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !pool.TryTake(bytes); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a request has not returned its memory")
		}
	}
}

func TestAnOpenStreamTakesNoMemoryOfBodies(t *testing.T) {
	const all = 1 << 20
	u := newUpstream(t)
	u.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	s, p := start(t, u, func(o *Options) { o.MaxBodies = all })
	res, err := http.Post(s.URL+"/openai/v1/chat/completions", "application/json", strings.NewReader(`{"messages":[{"role":"user","content":"go"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	take(t, p.bodies, all)
	if p.Stats().Judged != 1 {
		t.Errorf("the request was not judged: %+v", p.Stats())
	}
}

func TestAnUpstreamMayCloseAtEveryByte(t *testing.T) {
	for name, tc := range map[string]struct {
		api    withholder
		stream string
	}{
		"chat": {chat{}, streamedChunks("ls", "make", "pwd")}, "responses": {responses{}, streamedItems("ls", "ls", "make", "pwd")},
		"anthropic": {anthropic{}, streamedCalls("ls", "make", "pwd")},
	} {
		t.Run(name, func(t *testing.T) {
			read := reader(t, tc.api)
			for cut := range len(tc.stream) {
				broken := io.MultiReader(strings.NewReader(tc.stream[:cut]), iotest.ErrReader(io.ErrUnexpectedEOF))
				tapped := newTap(&http.Response{Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(broken)}, func(*outcome) {})
				tapped.ending = &ending{api: tc.api}
				if got, err := io.ReadAll(tapped); !errors.Is(err, io.ErrUnexpectedEOF) || string(got) != tc.stream[:cut] {
					t.Fatalf("cut at %d: %q, %v", cut, got, err)
				}
				if cut%7 != 0 { // a run is restored for each
					continue
				}
				if got, blocked := read(t, tc.stream[:cut], []int{1 << 20}); blocked == 0 && got != tc.stream[:cut] {
					t.Fatalf("cut at %d: %q", cut, got)
				}
			}
		})
	}
}

func TestAnAnswerThatBreaksOffBreaksOffAtTheClient(t *testing.T) {
	for name, answer := range map[string]string{
		"a stream":   "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: {}\n\r\n",
		"a document": "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"id\":",
		"a header":   "HTTP/1.1 200 OK\r\nContent-Ty",
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			var serving sync.WaitGroup
			t.Cleanup(serving.Wait)
			t.Cleanup(func() { _ = l.Close() })
			serving.Go(func() {
				for {
					conn, err := l.Accept()
					if err != nil {
						return
					}
					_, _ = conn.Read(make([]byte, 64<<10))
					_, _ = io.WriteString(conn, answer)
					_ = conn.Close()
				}
			})
			s, p := start(t, &upstream{Server: &httptest.Server{URL: "http://" + l.Addr().String()}}, nil)
			res, err := http.Post(s.URL+"/openai/v1/chat/completions", "application/json", strings.NewReader(`{"messages":[{"role":"user","content":"go"}]}`))
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			_, err = io.ReadAll(res.Body)
			if ended := err == nil && res.StatusCode == http.StatusOK; ended || p.Stats().Judged != 1 {
				t.Errorf("the answer ends in order with %d; %+v", res.StatusCode, p.Stats())
			}
		})
	}
}

func TestManySessionsAtOnceAreJudgedApart(t *testing.T) {
	u := newUpstream(t)
	_, p := start(t, u, func(o *Options) { o.Mode = Observe })
	var agents sync.WaitGroup
	for n := range 1000 {
		agents.Go(func() {
			body := fmt.Sprintf(`{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":"I am number %d"}]}`, n)
			r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/openai/v1/chat/completions", strings.NewReader(body))
			r.Header.Set("X-Session-Id", fmt.Sprint("session ", n))
			p.ServeHTTP(httptest.NewRecorder(), r)
		})
	}
	agents.Wait()
	if got := p.conversations.len(); got != 1000 || p.Stats().Judged+p.Stats().Failures != 1000 {
		t.Errorf("%d conversations; %+v", got, p.Stats())
	}
}

func TestAServedProxyRefusesAFloodOfHeadersAndAWrongLength(t *testing.T) {
	u := newUpstream(t)
	_, p := start(t, u, nil)
	address := serving(t, p)
	const head = "POST /openai/v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\n"
	for name, tc := range map[string]struct{ request, want string }{
		"a flood of headers":             {head + strings.Repeat("X-A: "+strings.Repeat("a", 100)+"\r\n", 2000) + "\r\n", "431"},
		"two lengths":                    {head + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "400"},
		"a length that is no number":     {head + "Content-Length: -1\r\n\r\n{}", "400"},
		"an unknown transfer coding":     {head + "Transfer-Encoding: gzip\r\n\r\n{}", "501"},
		"a chunk without a size":         {head + "Transfer-Encoding: chunked\r\n\r\nx\r\n{}", "400"},
		"a flood of chunk extensions":    {head + "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat("1;"+strings.Repeat("a", 1000)+"\r\n \r\n", 100), "400"},
		"two transfer codings":           {head + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "501"},
		"a space before a colon":         {head + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", "400"},
		"a body that is shorter":         {head + "Content-Length: 50\r\n\r\n{}", "400"},
		"an upstream in the target":      {"GET http://example.com/v1/models HTTP/1.1\r\nHost: example.com\r\n\r\n", "403"},
		"a path out of that of the API":  {"GET /openai/../../etc/passwd HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "400"},
		"a connection to another server": {"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n", "403"},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_, _ = io.WriteString(conn, tc.request) // it may be refused before its end
			_ = conn.(*net.TCPConn).CloseWrite()
			got, _ := io.ReadAll(conn)
			if !strings.HasPrefix(string(got), "HTTP/1.1 "+tc.want) {
				t.Errorf("got %.60q, want %s", got, tc.want)
			}
		})
	}
	if got := u.last(); got != nil {
		t.Errorf("the upstream got %q", got)
	}
}

func TestAWebSocketOfAnotherPathPasses(t *testing.T) {
	u := newUpstream(t)
	u.answer = func(w http.ResponseWriter, r *http.Request) {
		conn, both, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "+r.Header.Get("Upgrade")+"\r\n\r\n")
		line, _ := both.ReadString('\n')
		_, _ = io.WriteString(conn, "heard "+line)
	}
	_, p := start(t, u, nil)
	conn, err := net.Dial("tcp", serving(t, p))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "GET /openai/v1/realtime HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	reader := bufio.NewReader(conn)
	res, err := http.ReadResponse(reader, nil)
	if err != nil || res.StatusCode != http.StatusSwitchingProtocols || res.Header.Get("Upgrade") != "websocket" {
		t.Fatalf("got %+v, %v", res, err)
	}
	_, _ = io.WriteString(conn, "hello\n")
	if line, err := reader.ReadString('\n'); line != "heard hello\n" {
		t.Errorf("got %q, %v", line, err)
	}
}

// serving returns the address at which a proxy is served as the command serves it.
func serving(t *testing.T, p *Proxy) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- reverseproxy.Serve(ctx, l, p) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}
