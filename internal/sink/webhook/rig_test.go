package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/unloop-ai/unloop/internal/nettest"
	"github.com/unloop-ai/unloop/internal/sink"
	"github.com/unloop-ai/unloop/internal/sink/sinktest"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
)

// receiver is a server that remembers what it got and answers as it is told.
type receiver struct {
	mu       sync.Mutex
	got      []received
	statuses []int // of the answers, in order; 204 after them; 0 breaks the connection
	after    string
	hold     time.Duration // before each answer
}

type received struct {
	at     time.Duration // since the receiver began
	host   string
	header http.Header
	body   []byte
}

func (r *receiver) serve(begin time.Time) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			return
		}
		r.mu.Lock()
		r.got = append(r.got, received{time.Since(begin), q.Host, q.Header, body})
		status, hold := http.StatusNoContent, r.hold
		if len(r.statuses) > 0 {
			status, r.statuses = r.statuses[0], r.statuses[1:]
		}
		if r.after != "" {
			w.Header().Set("Retry-After", r.after)
		}
		r.mu.Unlock()
		select {
		case <-time.After(hold):
		case <-q.Context().Done():
		}
		if status == 0 {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(status)
	})
}

// came returns what came.
func (r *receiver) came() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// messages returns what came, decoded.
func (r *receiver) messages(t *testing.T) (all []message) {
	t.Helper()
	for _, g := range r.came() {
		var m message
		d := json.NewDecoder(bytes.NewReader(g.body))
		d.DisallowUnknownFields()
		if err := d.Decode(&m); err != nil {
			t.Fatalf("%s: %v", g.body, err)
		}
		all = append(all, m)
	}
	return all
}

// told returns what came, a line for each message: warning, level, count.
func (r *receiver) told(t *testing.T) (lines []string) {
	for _, m := range r.messages(t) {
		line := m.Warning.ID + " " + m.Level
		if m.Level == sink.Grown {
			line += " " + jsonText(m.Warning.Count)
		}
		lines = append(lines, line)
	}
	return lines
}

var withoutKeys = cmpopts.IgnoreFields(sink.Stats{}, "Key")

func jsonText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// rig is a sink in a bubble, with its server.
type rig struct {
	*sink.Sink
	*receiver
	records *sinktest.Records
	log     *logged
}

// Publish records and publishes an update.
func (r *rig) Publish(u *store.Update) { r.records.Publish(r.Sink, u) }

// logged is a log.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// inBubble runs a test with a sink of one endpoint, in fake time.
func inBubble(t *testing.T, to *receiver, records *sinktest.Records, e Endpoint, test func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		network := nettest.NewPipes()
		server := &http.Server{Handler: to.serve(time.Now()), ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
		go func() { _ = server.Serve(network) }()
		var log logged
		e.URL = "http://hooks.test/secret-path"
		all, err := targets(Options{Endpoints: []Endpoint{e}, URL: "https://unloop.test/", Version: "1.2.3"}, network.Dial)
		if err != nil {
			t.Fatal(err)
		}
		s := sink.New(all, records, "", slog.New(slog.NewTextHandler(&log, nil)))
		test(t, &rig{s, to, records, &log})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := s.Close(ctx); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("close: %v", err)
		}
		if err := server.Close(); err != nil {
			t.Errorf("close the server: %v", err)
		}
		if strings.Contains(log.String(), "secret-path") {
			t.Errorf("the log has the address: %s", log.String())
		}
	})
}

// raised is an update that raises a warning with a count.
func raised(id string, count int) *store.Update {
	u := grown(id, count)
	u.Raised, u.Grown = u.Grown, nil
	return u
}

// grown is an update in which a warning has grown to a count.
func grown(id string, count int) *store.Update {
	return &store.Update{
		Run: store.Run{
			Number: 7, ID: "run/1", Name: "nightly", Project: "web", Status: store.Running, Started: time.Unix(1_700_000_000, 0).UTC(),
			Metrics: store.Metrics{Events: 20, Tokens: 300, Cost: 0.1 + 0.2}, Health: policy.Health{Score: 45, Status: policy.GradeStuck},
			Warnings: 1, WorstAction: policy.Warn,
		},
		Warnings: []store.Warning{warned(id, count)},
		Grown:    []int{0},
	}
}

func warned(id string, count int) store.Warning {
	return store.Warning{
		ID: id, Run: 7, Rule: "same_call", Subject: "search", Severity: "warning", Tool: "search", Count: count, EventID: "e9",
		Message: "search was called again", Created: time.Unix(1_700_000_001, 0).UTC(), Updated: time.Unix(1_700_000_002, 0).UTC(),
		Details: json.RawMessage(`{"why":"nothing changed","try":"another way","repeated":["search secret of a user"],
			"first_error":"secret of a tool","changed":"secret of an agent","evidence":[{"event_id":"e9","number":9}]}`),
	}
}

// decided adds a decision to an update.
func decided(u *store.Update, action policy.Action, code string) *store.Update {
	u.Decisions = append(u.Decisions, store.Decision{Run: 7, EventID: "e10", Action: action, Code: code, Message: "secret of an agent"})
	u.Run.WorstAction = max(u.Run.WorstAction, action)
	return u
}

// hostsOf serves several receivers, by address, until stop is called.
func hostsOf(all map[string]*receiver) (dial sink.Dialer, stop func()) {
	networks := make(map[string]*nettest.Pipes)
	var servers []*http.Server
	for address, r := range all {
		w := nettest.NewPipes()
		server := &http.Server{Handler: r.serve(time.Now()), ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
		go func() { _ = server.Serve(w) }()
		networks[address], servers = w, append(servers, server)
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
			return networks[address].Dial(ctx, network, address)
		}, func() {
			for _, s := range servers {
				_ = s.Close() // whose clients have gone
			}
		}
}
