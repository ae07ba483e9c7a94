package app

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/config"
	"github.com/unloop-ai/unloop/internal/pipeline"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/internal/store/sqlstore"
	"github.com/unloop-ai/unloop/internal/store/storetest/postgres"
	"github.com/unloop-ai/unloop/profile"
)

// victimDB names the variable that makes the test program a server on a database, to be killed.
const victimDB = "UNLOOP_TEST_VICTIM_DB"

func TestMain(m *testing.M) {
	if os.Getenv(natsServer)+os.Getenv(victimDB) != "" {
		go func() { // a test program that is killed takes its processes with it
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(1)
		}()
	}
	if setting := os.Getenv(natsServer); setting != "" {
		beNATS(setting)
	}
	if db := os.Getenv(victimDB); db != "" {
		beVictim(db)
	}
	os.Exit(postgres.Main(m))
}

// beVictim serves until it is killed. It prints where.
func beVictim(db string) {
	c := config.Default()
	c.Addr, c.GRPCAddr, c.DB = "127.0.0.1:0", config.Off, db
	if c.Cluster.NATS = os.Getenv(victimNATS); c.Cluster.NATS != "" {
		c.Addr = os.Getenv(victimAddr)
		c.Cluster.StreamSize, c.Limits.QueueBytes = 1<<30, 16<<20
		if os.Getenv(victimIdle) != "" {
			c.Cluster.StreamSize, c.Cluster.Roles = 1<<20, "ingest,api"
		}
		c.Cluster.Replicas = 1 + strings.Count(c.Cluster.NATS, ",")
	}
	if urls := os.Getenv(victimWebhook); urls != "" {
		for url := range strings.SplitSeq(urls, ",") {
			c.Webhooks = append(c.Webhooks, config.Webhook{URL: url, Format: "json", Severity: "info", Timeout: config.Duration(30 * time.Second)})
		}
	}
	s := Serve{
		Config: c, Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Ready: func(a Addresses) { fmt.Println(a.URL) },
	}
	ctx, _ := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	if err := s.Run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(1)
}

// crashRounds is how often a server is killed.
const crashRounds = 10

// TestAKilledServerLosesNothingThatItAcknowledged kills a server under load, again and again, and then compares what it
// acknowledged with what it recorded, and what it found with what a fresh server finds in the same events.
func TestAKilledServerLosesNothingThatItAcknowledged(t *testing.T) {
	for _, tc := range []struct {
		name string
		db   func(t *testing.T) string
	}{
		{"SQLite", func(t *testing.T) string { return filepath.Join(t.TempDir(), "crash.db") }},
		{"PostgreSQL", func(t *testing.T) string { return postgres.Database(t) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			db := tc.db(t)
			load := &crashLoad{acked: make(map[string]bool)}
			for k := range crashSenders {
				load.senders = append(load.senders, &crashSender{name: fmt.Sprint("s", k), timeout: 5 * time.Second, random: rand.New(rand.NewPCG(uint64(k), 1))})
			}
			random := rand.New(rand.NewPCG(7, 7))
			for range crashRounds {
				url, kill := startVictim(t, db)
				load.run(time.Duration(50+random.IntN(250))*time.Millisecond, url, kill)
			}
			_, kill := startVictim(t, db) // it writes what the last one had not come to
			kill()
			compareToAcknowledged(t, db, load.acked)
		})
	}
}

// startVictim starts a server in a process of its own.
func startVictim(t *testing.T, db string) (url string, kill func()) {
	t.Helper()
	url, kill, _, _ = startProcess(t, victimDB+"="+db)
	return url, kill
}

// readAddress reads the address that a server prints.
func readAddress(t *testing.T, out io.Reader, kill func()) string {
	t.Helper()
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		kill()
		t.Fatalf("the server did not start: %v", err)
	}
	return url[:len(url)-1]
}

const crashSenders = 4

// crashLoad sends from several connections and keeps what was acknowledged.
type crashLoad struct {
	senders []*crashSender
	mu      sync.Mutex
	acked   map[string]bool
}

// crashSender sends the events of its own runs. What is not acknowledged is sent again to the next server.
type crashSender struct {
	name    string
	timeout time.Duration // of a request
	random  *rand.Rand
	made    int
	pending []*unloop.Event
}

// run has all send to a server, which is killed in the middle of that, the given time after it has acknowledged something: how long a
// start and a first request take depends on the machine.
func (l *crashLoad) run(lifetime time.Duration, url string, kill func()) {
	var all sync.WaitGroup
	var first sync.Once
	var timer *time.Timer
	for _, s := range l.senders {
		all.Go(func() {
			for {
				if !s.send(url) {
					return // the server is gone
				}
				first.Do(func() { timer = time.AfterFunc(lifetime, kill) })
				l.mu.Lock()
				for _, e := range s.pending {
					l.acked[e.RunID+" "+e.ID] = true
				}
				l.mu.Unlock()
				s.pending = nil
			}
		})
	}
	all.Wait() // each ends when the server does, or does not answer
	if timer != nil {
		timer.Stop()
	}
	kill()
}

// send posts the next events of two runs, some in disorder and some twice, and reports whether they were acknowledged.
func (s *crashSender) send(url string) bool {
	if s.pending == nil {
		s.pending = s.next(1 + s.random.IntN(40))
	}
	var body bytes.Buffer
	for _, e := range s.pending {
		text, err := store.Encode(e)
		if err != nil {
			panic(err) // an event of the test
		}
		body.Write(append(text, '\n'))
	}
	client := http.Client{Timeout: s.timeout}
	answer, err := client.Post(url+"/api/events", "application/x-ndjson", &body)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return err == nil && answer.StatusCode == http.StatusCreated
}

func (s *crashSender) next(n int) (events []*unloop.Event) {
	for range n {
		k := s.made
		s.made++
		run, step := k%2, k/2
		e := &unloop.Event{
			ID: fmt.Sprint("e", step), RunID: fmt.Sprint(s.name, "-", run), Sequence: int64(step + 1),
			Time: time.Date(2026, 3, 4, 5, 0, step, 0, time.UTC), Tool: "grep", CallID: fmt.Sprint("c", step/2),
		}
		if step%2 == 0 {
			e.Type, e.Input = unloop.ToolCallStarted, json.RawMessage(fmt.Sprintf(`{"q":%d}`, step/2%(3+17*run)))
		} else {
			e.Type, e.Output = unloop.ToolCallCompleted, json.RawMessage(fmt.Sprintf(`"found %d"`, step/2%(3+17*run)))
		}
		events = append(events, e)
	}
	if s.random.IntN(4) == 0 {
		s.random.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
	}
	if s.random.IntN(4) == 0 {
		events = append(events, events[0])
	}
	return events
}

// compareToAcknowledged checks what a database holds after all crashes.
func compareToAcknowledged(t *testing.T, db string, acked map[string]bool) {
	t.Helper()
	if len(acked) == 0 {
		t.Fatal("no event was acknowledged")
	}
	kept := openStore(t, db)
	runs := make(map[string]bool)
	for key := range acked {
		run, _, _ := strings.Cut(key, " ")
		runs[run] = true
	}
	stored := make(map[string]bool)
	for id := range runs {
		events := eventsOf(t, kept, id)
		for _, e := range events {
			if stored[id+" "+e.ID] {
				t.Errorf("%s of %s is there twice", e.ID, id)
			}
			stored[id+" "+e.ID] = true
		}
		if diff := cmp.Diff(replay(t, id, events), judged(t, kept, id), regardlessOfArrival); diff != "" {
			t.Errorf("%s: what was found and what a replay finds (-replay +found):\n%s", id, diff)
		}
	}
	for id := range acked {
		if !stored[id] {
			t.Errorf("%s was acknowledged and is lost", id)
		}
	}
	t.Logf("%d events acknowledged, %d recorded", len(acked), len(stored))
}

func openStore(t *testing.T, db string) *sqlstore.Store {
	t.Helper()
	kept, err := sqlstore.Open(t.Context(), db, sqlstore.Options{Cluster: isOfCluster(t, db)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := kept.Close(); err != nil {
			t.Error(err)
		}
	})
	return kept
}

func runOf(t *testing.T, kept *sqlstore.Store, id string) *store.Run {
	t.Helper()
	row, err := kept.Run(t.Context(), id)
	if err != nil || row == nil {
		t.Fatalf("run %s: %v, %v", id, row, err)
	}
	return row
}

func eventsOf(t *testing.T, kept *sqlstore.Store, id string) (events []*unloop.Event) {
	t.Helper()
	err := kept.Events(t.Context(), runOf(t, kept, id).Number, store.Start, func(e *store.Event) error {
		event, err := store.Decode(bytes.Clone(e.Body))
		events = append(events, event)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return events
}

// verdict is what a store says of a run.
type verdict struct {
	Run       store.Run
	Warnings  []store.Warning
	Decisions []store.Decision
}

// regardlessOfArrival leaves out what depends on when and in which order events arrived.
var regardlessOfArrival = cmp.Options{
	cmpopts.IgnoreFields(store.Run{}, "Number", "Updated", "Arrival"),
	cmpopts.IgnoreFields(store.Warning{}, "Run"),
	cmpopts.IgnoreFields(store.Decision{}, "Run"),
	cmpopts.IgnoreFields(store.Position{}, "Tie"),
	cmpopts.EquateEmpty(),
}

func judged(t *testing.T, kept *sqlstore.Store, id string) verdict {
	t.Helper()
	v := verdict{Run: *runOf(t, kept, id)}
	var err error
	if v.Warnings, err = kept.Warnings(t.Context(), v.Run.Number); err != nil {
		t.Fatal(err)
	}
	if v.Decisions, _, err = kept.Decisions(t.Context(), v.Run.Number, store.Page{Limit: 10_000}); err != nil {
		t.Fatal(err)
	}
	return v
}

// replay gives a run's events to a fresh pipeline and returns what that says.
func replay(t *testing.T, id string, events []*unloop.Event) verdict {
	t.Helper()
	kept := openStore(t, filepath.Join(t.TempDir(), "replay.db"))
	recordEvents(t, kept, events)
	return judged(t, kept, id)
}

// recordEvents records events in a store that no server uses.
func recordEvents(t *testing.T, kept *sqlstore.Store, events []*unloop.Event) {
	t.Helper()
	judge, err := profile.New(profile.Default)
	if err != nil {
		t.Fatal(err)
	}
	p, err := pipeline.New(t.Context(), pipeline.Options{Profile: judge, Store: kept, Metrics: pipeline.NewMetrics(prometheus.NewRegistry())})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	working := begin(func() error { return p.Run(ctx) })
	if _, err := p.Submit(ctx, &pipeline.Submission{Events: events}); err != nil {
		t.Fatal(err)
	}
	stop()
	if err := working.wait(); err != nil {
		t.Fatal(err)
	}
}
