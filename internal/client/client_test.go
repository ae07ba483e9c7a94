package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/ingest/native"
)

// serve starts a server that answers by handle, and returns a client of it.
func serve(t *testing.T, token string, handle http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	c, err := New(server.URL, token)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// local has the client speak to a handler without a network, so that it can be used in a bubble.
func local(t *testing.T, handle http.HandlerFunc) *Client {
	t.Helper()
	c, err := New(DefaultEndpoint, "")
	if err != nil {
		t.Fatal(err)
	}
	c.http.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		handle(w, r)
		if w.Code == gone {
			return nil, io.ErrUnexpectedEOF
		}
		return w.Result(), nil
	})
	return c
}

// gone is a status with which a handler of local breaks the connection.
const gone = 999

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestNewRejectsAnInvalidURL(t *testing.T) {
	for _, endpoint := range []string{"", "127.0.0.1:8765", "ftp://x", "http://", "http://x?y=1", "http://x#y", "http://x:y"} {
		if _, err := New(endpoint, ""); err == nil || !strings.Contains(err.Error(), "invalid endpoint") {
			t.Errorf("%q: error %v", endpoint, err)
		}
	}
	if _, err := New(DefaultEndpoint, "a\nb"); err == nil || strings.Contains(err.Error(), "a\n") {
		t.Errorf("error %v", err)
	}
	c, err := New("https://unloop.example.com/base/", "")
	if err != nil || c.URL(RunPath("a/b c?", "/stream")) != "https://unloop.example.com/base/api/runs/a%2Fb%20c%3F/stream" {
		t.Errorf("%v, error %v", c.URL(RunPath("a/b c?", "/stream")), err)
	}
}

func TestTheTokenIsSentOnlyToTheServer(t *testing.T) {
	var other []string
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		other = append(other, r.Header.Get("Authorization"))
	}))
	defer elsewhere.Close()
	var got string
	c := serve(t, "secret", func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("Authorization")
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	})
	_, err := c.Health(t.Context())
	var answer *Error
	if !errors.As(err, &answer) || answer.Status != http.StatusTemporaryRedirect {
		t.Errorf("error %v", err)
	}
	if got != "Bearer secret" || len(other) > 0 {
		t.Errorf("token %q, elsewhere %q", got, other)
	}
}

func TestErrorsContainAdvice(t *testing.T) {
	for _, tc := range []struct {
		name   string
		handle http.HandlerFunc
		want   string
	}{
		{"a problem", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusConflict)
			_, _ = io.WriteString(w, `{"title":"Conflict","status":409,"detail":"id: it is taken"}`)
		}, "the server answers 409: id: it is taken"},
		{"no problem of ours", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<html>", http.StatusBadGateway) }, "the server answers 502: Bad Gateway"},
		{"a token is required", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }, "the server requires a token: set UNLOOP_TOKEN"},
		{"another program", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }, "not an unloop server"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := serve(t, "", tc.handle).Run(t.Context(), "r")
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
	t.Run("no server", func(t *testing.T) {
		server := httptest.NewServer(nil)
		server.Close()
		c, err := New(server.URL, "")
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Health(t.Context())
		var away *UnreachableError
		if !errors.As(err, &away) || !strings.Contains(err.Error(), "no server answers at "+server.URL+" (unloop serve starts one") {
			t.Errorf("error %v", err)
		}
	})
}

func TestHealthHasTheServersTime(t *testing.T) {
	c := serve(t, "", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", "Fri, 02 Jan 2026 03:04:05 GMT")
		_, _ = io.WriteString(w, `{"status":"healthy","service":"unloop","version":"1"}`)
	})
	h, err := c.Health(t.Context())
	if err != nil || h.Service != "unloop" || h.Version != "1" || !h.Clock.Equal(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)) {
		t.Errorf("%+v, error %v", h, err)
	}
}

func TestEventsAreSentUnchanged(t *testing.T) {
	latency := 1.5
	for _, e := range []*unloop.Event{
		{
			ID: "1", RunID: "r\"", Sequence: 3, Time: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC), Type: "x", Agent: "a", Name: "n",
			Status: "s", Model: "m", Tool: "t", CallID: "c", Role: "user", Text: "é\n", Tokens: 4, Cost: 0.5, Latency: &latency,
			Input: json.RawMessage("{\"a\":  1, \"b\":\"\\u00e9\\/<\"}"), Output: json.RawMessage("null"), Error: json.RawMessage(`"e"`),
			Metadata: json.RawMessage(`{}`), ParentEventID: "p", SpanID: "sp", TraceID: "tr",
		},
		{ID: "2", RunID: "r", Type: "x", Output: json.RawMessage(`""`)},
		{ID: "3", RunID: "r", Type: "x"},
	} {
		line, err := appendEvent(nil, e, "")
		if err != nil {
			t.Fatal(err)
		}
		var got []*unloop.Event
		in := ingest.NewInput("line", "", strings.NewReader(string(line)))
		if err := native.Format().Decode(in, func(e *unloop.Event) error { got = append(got, e.Clone()); return nil }); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]*unloop.Event{e}, got); diff != "" {
			t.Errorf("%s: %s", line, diff)
		}
	}
	line, err := appendEvent(nil, &unloop.Event{Type: "x", Input: json.RawMessage("{\n  \"a\": 1\r\n}")}, "")
	if want := `{"type":"x","input":{   "a": 1  }}` + "\n"; err != nil || string(line) != want {
		t.Errorf("line %q, error %v", line, err)
	}
	line, err = appendEvent(nil, &unloop.Event{Type: "x"}, `the "shop"`)
	if want := `{"project":"the \"shop\"","type":"x"}` + "\n"; err != nil || string(line) != want {
		t.Errorf("line %q, error %v", line, err)
	}
}

// collector takes events as a server does.
type collector struct {
	requests []int // events in each
	ids      []string
	known    map[string]bool
	next     []int // statuses of the next answers; 0 for a good one
}

func (k *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	lines := strings.Split(strings.TrimSpace(string(body)), "\n")
	k.requests = append(k.requests, len(lines))
	status := 0
	if len(k.next) > 0 {
		status, k.next = k.next[0], k.next[1:]
	}
	if status != 0 && status != gone {
		w.Header().Set("Retry-After", "7")
	}
	if status != 0 {
		w.WriteHeader(status)
		return
	}
	answer := api.Batch{Errors: []api.EventError{}}
	for i, line := range lines {
		var e unloop.Event
		if json.Unmarshal([]byte(line), &e) != nil || e.Tool == "bad" {
			answer.Errors = append(answer.Errors, api.EventError{Index: i, Field: "tool", Reason: "it is bad"})
			continue
		}
		answer.Accepted++
		if k.known[e.ID] {
			answer.Duplicates++
			continue
		}
		if k.known == nil {
			k.known = make(map[string]bool)
		}
		k.known[e.ID] = true
		k.ids = append(k.ids, e.ID)
	}
	if answer.Accepted == 0 {
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]any{"detail": "none of the events can be taken", "errors": answer.Errors})
		return
	}
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(answer)
}

func event(id string) *unloop.Event { return &unloop.Event{ID: id, RunID: "r", Type: "x"} }

func sendAll(t *testing.T, s *Sender, events ...*unloop.Event) error {
	t.Helper()
	for _, e := range events {
		if err := s.Add(t.Context(), e); err != nil {
			return err
		}
	}
	return s.Flush(t.Context())
}

func TestSenderSplitsEventsIntoRequests(t *testing.T) {
	var k collector
	s := local(t, k.ServeHTTP).NewSender()
	var events []*unloop.Event
	var want []string
	for i := range 1201 {
		events = append(events, event(fmt.Sprint(i)))
		want = append(want, fmt.Sprint(i))
	}
	if err := sendAll(t, s, append(events, events[0])...); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, k.ids); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{500, 500, 202}, k.requests); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Sent{Accepted: 1202, Duplicates: 1}, s.Sent()); diff != "" {
		t.Error(diff)
	}
}

func TestSenderBoundsARequest(t *testing.T) {
	var k collector
	s := local(t, k.ServeHTTP).NewSender()
	large := event("1")
	large.Input = json.RawMessage(`"` + strings.Repeat("x", maxBytes*2/3) + `"`)
	if err := sendAll(t, s, event("0"), large, large, event("2")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{2, 2}, k.requests); diff != "" {
		t.Error(diff)
	}
}

func TestSenderReportsRefusals(t *testing.T) {
	var k collector
	s := local(t, k.ServeHTTP).NewSender()
	var told []Refusal
	s.Refused = func(r Refusal) { told = append(told, r) }
	bad := event("bad")
	bad.Tool = "bad"
	if err := sendAll(t, s, event("1"), bad, event("2")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Refusal{{"r", "bad", "tool: it is bad"}}, told); diff != "" {
		t.Errorf("the calls of the callback:\n%s", diff)
	}
	if err := sendAll(t, s, bad); err != nil { // none of a request
		t.Fatal(err)
	}
	want := Sent{Accepted: 2, Refused: 2, Refusals: []Refusal{{"r", "bad", "tool: it is bad"}, {"r", "bad", "tool: it is bad"}}}
	if diff := cmp.Diff(want, s.Sent()); diff != "" {
		t.Error(diff)
	}
}

func TestSenderSplitsARequestThatIsTooLarge(t *testing.T) {
	var k collector
	s := local(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Count(string(body), "\n") > 1 || strings.Contains(string(body), "huge") {
			http.Error(w, `{"detail":"larger than allowed"}`, http.StatusRequestEntityTooLarge)
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		k.ServeHTTP(w, r)
	}).NewSender()
	if err := sendAll(t, s, event("1"), event("huge"), event("2"), event("3")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1", "2", "3"}, k.ids); diff != "" {
		t.Error(diff)
	}
	want := Sent{Accepted: 3, Refused: 1, Refusals: []Refusal{{"r", "huge", "larger than allowed"}}}
	if diff := cmp.Diff(want, s.Sent()); diff != "" {
		t.Error(diff)
	}
}

func TestSenderHonoursRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := collector{next: []int{http.StatusTooManyRequests, gone, http.StatusServiceUnavailable, 0}}
		s := local(t, k.ServeHTTP).NewSender()
		var waits int
		s.Waiting = func(error, time.Duration) { waits++ }
		begun := time.Now()
		if err := sendAll(t, s, event("1")); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took < 14*time.Second || took > 15*time.Second || waits != 3 {
			t.Errorf("after %v and %d waits", took, waits)
		}
		if diff := cmp.Diff([]string{"1"}, k.ids); diff != "" {
			t.Error(diff)
		}
	})
}

func TestSenderGivesUpAfterItsPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := make([]int, 1000)
		for i := range away {
			away[i] = gone
		}
		k := collector{next: away}
		s := local(t, k.ServeHTTP).NewSender()
		s.Patience = time.Minute
		begun := time.Now()
		err := sendAll(t, s, event("1"))
		var unreachable *UnreachableError
		if took := time.Since(begun); !errors.As(err, &unreachable) || took > time.Minute || took < 20*time.Second {
			t.Errorf("error %v after %v", err, took)
		}
		k.next = nil
		if err := s.Flush(t.Context()); err != nil || len(k.ids) != 1 {
			t.Errorf("%v sent, error %v", k.ids, err)
		}
	})
}

func TestSenderDoesNotRepeatARefusedRequest(t *testing.T) {
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusInternalServerError} {
		k := collector{next: []int{status}}
		s := local(t, k.ServeHTTP).NewSender()
		err := sendAll(t, s, event("1"))
		var answer *Error
		if !errors.As(err, &answer) || answer.Status != status || len(k.requests) != 1 {
			t.Errorf("%d: error %v after %d requests", status, err, len(k.requests))
		}
	}
}

func TestSenderEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := collector{next: []int{gone, gone, gone, gone, gone, gone, gone, gone, gone, gone, gone, gone}}
		s := local(t, k.ServeHTTP).NewSender()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Add(ctx, event("1")); err != nil {
			t.Fatal(err)
		}
		if err := s.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}

func TestARunWithAnIDLikeAPathStepIsFound(t *testing.T) {
	for id, want := range map[string]string{".": "/api/runs/.~", "..": "/api/runs/..~", ".~": "/api/runs/.~~", "a/../b": "/api/runs/a%2F..%2Fb"} {
		asked := ""
		c := serve(t, "", func(w http.ResponseWriter, r *http.Request) {
			asked = r.RequestURI
			_, _ = io.WriteString(w, `{"id":"x"}`)
		})
		if _, err := c.Run(t.Context(), id); err != nil || asked != want {
			t.Errorf("%q is requested as %s: %v", id, asked, err)
		}
	}
}

func TestEventsThatTheServerDoesNotAcknowledgeAreKept(t *testing.T) {
	answers := []string{`{}`, `{"accepted":-5}`, `{"accepted":1}`, `{"accepted":1,"errors":[{"index":0,"reason":"it is bad"}]}`}
	s := local(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, answers[0])
		answers = answers[1:]
	}).NewSender()
	if err := sendAll(t, s, event("1"), event("2")); err == nil {
		t.Error("an answer that acknowledges nothing is no error")
	}
	for range 2 {
		if err := s.Flush(t.Context()); err == nil {
			t.Error("an answer that acknowledges too little is no error")
		}
	}
	if err := s.Flush(t.Context()); err != nil || s.Sent().Accepted != 1 || s.Sent().Refused != 1 {
		t.Errorf("the batch after it was acknowledged: %+v, %v", s.Sent(), err)
	}
}
