package httpd

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"github.com/unloop-ai/unloop/internal/pipeline"
)

// export returns requests of so many spans, or records, in protobuf and in JSON.
func export(t testing.TB, path string, n int) (protobuf, text string) {
	t.Helper()
	var m message
	if path == "/v1/traces" {
		td := ptrace.NewTraces()
		spans := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
		for i := range n {
			s := spans.AppendEmpty()
			s.SetTraceID(pcommon.TraceID{1})
			s.SetSpanID(pcommon.SpanID{byte(i), 1})
			s.Attributes().PutEmptyMap("deep").PutEmptySlice("list").AppendEmpty().SetStr("x")
			s.Events().AppendEmpty().Attributes().PutInt("n", int64(i))
		}
		m = ptraceotlp.NewExportRequestFromTraces(td)
	} else {
		ld := plog.NewLogs()
		records := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
		for range n {
			records.AppendEmpty().Body().SetEmptyMap().PutStr("k", "v")
		}
		m = plogotlp.NewExportRequestFromLogs(ld)
	}
	binary, err := m.MarshalProto()
	if err != nil {
		t.Fatal(err)
	}
	json, err := m.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(binary), string(json)
}

func TestTelemetryIsAcceptedInBothEncodings(t *testing.T) {
	for _, path := range []string{"/v1/traces", "/v1/logs"} {
		protobuf, text := export(t, path, 3)
		for _, tc := range []struct{ kind, encoding, body, want string }{
			{"application/x-protobuf", "", protobuf, ""},
			{"application/x-protobuf", "gzip", packed(protobuf), ""},
			{"application/json", "", text, "{}"},
			{"application/json; charset=utf-8", "gzip", packed(text), "{}"},
		} {
			var taken telemetry
			h := newTestServer(t, func(o *Options) { o.Telemetry = &taken })
			w := h.do(http.MethodPost, path, tc.body, "Content-Type", tc.kind, "Content-Encoding", tc.encoding)
			if w.Code != http.StatusOK || !strings.HasPrefix(tc.kind, w.Header().Get("Content-Type")) || taken.spans+taken.records != 3 {
				t.Errorf("%s %s %s: %d %s %q, %d accepted", path, tc.kind, tc.encoding, w.Code, w.Header().Get("Content-Type"), w.Body, taken.spans+taken.records)
			}
			if tc.want != "" && !strings.Contains(w.Body.String(), "partialSuccess") && w.Body.String() != tc.want {
				t.Errorf("%s %s: %q", path, tc.kind, w.Body)
			}
		}
	}
}

func TestRejectedSpansAreAPartialSuccess(t *testing.T) {
	h := newTestServer(t, func(o *Options) { o.Telemetry = &telemetry{rejected: 2, reason: "2 spans have no id"} })
	protobuf, text := export(t, "/v1/traces", 3)
	traces := ptraceotlp.NewExportResponse()
	w := h.do(http.MethodPost, "/v1/traces", protobuf, "Content-Type", "application/x-protobuf")
	if err := traces.UnmarshalProto(w.Body.Bytes()); err != nil || traces.PartialSuccess().RejectedSpans() != 2 || traces.PartialSuccess().ErrorMessage() != "2 spans have no id" {
		t.Errorf("%d %q: %v", w.Code, w.Body, err)
	}
	w = h.do(http.MethodPost, "/v1/traces", text, "Content-Type", "application/json")
	if err := traces.UnmarshalJSON(w.Body.Bytes()); err != nil || traces.PartialSuccess().RejectedSpans() != 2 {
		t.Errorf("%d %q: %v", w.Code, w.Body, err)
	}
	_, text = export(t, "/v1/logs", 3)
	logs := plogotlp.NewExportResponse()
	w = h.do(http.MethodPost, "/v1/logs", text, "Content-Type", "application/json")
	if err := logs.UnmarshalJSON(w.Body.Bytes()); err != nil || logs.PartialSuccess().RejectedLogRecords() != 2 {
		t.Errorf("%d %q: %v", w.Code, w.Body, err)
	}
}

func TestRejectedTelemetryIsAnsweredWithAStatus(t *testing.T) {
	protobuf, text := export(t, "/v1/traces", 1)
	for _, tc := range []struct {
		name, kind, body string
		err              error
		status, code     int
	}{
		{"no protobuf", "application/x-protobuf", "\xff\xff", nil, 400, 3},
		{"no JSON", "application/json", "{", nil, 400, 3},
		{"too long", "application/json", text + strings.Repeat(" ", 5000), nil, 413, 3},
		{"another type", "text/plain", text, nil, 415, 0},
		{"no type", "", text, nil, 415, 0},
		{"a busy server, protobuf", "application/x-protobuf", protobuf, pipeline.ErrBusy, 429, 8},
		{"a busy server, JSON", "application/json", text, pipeline.ErrBusy, 429, 8},
		{"a server that stops", "application/json", text, pipeline.ErrClosed, 503, 14},
		{"a broken server", "application/x-protobuf", protobuf, fmt.Errorf("disk on fire"), 500, 13},
		{"a broken store", "application/x-protobuf", protobuf, fmt.Errorf("%w: disk full", pipeline.ErrStore), 503, 14},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := newTestServer(t, func(o *Options) { o.Telemetry, o.Limits.Body = &telemetry{err: tc.err}, 4096 })
			w := h.do(http.MethodPost, "/v1/traces", tc.body, "Content-Type", tc.kind)
			if w.Code != tc.status || (w.Header().Get("Retry-After") == "1") != (tc.status == 429 || tc.status == 503) {
				t.Fatalf("%d %q, Retry-After %q", w.Code, w.Body, w.Header().Get("Retry-After"))
			}
			if tc.code != 0 {
				code, message := statusOf(t, tc.kind, w)
				if code != tc.code || message == "" || strings.Contains(message, "fire") {
					t.Errorf("code %d, message %q", code, message)
				}
			}
		})
	}
}

// statusOf decodes a google.rpc.Status.
func statusOf(t *testing.T, kind string, w *httptest.ResponseRecorder) (code int, message string) {
	t.Helper()
	if got := w.Header().Get("Content-Type"); got != kind {
		t.Errorf("Content-Type %s, want the request's %s", got, kind)
	}
	if kind == "application/json" {
		var s struct {
			Code    int
			Message string
		}
		if err := json.Unmarshal(w.Body.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		return s.Code, s.Message
	}
	b := w.Body.Bytes()
	length, n := binary.Uvarint(b[3:])
	if b[0] != 8 || b[2] != 18 || int(length) != len(b)-3-n {
		t.Fatalf("%q", b)
	}
	return int(b[1]), string(b[3+n:])
}

// field returns a field of protobuf that holds bytes.
func field(number int, content []byte) []byte {
	b := binary.AppendUvarint(nil, uint64(number)<<3|2)
	return append(binary.AppendUvarint(b, uint64(len(content))), content...)
}

// nest wraps content in fields again and again, the innermost first.
func nest(content []byte, times int, numbers ...int) []byte {
	for range times {
		for _, n := range numbers {
			content = field(n, content)
		}
	}
	return content
}

func TestLargeTelemetryIsRejected(t *testing.T) {
	h := newTestServer(t, nil)
	inSpan := func(attribute []byte) []byte { return nest(attribute, 1, 9, 2, 2, 1) }
	empties := bytes.Repeat([]byte{18, 0}, maxParts+1)
	deepJSON := `{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[{"key":"k","value":` +
		strings.Repeat(`{"arrayValue":{"values":[`, 200) + `{"stringValue":"x"}` + strings.Repeat("]}}", 200) + `}]}]}]}]}`
	for _, tc := range []struct {
		name, path, kind, body string
		want                   int
	}{
		{"lists in lists", "/v1/traces", "application/x-protobuf", string(inSpan(field(2, nest(nil, 20, 1, 5)))), 200},
		{"lists in lists without end", "/v1/traces", "application/x-protobuf", string(inSpan(field(2, nest(nil, 300, 1, 5)))), 400},
		{"maps in maps without end", "/v1/traces", "application/x-protobuf", string(inSpan(field(2, nest(nil, 300, 2, 1, 6)))), 400},
		{"in a log record", "/v1/logs", "application/x-protobuf", string(nest(nest(nil, 300, 1, 5), 1, 5, 2, 2, 1)), 400},
		{"in an attribute of a resource", "/v1/logs", "application/x-protobuf", string(nest(field(2, nest(nil, 300, 1, 5)), 1, 1, 1, 1)), 400},
		{"a million empty spans", "/v1/traces", "application/x-protobuf", string(nest(empties, 1, 2, 1)), 400},
		{"lists in lists without end, JSON", "/v1/traces", "application/json", deepJSON, 400},
		{"a million empty spans, JSON", "/v1/traces", "application/json", `{"resourceSpans":[{"scopeSpans":[{"spans":[` + strings.Repeat("{},", maxParts) + `{}]}]}]}`, 400},
		{"braces in a text", "/v1/traces", "application/json", `{"resourceSpans":[],"x":"` + strings.Repeat(`{\"[`, 1000) + `"}`, 200},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if w := h.do(http.MethodPost, tc.path, tc.body, "Content-Type", tc.kind); w.Code != tc.want {
				t.Errorf("%d %.300s, want %d", w.Code, w.Body, tc.want)
			}
		})
	}
}

func TestTheDecodedSizeOfTelemetryIsLimited(t *testing.T) {
	h := newTestServer(t, func(o *Options) { o.Limits.Body, o.Limits.Bodies = 1<<20, 4<<20 })
	others, err := h.large.Take(t.Context(), h.large.Size()/2)
	if err != nil {
		t.Fatal(err)
	}
	for parts, want := range map[int]int{100: 200, 8_000: 429, 20_000: 400} {
		w := h.do(http.MethodPost, "/v1/traces", string(nest(bytes.Repeat([]byte{18, 0}, parts), 1, 2, 1)), "Content-Type", "application/x-protobuf")
		if w.Code != want {
			t.Errorf("%d empty spans: %d %q, want %d", parts, w.Code, w.Body, want)
		}
	}
	h.large.Give(others)
	h.wantAllGiven(t)
}

func FuzzTelemetry(f *testing.F) {
	for _, path := range []string{"/v1/traces", "/v1/logs"} {
		protobuf, text := export(f, path, 2)
		f.Add([]byte(protobuf), path == "/v1/logs", false)
		f.Add([]byte(text), path == "/v1/logs", true)
	}
	s := newTestServer(f, func(o *Options) { o.Telemetry = &telemetry{} })
	f.Fuzz(func(t *testing.T, body []byte, logs, text bool) {
		path, kind := "/v1/traces", "application/x-protobuf"
		if logs {
			path = "/v1/logs"
		}
		if text {
			kind = "application/json"
		}
		if w := s.do(http.MethodPost, path, string(body), "Content-Type", kind); w.Code != 200 && w.Code != 400 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}

func TestInvalidTelemetryIsRejectedWithoutQuotingIt(t *testing.T) {
	h := newTestServer(t, nil)
	for _, tc := range []struct{ kind, body, want string }{
		{jsonType, `{"secret`, "body: not valid JSON"},
		{jsonType, `[{"secret":1}]`, "body: not an OTLP request: a field has an invalid value"},
		{jsonType, `{"resourceSpans":"secret"}`, "body: not an OTLP request: a field has an invalid value"},
		{jsonType, `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"secret"}]}]}]}`, "body: not an OTLP request: a field has an invalid value"},
		{jsonType, `{"resourceSpans":[]} {"resourceSpans":[]}`, "body: has data after the JSON object; send one request for each object"},
		{jsonType, "{}\n\nsecret", "body: has data after the JSON object; send one request for each object"},
		{protobufType, "\x08\x01secret", "body: not an OTLP request in protobuf"},
	} {
		w := h.do(http.MethodPost, "/v1/traces", tc.body, "Content-Type", tc.kind)
		said := w.Body.String()
		if w.Code != http.StatusBadRequest || !strings.Contains(said, tc.want) || strings.Contains(said, "secret") {
			t.Errorf("%s: %d %q, want %q", tc.body, w.Code, said, tc.want)
		}
	}
}
