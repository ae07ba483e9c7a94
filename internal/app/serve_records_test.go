package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/unloop-ai/unloop/internal/config"
	"github.com/unloop-ai/unloop/internal/nettest"
	"github.com/unloop-ai/unloop/internal/store"
)

// loop is a run that calls a tool again and again, and ends.
func loop(run string, calls int) []byte {
	var body strings.Builder
	for k := range calls {
		at := time.Date(2026, 4, 5, 6, 0, k, 0, time.UTC).Format(time.RFC3339)
		fmt.Fprintf(&body, `{"event_id":"%d-a","run_id":%q,"sequence":%d,"timestamp":%q,"type":"tool_call_started","tool":"search","call_id":"%d","input":{"q":"loops"}}`+"\n", k, run, 2*k+1, at, k)
		fmt.Fprintf(&body, `{"event_id":"%d-b","run_id":%q,"sequence":%d,"timestamp":%q,"type":"tool_call_completed","tool":"search","call_id":"%d","output":[]}`+"\n", k, run, 2*k+2, at, k)
	}
	fmt.Fprintf(&body, `{"event_id":"end","run_id":%q,"sequence":%d,"type":"run_completed"}`+"\n", run, 2*calls+1)
	return []byte(body.String())
}

func TestSecretsAreMaskedBeforeTheyAreStored(t *testing.T) {
	url := serve(t, nil)
	const secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
	post(t, url+"/api/events", "application/json", []byte(`{"event_id":"1","run_id":"r","type":"tool_call_started","tool":"http",
		"input":{"url":"https://api.example.com","headers":{"Authorization":"Bearer `+secret+`"}}}`))
	events := string(get(t, url+"/api/runs/r/events"))
	if strings.Contains(events, secret) || !strings.Contains(events, "[masked ") {
		t.Errorf("the server stored %s", events)
	}
}

func TestACallWithoutACostGetsOne(t *testing.T) {
	prices := filepath.Join(t.TempDir(), "prices.yaml")
	if err := os.WriteFile(prices, []byte("house-1: {input: 2, output: 10, as_of: 2026-01-02, source: ours}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	url := serve(t, func(c *config.Config) { c.Prices = prices })
	post(t, url+"/api/events", "application/json", []byte(`{"event_id":"1","run_id":"r","type":"llm_call_completed","model":"house-1",
		"tokens":1500000,"usage":{"input_tokens":1000000,"output_tokens":500000}}`))
	var run struct {
		Cost float64 `json:"total_cost"`
	}
	unmarshal(t, get(t, url+"/api/runs/r"), &run)
	if run.Cost != 7 {
		t.Errorf("the run cost %g dollars, want 7", run.Cost)
	}
}

func TestAWarningSendsOneWebhook(t *testing.T) {
	told := make(chan string, 100)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var message struct {
			Level   string `json:"level"`
			Warning struct {
				Type string `json:"type"`
			} `json:"warning"`
		}
		if err := json.NewDecoder(r.Body).Decode(&message); err != nil {
			t.Error(err)
		}
		told <- message.Warning.Type + " " + message.Level
	}))
	defer hook.Close()
	db := filepath.Join(t.TempDir(), "hooks.db")
	listening := func(c *config.Config) {
		c.DB, c.Webhooks = db, []config.Webhook{{URL: hook.URL, Rules: []string{"same_call_same_result"}}}
	}
	for round := range 2 {
		t.Run(fmt.Sprint("server ", round), func(t *testing.T) {
			url := serve(t, listening)
			post(t, url+"/api/events", "application/x-ndjson", loop("r", 5))
		})
	}
	if got := <-told; !strings.HasPrefix(got, "same_call_same_result ") {
		t.Errorf("the webhook is about %s", got)
	}
	if len(told) > 0 {
		t.Errorf("a further webhook is about %s", <-told)
	}
}

func TestOldRunsAreDeletedWhenTheDatabaseIsTooLarge(t *testing.T) {
	c := config.Default()
	c.GRPCAddr, c.DB = config.Off, filepath.Join(t.TempDir(), "retain.db")
	c.Retention.Size = 2 << 20
	p, url := assembled(t, c)
	for from := 0; from < 300; from += 30 {
		var runs []byte
		for k := from; k < from+30; k++ {
			runs = append(runs, loop(fmt.Sprintf("run-%03d", k), 30)...)
		}
		post(t, url+"/api/events", "application/x-ndjson", runs)
	}
	if err := p.retainNow(t.Context()); err != nil {
		t.Fatal(err)
	}
	size, err := p.store.Size(t.Context())
	if err != nil || size > int64(c.Retention.Size) {
		t.Errorf("the database has %d bytes, want %d at most (%v)", size, c.Retention.Size, err)
	}
	runs, _, err := p.store.Runs(t.Context(), store.Filter{}, store.Order{}, store.Page{Limit: 1000})
	kept := make(map[string]bool)
	for _, r := range runs {
		kept[r.ID] = true
	}
	if err != nil || len(runs) == 0 || len(runs) == 300 || !kept["run-299"] || kept["run-000"] {
		t.Errorf("%d runs remain, the first %v, the last %v (%v)", len(runs), kept["run-000"], kept["run-299"], err)
	}
}

func TestAServerWithoutItsPortCreatesNoDatabase(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, port := range []string{"addr", "grpc_addr"} {
		c := config.Default()
		c.Addr, c.GRPCAddr, c.DB = "127.0.0.1:0", taken.Addr().String(), filepath.Join(t.TempDir(), "none.db")
		if port == "addr" {
			c.Addr, c.GRPCAddr = c.GRPCAddr, c.Addr
		}
		err := (&Serve{Config: c, Log: slog.New(slog.DiscardHandler)}).Run(t.Context())
		if err == nil || !strings.HasPrefix(err.Error(), port+": ") {
			t.Errorf("with a taken port for %s the error is %v", port, err)
		}
		if _, err := os.Stat(c.DB); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("with a taken port for %s, Stat of the database returns %v", port, err)
		}
	}
}

func TestAServerThatCannotStartReleasesItsPorts(t *testing.T) {
	c := config.Default()
	c.Addr, c.GRPCAddr, c.DB = nettest.FreeAddress(t), "127.0.0.1:0", filepath.Join(t.TempDir(), "no", "such", "folder.db")
	if err := (&Serve{Config: c, Log: slog.New(slog.DiscardHandler)}).Run(t.Context()); err == nil {
		t.Fatal("it started")
	}
	again, err := net.Listen("tcp", c.Addr)
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Close() // it was only tried
}
