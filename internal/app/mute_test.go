package app

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/unloop-ai/unloop/internal/config"
)

func TestAMutedRuleSendsNoWebhook(t *testing.T) {
	told := make(chan string, 100) // the runs of the messages; tests send far fewer
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var message struct {
			Run struct{ ID string }
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(body, &message) != nil {
			t.Errorf("%v, message %s", err, body)
		}
		told <- message.Run.ID
	}))
	t.Cleanup(hook.Close)
	url := serve(t, func(c *config.Config) {
		c.Webhooks = []config.Webhook{{URL: hook.URL, Format: "json", Severity: "info", Rules: []string{"same_error"}, Timeout: config.Duration(1e10)}}
	})
	post(t, url+"/api/acts", "application/json", []byte(`{"action":"mute","rule":"same_error","tool":"read_file","project":"quiet"}`))
	for _, project := range []string{"quiet", "loud"} {
		begin := fmt.Sprintf(`{"event_id":"b-%s","run_id":%q,"sequence":1,"type":"run_started","project":%q}`, project, project, project)
		post(t, url+"/api/events", "application/x-ndjson", []byte(begin))
		failing(t, url, project, "loop", 6)
	}
	if first := <-told; first != "loud" {
		t.Errorf("the first webhook is about run %q", first)
	}
}
