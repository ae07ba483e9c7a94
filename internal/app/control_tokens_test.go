package app

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/config"
	"github.com/unloop-ai/unloop/internal/store/storetest/postgres"
	"github.com/unloop-ai/unloop/internal/store/storetest/sqlite"
)

// withToken sends a request with a token, and decodes what is answered.
func withToken(t *testing.T, token, method, url, body string, to any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode/100 != 2 {
		t.Fatalf("%s %s: %s %s, %v", method, url, answer.Status, said, err)
	}
	unmarshal(t, said, to)
}

func TestATokenForIngestEndsNoOrderOfAPerson(t *testing.T) {
	for name, database := range map[string]func(testing.TB) string{"SQLite": sqlite.Database, "PostgreSQL": postgres.Database} {
		for _, act := range []string{"pause", "halt"} {
			t.Run(name+", "+act, func(t *testing.T) {
				base := serve(t, func(c *config.Config) {
					withTokens(c)
					c.Tokens = append(c.Tokens, config.Token{Name: "ann", Scope: "admin", SHA256: config.HashToken("owner")})
					c.DB = database(t)
				})
				var batch api.Batch
				withToken(t, "sender", http.MethodPost, base+"/api/events",
					`[{"run_id":"r","event_id":"1","type":"tool_call_started","tool":"a","metadata":{"guard":{"by":"Go","action":"allow"}}}]`, &batch)
				var order api.Order
				withToken(t, "owner", http.MethodPost, base+"/api/runs/r/control", `{"act":"`+act+`"}`, &order)
				ended, err := json.Marshal([]*unloop.Event{unloop.Release("r", "proxy", order.EventID)})
				if err != nil {
					t.Fatal(err)
				}
				stands := func() bool {
					var s api.ControlState
					withToken(t, "reader", http.MethodGet, base+"/api/runs/r/control", "", &s)
					return s.Paused || s.Halted
				}
				withToken(t, "sender", http.MethodPost, base+"/api/events", string(ended), &batch)
				if !stands() {
					t.Error("a token for ingest has ended the order")
				}
				if len(batch.Warnings) != 1 || batch.Warnings[0].Field != "parent_event_id" {
					t.Errorf("warnings %+v", batch.Warnings)
				}
				withToken(t, "owner", http.MethodPost, base+"/api/events", string(ended), &batch)
				if stands() {
					t.Error("a token that may give orders has not ended it")
				}
			})
		}
	}
}
