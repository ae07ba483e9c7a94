package langfuse

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/sink"
)

// send sends a notice about an event to a server that answers with the status, and returns the bodies of its requests.
func send(t *testing.T, status int, event string) (bodies []string, err error) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /base/api/public/scores", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		public, secret, _ := r.BasicAuth()
		if err != nil || public != "pk" || secret != "sesame" || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("error %v, headers %v", err, r.Header)
		}
		bodies = append(bodies, string(body))
		w.WriteHeader(status)
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	spans := map[string]sink.Span{"span": {TraceID: "trace-1", SpanID: "span-1"}, "record": {TraceID: "trace-1"}, "event": {}}
	target, err := Target(Options{
		Endpoint: server.URL + "/base", PublicKey: "pk", SecretKey: "sesame", Version: "1.2.3",
		SpanOf: func(_ context.Context, run, event string) (sink.Span, error) {
			span, ok := spans[event]
			if !ok || run != "run/1" {
				return span, errors.New("no such event")
			}
			return span, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	err = target.Notifier.Send(t.Context(), sink.Notice{
		ID: "msg_1", Level: sink.Halt, Run: api.RunSummary{Run: api.Run{ID: "run/1"}},
		Warning: api.Warning{ID: "w", EventID: &event, Type: "same_call", Message: "search was called again"},
	})
	return bodies, err
}

func TestANoticeIsAScoreOfItsObservation(t *testing.T) {
	const fields = `"name":"unloop.same_call","value":"halt","dataType":"CATEGORICAL","comment":"search was called again"}`
	for event, want := range map[string][]string{
		"span":   {`{"id":"msg_1","traceId":"trace-1","observationId":"span-1",` + fields},
		"record": {`{"id":"msg_1","traceId":"trace-1",` + fields},
		"event":  nil, // without a trace there is nothing to score
	} {
		got, err := send(t, http.StatusOK, event)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: error %v (-want +got):\n%s", event, err, diff)
		}
	}
}

func TestTheAnswerDecidesOnAnotherAttempt(t *testing.T) {
	for status, final := range map[int]bool{400: true, 401: true, 429: false, 503: false} {
		_, err := send(t, status, "span")
		if refused, ok := errors.AsType[*sink.Refusal](err); !ok || refused.Final != final {
			t.Errorf("status %d: error %v, want a refusal with final %t", status, err, final)
		}
	}
	if _, err := send(t, http.StatusOK, "unknown"); err == nil {
		t.Error("a failure to read the span gives no error")
	}
}
