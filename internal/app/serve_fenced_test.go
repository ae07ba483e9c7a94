package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	ready := make(chan Addresses, 1)
	first := Serve{Config: c, Log: slog.New(slog.DiscardHandler), Ready: func(a Addresses) { ready <- a }}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	serving := begin(func() error { return first.Run(ctx) })
	var url string
	select {
	case a := <-ready:
		url = a.URL
	case <-serving.done:
		t.Fatal(serving.err)
	}
	sent := func(k int) []byte {
		return fmt.Appendf(nil, `{"event_id":"%d","run_id":"r","sequence":%d,"type":"x"}`, k, k)
	}
	post(t, url+"/api/events", "application/json", sent(1))
	postgres.Disconnect(t, db)
	t.Run("another server", func(t *testing.T) {
		other := serve(t, func(c *config.Config) { c.DB = db })
		post(t, other+"/api/events", "application/json", sent(2))
	})
	answer, err := http.Post(url+"/api/events", "application/json", bytes.NewReader(sent(3)))
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("the first server answers with %d", answer.StatusCode)
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
