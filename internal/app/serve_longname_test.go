package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestASecretAcrossTheCutOfALongNameIsMaskedCompletely: the part of a secret before the cut has no form of its own, so a mask that came after
// the cut would not find it.
func TestASecretAcrossTheCutOfALongNameIsMaskedCompletely(t *testing.T) {
	const part = "c4n4" // of every part of the canary that could be used
	s := serveCanary(t)
	rapid.Check(t, func(rt *rapid.T) {
		unit := rapid.SampledFrom([]string{"n", "no ", "界"}).Draw(rt, "unit")
		long := strings.Repeat(unit, rapid.IntRange(380, 560).Draw(rt, "bytes")/len(unit)) + " " + canary + strings.Repeat(unit, 200)
		event := canaryEvent(long, 1, "tool_call_started")
		for name, value := range event {
			if text, ok := value.(string); ok && name != "type" {
				event[name] = strings.ReplaceAll(text, canary, long)
			}
		}
		for path, v := range map[string]any{"/api/events": event, "/api/runs": map[string]any{"id": long, "name": long, "project": long}} {
			body, err := json.Marshal(v)
			if err != nil {
				rt.Fatal(err)
			}
			if answer := post(t, s.URL+path, "application/json", body); bytes.Contains(answer, []byte(part)) {
				rt.Fatalf("the answer to %s holds a part of the secret: %s", path, answer)
			}
		}
		if text := get(t, s.URL+"/api/runs/"+url.PathEscape(long)); !bytes.Contains(text, []byte(`"masked-`)) { // by the id that it was sent with
			rt.Fatalf("the run is %s", text)
		}
	})
	s.stop()
	files, err := filepath.Glob(s.db + "*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if text, err := os.ReadFile(file); err != nil || bytes.Contains(text, []byte(part)) {
			t.Errorf("%s holds a part of the secret (%v)", file, err)
		}
	}
}

func TestLongNamesInTelemetryAreShortened(t *testing.T) {
	base := serve(t, nil)
	long := func(name string) string { return name + strings.Repeat("訂", 2000) }
	attribute := func(key, value string) string {
		return fmt.Sprintf(`{"key":%q,"value":{"stringValue":%q}}`, key, value)
	}
	for k, call := range []string{long("a"), long("a"), long("b")} { // the first two are spans of one call
		post(t, base+"/v1/traces", "application/json", []byte(fmt.Sprintf(`{"resourceSpans":[{"resource":{"attributes":[%s]},"scopeSpans":[{"spans":[
			{"traceId":"%032x","spanId":"%016x","name":%q,"startTimeUnixNano":"%d","endTimeUnixNano":"99","attributes":[%s,%s,%s,%s,%s]}]}]}]}`,
			attribute("service.name", long("shop")), 7, k+1, long("span"), k+1, attribute("gen_ai.operation.name", "execute_tool"), attribute("gen_ai.tool.name", long("search")),
			attribute("gen_ai.tool.call.id", call), attribute("gen_ai.conversation.id", long("talk")), attribute("gen_ai.agent.name", long("clerk")))))
	}
	runs := decoded[[]map[string]any](t, get(t, base+"/api/runs"))
	if len(runs) != 1 {
		t.Fatalf("%d runs, want 1", len(runs))
	}
	events := decoded[[]map[string]any](t, get(t, base+"/api/runs/"+url.PathEscape(runs[0]["id"].(string))+"/events"))
	if len(events) != 4 {
		t.Errorf("%d events, want those of two calls", len(events))
	}
	for _, record := range append(events, runs...) {
		for name, value := range record {
			if text, ok := value.(string); ok && len(text) > 512 {
				t.Errorf("%s has %d bytes", name, len(text))
			}
		}
	}
}
