package app

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/store"
)

// TestAClusterWithoutRoomRefusesEventsAndLosesNone fills a stream that nobody reads, takes NATS away, and then adds a server that works.
func TestAClusterWithoutRoomRefusesEventsAndLosesNone(t *testing.T) {
	c := startCluster(t, 1, 0, "http://127.0.0.1:9/")
	edge := c.addServer(victimIdle + "=1")
	sender := &crashSender{name: "s0", random: rand.New(rand.NewPCG(1, 2))}
	acked, status, again := make(map[string]bool), 0, ""
	send := func() {
		var body bytes.Buffer
		events := sender.next(40)
		for _, e := range events {
			e.Text = strings.Repeat("x", 1000)
			text, err := store.Encode(e)
			if err != nil {
				t.Fatal(err)
			}
			body.Write(append(text, '\n'))
		}
		status, again = postLines(t, edge.url, &body)
		if status == http.StatusCreated {
			for _, e := range events {
				acked[e.RunID+" "+e.ID] = true
			}
		}
	}
	for range 100 {
		if send(); status != http.StatusCreated {
			break
		}
	}
	if status != http.StatusTooManyRequests || again == "" {
		t.Fatalf("a full stream: status %d, Retry-After %q", status, again)
	}
	eventually(t, time.Minute, "the health does not tell of partitions without an owner", func() bool {
		answer, err := http.Get(edge.url + "/api/health")
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK { // it has not joined yet
			return false
		}
		var health api.Health
		if err := json.NewDecoder(answer.Body).Decode(&health); err != nil {
			t.Fatal(err)
		}
		return health.Cluster != nil && health.Cluster.Unowned == 64
	})
	c.nats[0].kill()
	if send(); status != http.StatusServiceUnavailable || again == "" {
		t.Fatalf("without NATS: status %d, Retry-After %q", status, again)
	}
	c.nats[0].restart()
	worker := c.addServer()
	eventually(t, time.Minute, "there is no room again", func() bool {
		send()
		return status == http.StatusCreated
	})
	c.drained(t)
	kept := openStore(t, c.db)
	for _, run := range []string{"s0-0", "s0-1"} {
		for _, e := range eventsOf(t, kept, run) {
			delete(acked, run+" "+e.ID)
		}
	}
	if len(acked) > 0 {
		t.Errorf("%d events were acknowledged and are not recorded", len(acked))
	}
	worker.kill()
}

// postLines sends events and returns the status and the header Retry-After of the answer.
func postLines(t *testing.T, url string, body io.Reader) (status int, again string) {
	t.Helper()
	answer, err := http.Post(url+"/api/events", "application/x-ndjson", body)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, answer.Header.Get("Retry-After")
}
