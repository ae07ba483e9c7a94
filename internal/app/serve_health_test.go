package app

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/unloop-ai/unloop/internal/config"
	"github.com/unloop-ai/unloop/internal/store/storetest/postgres"
)

// TestAServerThatCannotRecordIsUnhealthy has a database that takes small writes, as a full disk does, but no events.
func TestAServerThatCannotRecordIsUnhealthy(t *testing.T) {
	db := postgres.Database(t)
	url := serve(t, func(c *config.Config) { c.DB = db })
	send := func() int {
		status, _ := answered(t, http.MethodPost, url+"/api/events", `{"event_id":"1","run_id":"r","type":"x"}`)
		return status
	}
	postgres.Exec(t, db, "ALTER TABLE events ADD CONSTRAINT full_disk CHECK (false) NOT VALID")
	if status := send(); status != http.StatusServiceUnavailable {
		t.Fatalf("an event is answered with %d", status)
	}
	if status, said := answered(t, http.MethodGet, url+"/api/health", ""); status != http.StatusServiceUnavailable || !strings.Contains(said, "the last commit failed") {
		t.Errorf("health: %d %s", status, said)
	}
	postgres.Exec(t, db, "ALTER TABLE events DROP CONSTRAINT full_disk")
	if status := send(); status != http.StatusCreated {
		t.Fatalf("the same event is answered with %d", status)
	}
	if status, said := answered(t, http.MethodGet, url+"/api/health", ""); status != http.StatusOK {
		t.Errorf("health after that: %d %s", status, said)
	}
}

// answered returns what a server answers, whatever that is.
func answered(t *testing.T, method, url, body string) (status int, said string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}
