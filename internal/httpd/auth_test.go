package httpd

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/live"
)

func hashed(name string, scope Scope, secret string) Token {
	sum := sha256.Sum256([]byte(secret))
	return Token{name, scope, hex.EncodeToString(sum[:])}
}

func TestTokensDeterminePermissions(t *testing.T) {
	h := newTestServer(t, func(o *Options) {
		o.Tokens = []Token{hashed("agent", Ingest, "in"), hashed("viewer", Read, "out"), hashed("owner", Admin, "all")}
	})
	h.Mount("GET /mounted", Read, http.NotFoundHandler())
	post := func(w *httptest.ResponseRecorder) int { return w.Code }
	for _, tc := range []struct {
		method, path, body string
		want               [5]int // without a token, with an unknown one, for ingest, for read, for all
	}{
		{"POST", "/api/events", event("r", 1, "x", ""), [5]int{401, 401, 201, 403, 201}},
		{"POST", "/api/runs", `{"id":"r"}`, [5]int{401, 401, 201, 403, 201}},
		{"POST", "/v1/traces", "{}", [5]int{401, 401, 200, 403, 200}},
		{"POST", "/api/guard", "{}", [5]int{401, 401, 200, 403, 200}},
		{"GET", "/api/runs", "", [5]int{401, 401, 403, 200, 200}},
		{"GET", "/api/runs/r/events", "", [5]int{401, 401, 403, 200, 200}},
		{"GET", "/api/compare?a=r&b=r", "", [5]int{401, 401, 403, 200, 200}},
		{"GET", "/api/overview", "", [5]int{401, 401, 403, 200, 200}},
		{"POST", "/api/runs/r/replay", "{}", [5]int{401, 401, 403, 200, 200}},
		{"GET", "/mounted", "", [5]int{401, 401, 403, 404, 404}},
		{"DELETE", "/api/runs/r", "", [5]int{401, 401, 403, 403, 204}},
		{"GET", "/api/health", "", [5]int{200, 200, 200, 200, 200}},
		{"GET", "/openapi.json", "", [5]int{200, 200, 200, 200, 200}},
		{"HEAD", "/api/runs", "", [5]int{401, 401, 403, 200, 200}},
	} {
		for i, authorization := range []string{"", "Bearer nobody's", "Bearer in", "bearer out", "Bearer all"} {
			w := h.do(tc.method, tc.path, tc.body, "Authorization", authorization, "Content-Type", "application/json")
			if post(w) != tc.want[i] {
				t.Errorf("%s %s with %q: %d, want %d", tc.method, tc.path, authorization, w.Code, tc.want[i])
			}
			if challenge := w.Header().Get("WWW-Authenticate"); (challenge != "") != (w.Code == 401) {
				t.Errorf("%s %s with %q: %d, WWW-Authenticate %q", tc.method, tc.path, authorization, w.Code, challenge)
			}
		}
	}
	for _, wrong := range []string{"Basic all", "all", "Bearer", "Bearer ", "Bearer al", "Bearer all "} {
		want := http.StatusUnauthorized
		if wrong == "Bearer all " {
			want = http.StatusOK // white space at the end is none of the token
		}
		if w := h.do(http.MethodGet, "/api/runs", "", "Authorization", wrong); w.Code != want {
			t.Errorf("%q: %d, want %d", wrong, w.Code, want)
		}
	}
}

func TestOnlyHealthAndOpenAPINeedNoToken(t *testing.T) {
	h := newTestServer(t, nil)
	var open []string
	routes := 0
	for path, item := range h.api.OpenAPI().Paths {
		for method, op := range map[string]*huma.Operation{"GET": item.Get, "POST": item.Post, "DELETE": item.Delete} {
			if op == nil {
				continue
			}
			routes++
			if scope, known := h.scopes[method+" "+path]; !known || scope == Anyone {
				open = append(open, method+" "+path)
			}
		}
	}
	slices.Sort(open)
	if diff := cmp.Diff([]string{"GET /api/health", "GET /openapi.json"}, open); diff != "" {
		t.Error(diff)
	}
	if routes != len(h.scopes) {
		t.Errorf("%d routes are described, %d have a scope", routes, len(h.scopes))
	}
}

func TestRequestsForOtherHostsAreRejected(t *testing.T) {
	h := newTestServer(t, func(o *Options) { o.Hosts = []string{"unloop.example.com", "192.0.2.7"} })
	for host, want := range map[string]int{
		"localhost": 200, "localhost:8765": 200, "LOCALHOST.": 200, "127.0.0.1:8765": 200, "127.9.9.9": 200, "[::1]:8765": 200, "[::ffff:127.0.0.1]": 200,
		"app.localhost": 200, "unloop.example.com": 200, "Unloop.Example.com:443": 200, "192.0.2.7:80": 200,
		"evil.example.com": 421, "unloop.example.com.evil.com": 421, "localhost.evil.com": 421, "192.0.2.8": 421, "127.0.0.1.evil.com": 421, "": 421,
	} {
		r := httptest.NewRequest(http.MethodGet, "/api/health", nil)
		r.Host = host
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("Host %q: %d, want %d", host, w.Code, want)
		}
	}
	local := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 8), Port: 8765}
	r := httptest.NewRequest(http.MethodGet, "http://192.0.2.8:8765/api/health", nil)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, local)))
	if w.Code != http.StatusOK {
		t.Errorf("the address of the connection: %d", w.Code)
	}
}

func TestCrossSiteRequestsAreRejected(t *testing.T) {
	h := newTestServer(t, func(o *Options) { o.Origins = []string{"https://app.example.com"} })
	for _, tc := range []struct {
		name, method string
		header       []string
		want         int
	}{
		{"a program", "GET", nil, 200},
		{"the server's own page", "GET", []string{"Origin", "http://localhost:8765", "Sec-Fetch-Site", "same-origin"}, 200},
		{"its own page behind TLS", "GET", []string{"Origin", "https://localhost:8765"}, 200},
		{"an address that was typed in", "GET", []string{"Sec-Fetch-Site", "none"}, 200},
		{"a listed page", "GET", []string{"Origin", "https://app.example.com", "Sec-Fetch-Site", "cross-site"}, 200},
		{"a link that was followed", "GET", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, 200},
		{"another page", "GET", []string{"Origin", "https://evil.example.com"}, 403},
		{"another port", "GET", []string{"Origin", "http://localhost:3000"}, 403},
		{"a page without an origin", "GET", []string{"Origin", "null"}, 403},
		{"an image in another page", "GET", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"}, 403},
		{"another page of the site", "GET", []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "cors"}, 403},
		{"a form of another page", "POST", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, 403},
		{"a listed page but for the scheme", "GET", []string{"Origin", "http://app.example.com"}, 403},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := map[string]string{"GET": "/api/runs", "POST": "/api/events"}[tc.method]
			w := h.do(tc.method, path, "[]", tc.header...)
			if w.Code != tc.want {
				t.Errorf("%d %s, want %d", w.Code, w.Body, tc.want)
			}
			allowed := w.Header().Get("Access-Control-Allow-Origin")
			if listed := tc.name == "a listed page"; (allowed == "https://app.example.com") != listed || !listed && allowed != "" {
				t.Errorf("Access-Control-Allow-Origin %q", allowed)
			}
		})
	}
	if w := h.do(http.MethodOptions, "/api/events", "", "Origin", "https://app.example.com", "Access-Control-Request-Method", "POST"); w.Code != http.StatusNoContent {
		t.Errorf("a listed page asks whether it may: %d", w.Code)
	}
	if w := h.do(http.MethodOptions, "/api/events", "", "Origin", "https://evil.example.com", "Access-Control-Request-Method", "POST"); w.Code != http.StatusForbidden {
		t.Errorf("another page asks whether it may: %d", w.Code)
	}
}

func TestEveryResponseHasSecurityHeaders(t *testing.T) {
	h := newTestServer(t, nil)
	for _, path := range []string{"/api/health", "/nothing", "/api/runs/nobody"} {
		w := h.do(http.MethodGet, path, "")
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
			"Cross-Origin-Resource-Policy": "same-origin", "Access-Control-Allow-Origin": "",
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
	}
}

func TestOptionsReportErrors(t *testing.T) {
	good := Options{Pipeline: &recorder{}, Store: newTestServer(t, nil).store, Telemetry: &telemetry{}, Hub: live.New(live.Options{}), Judge: &fakeJudge{}, Tuner: &fakeTuner{}, Shadow: &fakeShadow{}, Guards: &echoGuards{}, Alerts: &fakeAlerts{}}
	for want, change := range map[string]func(*Options){
		"":                                    func(*Options) {},
		"are required":                        func(o *Options) { o.Hub = nil },
		"tokens[1].sha256":                    func(o *Options) { o.Tokens = []Token{hashed("a", Read, "x"), {"b", Read, "abc"}} },
		`tokens[0].scope: invalid scope "gu"`: func(o *Options) { o.Tokens = []Token{hashed("a", "gu", "x")} },
		"hosts[0]":                            func(o *Options) { o.Hosts = []string{"http://a"} },
		"origins[0]":                          func(o *Options) { o.Origins = []string{"https://a/b"} },
		"limits":                              func(o *Options) { o.Limits.Events = -1 },
	} {
		o := good
		change(&o)
		_, err := New(o)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

func TestTheAccessLogContainsNoContent(t *testing.T) {
	var lines bytes.Buffer
	h := newTestServer(t, func(o *Options) { o.Access = slog.New(slog.NewTextHandler(&lines, nil)) })
	h.do(http.MethodPost, "/api/events", event("r", 1, "x", `"text":"secret words"`))
	h.do(http.MethodGet, "/api/runs?text=secret", "")
	log := lines.String()
	if strings.Contains(log, "secret") || !strings.Contains(log, "path=/api/events status=201") || strings.Count(log, "\n") != 2 {
		t.Errorf("%s", log)
	}
}

// closedWriter is the writer of a closed connection.
type closedWriter struct{ sink }

func (*closedWriter) Write([]byte) (int, error) {
	return 0, &net.OpError{Op: "write", Err: net.ErrClosed}
}

func TestADisconnectedClientIsNotLogged(t *testing.T) {
	var lines bytes.Buffer
	h := newTestServer(t, func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&lines, nil)) })
	defer func() {
		if cause := recover(); cause != http.ErrAbortHandler || lines.Len() > 0 {
			t.Errorf("%v, log %s", cause, lines.String())
		}
	}()
	h.ServeHTTP(&closedWriter{sink{header: make(http.Header)}}, httptest.NewRequest(http.MethodGet, "http://localhost/api/runs", nil))
}

func TestAPanicIsAProblemInTheResponse(t *testing.T) {
	var lines bytes.Buffer
	h := newTestServer(t, func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&lines, nil)) })
	h.Mount("GET /panic", Read, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("what the user said") }))
	w := h.do(http.MethodGet, "/panic", "")
	if w.Code != http.StatusInternalServerError || !strings.Contains(lines.String(), "panicked") || strings.Contains(lines.String(), "the user said") {
		t.Errorf("%d %s, log %s", w.Code, w.Body, lines.String())
	}
}
