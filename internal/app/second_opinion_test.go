package app

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/config"
)

// judge is a scripted chat endpoint. The channel gets a value for each question.
func judge(t *testing.T, answer string) (url string, asked <-chan struct{}) {
	t.Helper()
	requests := make(chan struct{}, 1000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests <- struct{}{}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"message": map[string]any{"role": "assistant", "content": answer}}}})
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1", requests
}

// searches sends a run's calls from one number to another.
func searches(t *testing.T, url string, from, to int) {
	t.Helper()
	var body strings.Builder
	for k := from; k < to; k++ {
		fmt.Fprintf(&body, `{"event_id":"%d-a","run_id":"r","type":"tool_call_started","tool":"search","call_id":"%d","input":{"q":"loops"}}`+"\n", k, k)
		fmt.Fprintf(&body, `{"event_id":"%d-b","run_id":"r","type":"tool_call_completed","tool":"search","call_id":"%d","output":["one"]}`+"\n", k, k)
	}
	post(t, url+"/api/events", "application/x-ndjson", []byte(body.String()))
}

// awaitOpinion returns when the stream of the run r shows an answer.
func awaitOpinion(t *testing.T, url string, send func()) {
	t.Helper()
	answer, err := http.Get(url + "/api/runs/r/stream")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	send()
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if strings.Contains(lines.Text(), `"second_opinion"`) {
			return
		}
	}
	t.Fatal("the stream ends without an answer: ", lines.Err())
}

// withJudge has a server ask the endpoint.
func withJudge(endpoint string, content string) func(*config.Config) {
	return func(c *config.Config) {
		c.Content, c.SecondOpinion.Endpoint, c.SecondOpinion.Model = content, endpoint, "judge"
	}
}

func TestAServerReplaysASecondOpinionWithoutAModel(t *testing.T) {
	for _, content := range []string{"full", "none"} {
		t.Run(content, func(t *testing.T) {
			endpoint, asked := judge(t, `{"stuck":false,"certainty":0.9,"why":"new pages","advice":""}`)
			url := serve(t, withJudge(endpoint, content))
			awaitOpinion(t, url, func() { searches(t, url, 0, 5) })
			searches(t, url, 5, 8)
			decisions := decoded[[]api.Decision](t, get(t, url+"/api/runs/r/decisions"))
			if len(decisions) < 3 {
				t.Fatalf("the decisions are %+v", decisions)
			}
			for _, d := range decisions {
				if d.Action == "block" || d.Action == "halt" {
					t.Errorf("the opinion does not hold back %+v", d)
				}
			}
			before := len(asked)
			_, answer := askAgain(t, url, "r", "{}")
			replayed := decoded[api.Replay](t, answer)
			if content == "full" {
				if diff := cmp.Diff(decisions, replayed.Decisions); diff != "" {
					t.Error("a replay gives other decisions:", diff)
				}
			}
			if len(asked) != before || before != 1 {
				t.Errorf("%d questions before the replay and %d after it, want 1 and 1", before, len(asked))
			}
			if metrics := string(get(t, url+"/metrics")); !strings.Contains(metrics, `unloop_second_opinions_total{result="not_stuck"} 1`) {
				t.Error("the metrics do not count the answer")
			}
		})
	}
}

func TestAServerWithoutSecondOpinionsRecordsTheStop(t *testing.T) {
	url := serve(t, nil)
	searches(t, url, 0, 8)
	decisions := decoded[[]api.Decision](t, get(t, url+"/api/runs/r/decisions"))
	if last := decisions[len(decisions)-1]; last.Action != "block" && last.Action != "halt" {
		t.Errorf("the last decision is %+v, want a stop", last)
	}
}

// A guard over HTTP does not wait: one lock is over the requests of all agents.
func TestAGuardOverHTTPAsksOutsideOfRequests(t *testing.T) {
	endpoint, asked := judge(t, `no JSON`)
	url := serve(t, withJudge(endpoint, "full"))
	var lines strings.Builder
	for k := range 8 {
		fmt.Fprintf(&lines, `{"op":"before","id":%d,"run":"r","tool":"search","args":{"q":"loops"}}`+"\n"+`{"op":"after","id":%d,"run":"r","tool":"search","result":["one"]}`+"\n", k, k)
	}
	answers := string(post(t, url+"/api/guard", "application/x-ndjson", []byte(lines.String())))
	if !strings.Contains(answers, `"action":"block"`) {
		t.Errorf("no stop without an opinion: %s", answers)
	}
	<-asked
}

func TestAMissingKeyIsLoggedAndDisablesSecondOpinions(t *testing.T) {
	var log bytes.Buffer
	c := config.Default()
	c.SecondOpinion.Endpoint, c.SecondOpinion.Model, c.SecondOpinion.APIKeyEnv = "http://127.0.0.1:1/v1", "m", "NO_SUCH_KEY"
	client, err := SecondOpinion(c, func(string) string { return "" }, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil || client != nil {
		t.Errorf("client %v, error %v, want neither", client, err)
	}
	if strings.Count(log.String(), "\n") != 1 || !strings.Contains(log.String(), "NO_SUCH_KEY") {
		t.Errorf("the log is %q", log.String())
	}
	if client, err = SecondOpinion(c, func(string) string { return "k" }, slog.New(slog.DiscardHandler)); err != nil || client == nil {
		t.Errorf("with a key: client %v, error %v", client, err)
	}
}
