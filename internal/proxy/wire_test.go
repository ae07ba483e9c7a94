package proxy

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// oneMessage is a request with one message of a person.
const oneMessage = `{"messages":[{"role":"user","content":"go"}]}`

// exchange sends bytes to an address and returns the answer.
func exchange(t *testing.T, address, request string) *http.Response {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_, _ = io.WriteString(conn, request) // it may be refused before its end
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestATargetReachesTheUpstreamAsItIs(t *testing.T) {
	u := newUpstream(t)
	var got string
	u.answer = func(_ http.ResponseWriter, r *http.Request) { got = r.RequestURI }
	base, err := url.Parse(u.URL + "/team")
	if err != nil {
		t.Fatal(err)
	}
	_, p := start(t, u, func(o *Options) { o.Upstreams["openai"] = base })
	address := serving(t, p)
	for target, want := range map[string]string{
		"/openai/v1/models":              "/team/v1/models",
		"/openai//v1//models/":           "/team//v1//models/",
		"/openai/v1/models/a%2Fb//c%20d": "/team/v1/models/a%2Fb//c%20d",
		"/openai/v1/./models..":          "/team/v1/./models..",
		"/openai/v1/models?a=1;b=2&c=%z": "/team/v1/models?a=1;b=2&c=%z",
		"/openai":                        "/team/",
		"/openai/../v1/models":           "",
		"/openai/%2e%2e/v1/models":       "",
		"/openai/v1/..%2f../models":      "",
		"/openai/..%5Cmodels":            "",
		"/openai%2Fv1/models":            "",
		"/other/v1/models":               "",
	} {
		got = ""
		res := exchange(t, address, "GET "+target+" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
		if ok := res.StatusCode == http.StatusOK; got != want || ok != (want != "") {
			t.Errorf("%s reached the upstream as %q with %d, want %q", target, got, res.StatusCode, want)
		}
	}
}

func TestAnOfferOfHTTP2IsJudgedAndAWebSocketIsNot(t *testing.T) {
	u := newUpstream(t)
	var got http.Header
	u.answer = func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Clone() }
	_, p := start(t, u, nil)
	address := serving(t, p)
	for upgrade, want := range map[string]int{"h2c": http.StatusOK, "WebSocket": http.StatusUpgradeRequired, "h2c, websocket": http.StatusUpgradeRequired} {
		res := exchange(t, address, fmt.Sprintf("POST /openai/v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade, HTTP2-Settings\r\n"+
			"HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA\r\nUpgrade: %s\r\nContent-Length: %d\r\n\r\n%s", upgrade, len(oneMessage), oneMessage))
		if res.StatusCode != want {
			t.Errorf("%s: got %d, want %d", upgrade, res.StatusCode, want)
		}
	}
	if p.Stats().Judged != 1 || got.Get("Upgrade") != "" || got.Get("Http2-Settings") != "" {
		t.Errorf("the upstream got %v; %+v", got, p.Stats())
	}
}

func TestAClientThatWaitsToSendItsBodyIsToldToContinue(t *testing.T) {
	u := newUpstream(t)
	_, p := start(t, u, nil)
	conn, err := net.Dial("tcp", serving(t, p))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /openai/v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", len(oneMessage))
	reader := bufio.NewReader(conn)
	for _, want := range []int{http.StatusContinue, http.StatusOK} {
		res, err := http.ReadResponse(reader, nil)
		if err != nil || res.StatusCode != want {
			t.Fatalf("got %+v, %v, want %d", res, err, want)
		}
		_, _ = io.WriteString(conn, oneMessage)
	}
}

func TestAnInformationalAnswerPasses(t *testing.T) {
	u := newUpstream(t)
	u.answer = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", "</a>")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Del("Link")
		_, _ = io.WriteString(w, "{}")
	}
	_, p := start(t, u, nil)
	var early []string
	trace := &httptrace.ClientTrace{Got1xxResponse: func(code int, h textproto.MIMEHeader) error {
		early = append(early, fmt.Sprint(code, " ", h.Get("Link")))
		return nil
	}}
	r, err := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), trace), http.MethodPost, "http://"+serving(t, p)+"/openai/v1/chat/completions", strings.NewReader(oneMessage))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if diff := cmp.Diff([]string{"103 </a>"}, early); diff != "" || res.StatusCode != http.StatusOK || res.Header.Get("Link") != "" {
		t.Errorf("got %d %v, %s", res.StatusCode, res.Header, diff)
	}
}

func TestAResetStreamOfHTTP2EndsOnlyItsOwnCall(t *testing.T) {
	const calls = 100
	u := newUpstream(t)
	ended := make(chan struct{}, calls)
	u.answer = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: 1\n\n")
		w.(http.Flusher).Flush()
		if r.Header.Get("X-Reset") != "" {
			<-r.Context().Done()
			ended <- struct{}{}
		}
	}
	_, p := start(t, u, nil)
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	client := &http.Client{Transport: &http.Transport{Protocols: protocols}}
	defer client.CloseIdleConnections()
	base := "http://" + serving(t, p) + "/openai/v1/chat/completions"
	ask := func(ctx context.Context, reset string) (*http.Response, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, base, strings.NewReader(oneMessage))
		if err != nil {
			return nil, err
		}
		r.Header.Set("X-Reset", reset)
		return client.Do(r)
	}
	var asking sync.WaitGroup
	for range calls {
		asking.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if res, err := ask(ctx, "yes"); err != nil {
				t.Error(err)
			} else {
				cancel()
				_ = res.Body.Close()
			}
		})
	}
	asking.Wait()
	for range calls {
		<-ended
	}
	res, err := ask(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if got, err := io.ReadAll(res.Body); err != nil || string(got) != "data: 1\n\n" || res.ProtoMajor != 2 {
		t.Errorf("got %q over %s, %v", got, res.Proto, err)
	}
}

func TestAnInvalidAnswerIsNotLogged(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var answering sync.WaitGroup
	defer answering.Wait()
	defer l.Close()
	answers := []string{"Bearer secret-key\r\n\r\n", "HTTP/1.1 200 OK\r\nBearer secret-key\r\n\r\n", "HTTP/1.1 secret-key\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: secret-key\r\n\r\n"}
	answering.Go(func() {
		for _, answer := range answers {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 64<<10))
			_, _ = io.WriteString(conn, answer)
			_ = conn.Close()
		}
	})
	var log bytes.Buffer
	s, p := start(t, &upstream{Server: &httptest.Server{URL: "http://" + l.Addr().String()}}, func(o *Options) {
		o.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	for range answers {
		send(t, s.URL+"/openai/v1/chat/completions", []byte(oneMessage), "Authorization", "Bearer secret-key")
	}
	s.Close()
	if p.Stats().UpstreamErrors != int64(len(answers)) || strings.Count(log.String(), "malformed") == 0 || strings.Contains(log.String(), "secret-key") {
		t.Errorf("the log is %s; %+v", &log, p.Stats())
	}
}

func TestTheHistoriesOfOpenStreamsAreNotKeptInMemory(t *testing.T) {
	const streams, size = 20, 4 << 20
	u := newUpstream(t)
	release := make(chan struct{})
	u.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: 1\n\n")
		w.(http.Flusher).Flush()
		<-release
	})
	_, p := start(t, u, nil)
	base := "http://" + serving(t, p) + "/openai/v1/chat/completions"
	body := `{"messages":[{"role":"user","content":"` + strings.Repeat("a ", size/2) + `"}]}`
	var before, during runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range streams {
		res, err := http.Post(base, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
	}
	runtime.GC()
	runtime.ReadMemStats(&during)
	close(release)
	if grown := int64(during.HeapAlloc) - int64(before.HeapAlloc); grown > streams*size/2 {
		t.Errorf("%d open streams with histories of %d MiB keep %d MiB", streams, size>>20, grown>>20)
	}
}

func TestConversationsOfManyClientsStayWithinTheirMemory(t *testing.T) {
	const limit = 1 << 20
	u := newUpstream(t)
	_, p := start(t, u, func(o *Options) { o.Mode, o.MaxMemory = Observe, limit })
	body := string(history(20<<10, 10, 1))
	var agents sync.WaitGroup
	for n := range 500 {
		agents.Go(func() {
			for range 2 {
				r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/openai/v1/chat/completions", strings.NewReader(body))
				r.Header.Set("X-Session-Id", fmt.Sprint("session ", n))
				p.ServeHTTP(httptest.NewRecorder(), r)
			}
		})
	}
	agents.Wait()
	c, sum := p.conversations, 0
	for _, key := range c.kept.Keys() {
		e, _ := c.kept.Peek(key)
		sum += e.bytes
	}
	if sum != c.bytes || sum > limit || c.kept.Len() < 2 || p.Stats().Judged+p.Stats().Failures != 1000 {
		t.Errorf("%d conversations take %d bytes, counted as %d; %+v", c.kept.Len(), sum, c.bytes, p.Stats())
	}
}
