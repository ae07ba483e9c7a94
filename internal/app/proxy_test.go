package app

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/unloop-ai/unloop/internal/config"
)

func TestAServerWithAProxyRecordsItsRequests(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"model":"m","usage":{"prompt_tokens":7,"completion_tokens":2}}`)
	}))
	t.Cleanup(upstream.Close)
	at := serveAt(t, func(c *config.Config) {
		c.Proxy.Addr, c.Proxy.OpenAI, c.Proxy.KeyBudget = "127.0.0.1:0", upstream.URL, "calls=4"
		c.Proxy.Mode = "guard"
	})
	answer, err := http.Get(at.URL + "/api/stream")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() && lines.Text() != ": live" { // it has updates from now on
	}
	history := []string{`{"role":"user","content":"find it"}`}
	last := ""
	for k := range 5 {
		args, _ := json.Marshal(fmt.Sprintf(`{"path":"f%d"}`, k))
		history = append(
			history, fmt.Sprintf(`{"role":"assistant","tool_calls":[{"id":"c%d","type":"function","function":{"name":"read","arguments":%s}}]}`, k, args),
			fmt.Sprintf(`{"role":"tool","tool_call_id":"c%d","content":"text %s"}`, k, strings.Repeat(string(rune('a'+k)), 20)),
		)
		r, err := http.NewRequest(http.MethodPost, "http://"+at.Proxy+"/openai/v1/chat/completions", strings.NewReader(`{"model":"m","messages":[`+strings.Join(history, ",")+`]}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer k")
		passed, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		last = string(read(t, passed))
	}
	if !strings.Contains(last, "100 % of this API key's budget is spent: 4 of 4 model calls") {
		t.Errorf("the fifth call was answered with %s", last)
	}
	for lines.Scan() {
		if strings.Contains(lines.Text(), `"total_tokens":36`) { // of four model calls
			return
		}
	}
	t.Fatal("the stream ends without the proxy's run: ", lines.Err())
}
