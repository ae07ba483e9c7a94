package app

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/config"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/internal/store/storetest/postgres"
)

// TestAServerEndsAfterAnotherOneUsedItsDatabase has a server lose its lock to another, which goes on with its run and ends. What the
// first remembers of the run does not hold any more.
func TestAServerEndsAfterAnotherOneUsedItsDatabase(t *testing.T) {
	db := postgres.Database(t)
	c := config.Default()
	c.Addr, c.GRPCAddr, c.DB = "127.0.0.1:0", config.Off, db
	first, stop, serving := startServer(c)
	if stop == nil {
		t.Fatal(serving.err)
	}
	defer stop()
	sent := func(k int) []byte {
		return fmt.Appendf(nil, `{"event_id":"%d","run_id":"r","sequence":%d,"type":"x"}`, k, k)
	}
	post(t, first.URL+"/api/events", "application/json", sent(1))
	useByAnother(t, c, sent(2))
	if answer, err := http.Post(first.URL+"/api/events", "application/json", bytes.NewReader(sent(3))); err == nil { // it may have ended
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("the first server answers with %d", answer.StatusCode)
		}
	}
	select {
	case <-serving.done:
	case <-time.After(time.Minute):
		t.Error("the first server continues")
		stop()
	}
	if err := serving.wait(); !errors.Is(err, store.ErrFenced) {
		t.Errorf("the first server ended with %v", err)
	}
	last := serve(t, func(c *config.Config) { c.DB = db })
	post(t, last+"/api/events", "application/json", sent(3))
	if events := decoded[[]api.Event](t, get(t, last+"/api/runs/r/events")); len(events) != 3 {
		t.Errorf("%d events, want 3", len(events))
	}
}

// useByAnother disconnects the server of the database, and has another one take the database, record an event and end. If the first server is
// connected again before the other one is, it tries again.
func useByAnother(t *testing.T, c *config.Config, event []byte) {
	for range 10 {
		postgres.Disconnect(t, c.DB)
		other, stop, serving := startServer(c)
		if stop == nil && errors.Is(serving.err, store.ErrInUse) {
			continue
		}
		if stop == nil {
			t.Fatal(serving.err)
		}
		post(t, other.URL+"/api/events", "application/json", event)
		stop()
		if err := serving.wait(); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatal("the first server keeps the database")
}
