package proxy

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/memory"
	"github.com/unloop-ai/unloop/internal/reverseproxy"

	"github.com/go-json-experiment/json/jsontext"
)

// get returns the answer to a GET.
func get(t *testing.T, url string, header ...string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for k := 0; k < len(header); k += 2 {
		if r.Header.Set(header[k], header[k+1]); header[k] == "Host" {
			r.Host = header[k+1]
		}
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(data)
}

func TestHealthAndMetricsTellWhatTheProxyDid(t *testing.T) {
	u := newUpstream(t)
	s, p := start(t, u, nil)
	a := &agent{dialect: dialects["chat"], t: t, base: s.URL, items: []string{dialects["chat"].says("go")}}
	a.ask()
	a.body = func([]string, bool) string { return "no JSON" }
	a.ask()
	var health struct {
		Status, Mode               string
		Judged, Unjudged, Failures int
	}
	if _, body := get(t, s.URL+"/healthz"); json.Unmarshal([]byte(body), &health) != nil || health.Status != "ok" || health.Mode != "guard" ||
		health.Judged != 1 || health.Unjudged != 1 || health.Failures != 0 {
		t.Errorf("health is %+v", health)
	}
	p.stats.failures.Add(1)
	if _, body := get(t, s.URL+"/healthz"); !strings.Contains(body, `"status":"failing"`) {
		t.Errorf("health is %s", body)
	}
	_, body := get(t, s.URL+"/metrics")
	for _, want := range []string{"unloop_proxy_judged_requests_total 1\n", "unloop_proxy_judging_failures_total 1\n", "unloop_proxy_conversations 1\n"} {
		if !strings.Contains(body, want) {
			t.Errorf("%q is missing in %s", want, body)
		}
	}
	page, err := os.ReadFile("../../docs/proxy.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, match := range regexp.MustCompile(`(?m)^# TYPE (\S+) `).FindAllStringSubmatch(body, -1) {
		if !strings.Contains(string(page), "`"+match[1]+"`") {
			t.Errorf("docs/proxy.md does not list %s", match[1])
		}
	}
}

func TestAPageOfAnotherSiteIsRefused(t *testing.T) {
	u := newUpstream(t)
	s, _ := start(t, u, nil)
	if status, _ := get(t, s.URL+"/openai/v1/models", "Host", "evil.example"); status != http.StatusForbidden {
		t.Errorf("another host gives %d", status)
	}
	r, err := http.NewRequest(http.MethodPost, s.URL+"/openai/v1/chat/completions", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusForbidden || u.last() != nil {
		t.Errorf("a page of another site gets %d", answer.StatusCode)
	}
}

// odd is an API whose histories panic, or are never told to the end.
type odd struct {
	chat
	tells func()
}

func (o odd) addEvents(*ingest.EventBuilder, ingest.Location, jsontext.Value) error {
	o.tells()
	return nil
}

func TestJudgingThatFailsOrTakesTooLongIsAnErrorSoThatTheRequestPasses(t *testing.T) {
	u := newUpstream(t)
	_, p := start(t, u, func(o *Options) { o.Record = func(*unloop.Event) {} })
	body := []byte(`{"messages":[{"role":"user","content":"x"}]}`)
	if _, err := p.judgeInTime(odd{tells: func() { panic("odd") }}, body, "a", lease(1<<20)); err == nil || err.Error() != "judging failed: odd" {
		t.Errorf("a panic gives %v", err)
	}
	synctest.Test(t, func(t *testing.T) {
		p.judging = make(chan struct{}, 1)
		released := make(chan struct{})
		pool := memory.NewPool(1 << 20)
		held := reverseproxy.NewLease(pool)
		_, _ = io.Copy(io.Discard, held.Reader(bytes.NewReader(body)))
		if _, err := p.judgeInTime(odd{tells: func() { <-released }}, body, "b", held); err != errLate {
			t.Errorf("a verdict that does not come gives %v", err)
		}
		if _, err := p.judgeInTime(chat{}, body, "c", lease(1<<20)); err != errLate {
			t.Errorf("a full queue gives %v", err)
		}
		held.Release() // the request has passed
		if pool.TryTake(pool.Size()) {
			t.Error("the memory of a request that is still judged is free")
		}
		close(released)
		synctest.Wait()
		if !pool.TryTake(pool.Size()) {
			t.Error("the memory of a request that was judged late is not free")
		}
	})
}

func TestAPathOfNoAPIIsAnsweredWithTheNamesOfTheAPIs(t *testing.T) {
	s, p := start(t, newUpstream(t), func(*Options) {})
	answer, err := http.Post(s.URL+"/v1/chat/completions", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	want := `unloop proxy: unknown path "/v1/chat/completions"; it must begin with /` + strings.Join(slices.Sorted(maps.Keys(p.apis)), " or /") + "\n"
	if answer.StatusCode != http.StatusNotFound || string(body) != want {
		t.Errorf("got %d %q, want 404 %q", answer.StatusCode, body, want)
	}
}
