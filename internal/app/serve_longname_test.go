package app

import (
	"bytes"
	"encoding/json"
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
