package app

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/cluster"
	"github.com/unloop-ai/unloop/internal/config"
)

// TestWhatAPersonChangesAtOneServerHoldsAtTheOthers changes alerts, mutes, labels and settings of a cluster.
func TestWhatAPersonChangesAtOneServerHoldsAtTheOthers(t *testing.T) {
	t.Parallel()
	muted, unmuted := hook(t)
	s := clusterSite(t, func(c *config.Config) {
		c.Webhooks = []config.Webhook{{URL: muted, Format: "json", Severity: "info", Rules: []string{"same_error"}, Timeout: config.Duration(30 * time.Second)}}
	})
	a, b := s.servers[0], s.servers[1]
	eventually(t, time.Minute, "the servers do not share the partitions", func() bool {
		answer, err := http.Get(a + "/api/health")
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return false
		}
		all := decoded[api.Health](t, read(t, answer)).Cluster.Servers
		return len(all) == 2 && all[0].Partitions == 32 && all[1].Partitions == 32
	})
	runs := []string{"run-of-one-half-0", "run-of-the-other-half-0"} // of both servers: each has a half of the partitions
	for k, run := range runs {
		for n := 0; cluster.PartitionOf(run, 64)/32 != k; n++ {
			run = fmt.Sprint(strings.TrimSuffix(run, "0"), n)
		}
		runs[k] = run
	}

	t.Run("a mute", func(t *testing.T) {
		post(t, a+"/api/acts", "application/json", []byte(`{"action":"mute","rule":"same_error","tool":"read_file","project":"quiet"}`))
		for _, project := range []string{"quiet", "loud"} {
			for _, run := range runs {
				run = project + "-" + run
				post(t, b+"/api/events", "application/x-ndjson", fmt.Appendf(nil, `{"event_id":"b","run_id":%q,"sequence":1,"type":"run_started","project":%q}`, run, project))
				post(t, b+"/api/events", "application/x-ndjson", failures(run, 6))
			}
		}
		for range runs {
			if m := <-unmuted; !strings.HasPrefix(m.Run.ID, "loud-") {
				t.Errorf("a message about %s", m.Run.ID)
			}
		}
	})
	t.Run("an alert", func(t *testing.T) {
		address, messages := hook(t)
		host := strings.TrimPrefix(address, "http://")
		added := decoded[api.Alert](t, post(t, a+"/api/alerts", "application/json", fmt.Appendf(nil, `{"url":%q}`, address)))
		has := func(url string) bool {
			return strings.Contains(string(get(t, url+"/metrics")), `unloop_notices_sent_total{host="`+host+`"}`)
		}
		eventually(t, time.Minute, "the other server does not know the alert", func() bool { return has(b) })
		told := make(map[string]bool)
		for _, run := range runs {
			post(t, a+"/api/events", "application/x-ndjson", failures("alert-"+run, 6))
		}
		for range runs {
			m := <-messages
			told[m.Run.ID] = true
		}
		if len(told) != len(runs) {
			t.Errorf("told of %v", told)
		}
		send(t, http.MethodDelete, b+"/api/alerts/"+added.ID, "", http.StatusNoContent)
		eventually(t, time.Minute, "the other server still has the alert", func() bool { return !has(a) })
	})
	t.Run("labels at the same time", func(t *testing.T) {
		s.settle(t)
		var all sync.WaitGroup
		for k := range 40 {
			all.Go(func() {
				url := s.servers[k%2] + "/api/acts"
				send(t, http.MethodPost, url, fmt.Sprintf(`{"action":"label","run_id":"alert-%s","value":"loop"}`, runs[k%2]), http.StatusOK)
			})
		}
		all.Wait()
	})
	t.Run("a setting", func(t *testing.T) {
		settingOf := func(url, name string) (value any) {
			for _, p := range decoded[[]api.Profile](t, get(t, url+"/api/profiles")) {
				for _, setting := range p.Settings {
					if p.Name == "default" && setting.Name == name {
						value = setting.Value
					}
				}
			}
			return value
		}
		post(t, a+"/api/suggestions/apply", "application/json", []byte(`{"setting":"repeat_weight","value":9}`))
		post(t, a+"/api/suggestions/apply", "application/json", []byte(`{"tool":"read_file","setting":"same_errors","value":40}`))
		post(t, b+"/api/suggestions/apply", "application/json", []byte(`{"setting":"same_errors","value":30}`))
		if weight, errors := settingOf(b, "repeat_weight"), settingOf(b, "same_errors"); weight != 9.0 || errors != 30.0 {
			t.Errorf("after a setting is applied at the second server, it has the settings %v and %v", weight, errors)
		}
		errorsOf := func(url string) any { return settingOf(url, "same_errors") }
		eventually(t, time.Minute, "the setting does not hold", func() bool { return errorsOf(a) == 30.0 && errorsOf(b) == 30.0 })
		if third := serve(t, s.cluster.configure); errorsOf(third) != 30.0 {
			t.Errorf("a server that starts later has %v", errorsOf(third))
		}
		var rules []string
		for _, run := range runs {
			post(t, a+"/api/events", "application/x-ndjson", failures("setting-"+run, 35))
			s.settle(t)
			for _, w := range decoded[[]api.Warning](t, get(t, b+"/api/runs/setting-"+run+"/warnings")) {
				rules = append(rules, w.Type)
			}
		}
		if strings.Contains(strings.Join(rules, " "), "same_error") {
			t.Errorf("35 errors of read_file, of which 40 are allowed, have the warnings %v", rules)
		}
	})
}
