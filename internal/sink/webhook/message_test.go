package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/sink"
	"github.com/unloop-ai/unloop/internal/sink/sinktest"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
)

// posted publishes an update to a sink of one endpoint at a real server, closes the sink, and returns its counts.
func posted(t *testing.T, e Endpoint, u *store.Update) sink.Stats {
	t.Helper()
	targets, err := Targets(Options{Endpoints: []Endpoint{e}, URL: "https://unloop.test/", Version: "1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	var records sinktest.Records
	s := sink.New(targets, &records, "", slog.New(slog.DiscardHandler))
	records.Publish(s, u)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := s.Close(ctx); err != nil {
		t.Fatal(err)
	}
	return s.Stats()[0]
}

// listen serves a receiver over TCP.
func listen(t *testing.T, r *receiver) string {
	t.Helper()
	server := httptest.NewServer(r.serve(time.Now()))
	t.Cleanup(server.Close)
	return server.URL
}

const wantJSON = `{
  "id": "msg_ID",
  "type": "warning",
  "level": "block",
  "version": "1.2.3",
  "run": {
    "id": "run/1",
    "name": "nightly",
    "project": "web",
    "status": "running",
    "started_at": "2023-11-14T22:13:20Z",
    "ended_at": null,
    "url": "https://unloop.test/runs/run%2F1",
    "total_cost": 0.3,
    "total_tokens": 300,
    "event_count": 20,
    "warning_count": 1,
    "health_score": 45,
    "loop_health_status": "stuck",
    "worst_decision": "block",
    "guarded_by": null
  },
  "warning": {
    "warning_id": "w",
    "run_id": "run/1",
    "event_id": "e9",
    "type": "same_call",
    "severity": "warning",
    "message": "search was called again",
    "details": {
      "why": "nothing changed",
      "try": "another way"
    },
    "created_at": "2023-11-14T22:13:21Z",
    "updated_at": "2023-11-14T22:13:22Z",
    "subject": "search",
    "tool": "search",
    "count": 3
  },
  "decision": {
    "run_id": "run/1",
    "event_id": "e10",
    "event_number": 0,
    "action": "block",
    "by_guard": false,
    "code": "same_call",
    "message": ""
  }
}`

func TestTheMessageInJSON(t *testing.T) {
	to := &receiver{}
	stats := posted(t, Endpoint{URL: listen(t, to)}, decided(raised("w", 3), policy.Block, "same_call"))
	if stats.Sent != 1 || len(to.came()) != 1 {
		t.Fatalf("%+v, %d came", stats, len(to.came()))
	}
	got := to.came()[0]
	var told struct{ ID string }
	if err := json.Unmarshal(got.body, &told); err != nil {
		t.Fatal(err)
	}
	var body bytes.Buffer
	if err := json.Indent(&body, got.body, "", "  "); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wantJSON, strings.Replace(body.String(), told.ID, "msg_ID", 1)); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	if strings.Contains(string(got.body), "secret") {
		t.Errorf("the message contains content: %s", got.body)
	}
	if h := got.header; h.Get("Content-Type") != "application/json" || h.Get("User-Agent") != "unloop/1.2.3" || h.Get(Signature) != "" {
		t.Errorf("header %v", h)
	}
}

func TestMessagesAreSigned(t *testing.T) {
	to := &receiver{}
	posted(t, Endpoint{URL: listen(t, to), Secret: "sesame"}, raised("w", 3))
	got := to.came()[0]
	seconds, signature, _ := strings.Cut(strings.TrimPrefix(got.header.Get(Signature), "t="), ",v1=")
	at, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || time.Since(time.Unix(at, 0)).Abs() > time.Minute {
		t.Errorf("signed at %q: %v", seconds, err)
	}
	mac := hmac.New(sha256.New, []byte("sesame"))
	fmt.Fprintf(mac, "%s.%s", seconds, got.body)
	if want := hex.EncodeToString(mac.Sum(nil)); signature != want {
		t.Errorf("signature %s, want %s", signature, want)
	}
	// A value worked out by hand: printf '1700000000.{}' | openssl dgst -sha256 -hmac sesame
	const known = "t=1700000000,v1=d3abd3f5600670832b9e0ff7116224a4ba4b043d1ef3a02836e89810336ec0cc"
	if got := sign("sesame", time.Unix(1_700_000_000, 0), []byte("{}")); got != known {
		t.Errorf("signed %s, want %s", got, known)
	}
}

const wantSlack = `{
  "text": "nightly would have a call blocked: same_call",
  "blocks": [
    {
      "type": "header",
      "text": {
        "type": "plain_text",
        "text": "nightly would have a call blocked: same_call"
      }
    },
    {
      "type": "section",
      "text": {
        "type": "mrkdwn",
        "text": "*What happened:* search &lt;!channel&gt; &amp; more"
      }
    },
    {
      "type": "section",
      "text": {
        "type": "mrkdwn",
        "text": "*Why it matters:* nothing changed"
      }
    },
    {
      "type": "section",
      "text": {
        "type": "mrkdwn",
        "text": "*Try:* another way"
      }
    },
    {
      "type": "context",
      "elements": [
        {
          "type": "mrkdwn",
          "text": "web · warning · health 45 of 100 · run running · <https://unloop.test/runs/run%2F1|Open the run>"
        }
      ]
    }
  ]
}
`

func TestTheMessageForSlack(t *testing.T) {
	to := &receiver{}
	u := decided(raised("w", 3), policy.Block, "same_call")
	u.Warnings[0].Message = "search <!channel> & more"
	posted(t, Endpoint{URL: listen(t, to), Format: FormatSlack}, u)
	var told any
	var s slackMessage
	for _, into := range []any{&told, &s} {
		if err := json.Unmarshal(to.came()[0].body, into); err != nil {
			t.Fatal(err)
		}
	}
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wantSlack, body.String()); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
}

func TestMessagesForSlackAreLimited(t *testing.T) {
	n := noticeOf("w", 9, sink.Grown)
	n.Run.Name, n.Run.Project = strings.Repeat("<", 5000), strings.Repeat("é", 5000)
	n.Warning.Message, n.Why = strings.Repeat("&", 5000), strings.Repeat("é", 5000)
	s := slackOf(n, "")
	if n := utf8.RuneCountInString(s.Text); n > maxSection {
		t.Errorf("the text has %d characters", n)
	}
	for _, b := range s.Blocks {
		for _, text := range append(b.Elements, slackText{}) {
			if b.Text != nil {
				text = *b.Text
			}
			most := maxSection
			if b.Type == "header" {
				most = maxHeadline
			}
			if n := utf8.RuneCountInString(text.Text); n > most {
				t.Errorf("a %s has %d characters", b.Type, n)
			}
			if text.Type == "mrkdwn" && strings.Contains(strings.ReplaceAll(strings.ReplaceAll(text.Text, "&amp;", ""), "&lt;", ""), "&") {
				t.Errorf("a %s is cut within an escape", b.Type)
			}
		}
	}
}

// noticeOf returns a notice of a warning with a count.
func noticeOf(id string, count int, level string) *sink.Notice {
	u := raised(id, count)
	return &sink.Notice{Level: level, Run: api.SummaryOf(&u.Run), Warning: api.WarningOf(u.Run.ID, &u.Warnings[0])}
}

func TestHeadlines(t *testing.T) {
	for level, want := range map[string]string{
		sink.Raised: "nightly: same_call", sink.Grown: "nightly continues, 9 times so far: same_call",
		sink.Block: "nightly would have a call blocked: same_call", sink.Halt: "nightly would be halted: same_call",
	} {
		if got := headlineOf(noticeOf("w", 9, level)); got != want {
			t.Errorf("%s: %q, want %q", level, got, want)
		}
		u := raised("w", 9)
		u.Run.Name = ""
		n := noticeOf("w", 9, level)
		n.Run = api.SummaryOf(&u.Run)
		if got := headlineOf(n); !strings.HasPrefix(got, "run/1") {
			t.Errorf("%s of a run without a name: %q", level, got)
		}
	}
}

func TestRedirectsToOtherHostsAreNotFollowed(t *testing.T) {
	elsewhere := &receiver{}
	other := listen(t, elsewhere)
	var there []string
	mux := http.NewServeMux()
	mux.HandleFunc("/there", func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		there = append(there, string(body))
	})
	for path, to := range map[string]string{"/here": "/there", "/away": other, "/round": "/round"} {
		mux.Handle("POST "+path, http.RedirectHandler(to, http.StatusTemporaryRedirect))
	}
	mux.Handle("POST /found", http.RedirectHandler("/there", http.StatusFound)) // a client would go there with GET
	server := httptest.NewServer(mux)
	defer server.Close()
	for path, want := range map[string]sink.Stats{"/here": {Sent: 1}, "/away": {Failed: 1}, "/round": {Failed: 1}, "/found": {Failed: 1}} {
		got := posted(t, Endpoint{URL: server.URL + path}, raised("w", 3))
		want.Host = strings.TrimPrefix(server.URL, "http://")
		if diff := cmp.Diff(want, got, withoutKeys); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	if len(elsewhere.came()) != 0 {
		t.Error("another host received the message")
	}
	if len(there) != 1 || !strings.Contains(there[0], `"warning_id":"w"`) {
		t.Errorf("the host received %q", there)
	}
}

func TestAnEndlessResponseIsAbandoned(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	if stats := posted(t, Endpoint{URL: server.URL, Timeout: 5 * time.Minute}, raised("w", 3)); stats.Sent != 1 {
		t.Errorf("%+v", stats)
	}
}

func TestErrorsDoNotContainTheAddress(t *testing.T) {
	w := &notifier{endpoint: Endpoint{URL: "http://127.0.0.1:1/secret"}, options: &Options{}}
	w.client = sink.NewClient(0, nil, false)
	if err := w.post(t.Context(), "", nil); err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}
