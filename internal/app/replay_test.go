package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/detect"
	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/config"
	"github.com/unloop-ai/unloop/profile"
)

// stuck sends a run that fails in the same way again and again, beside calls that do not.
func stuck(t *testing.T, url, run string) {
	t.Helper()
	var lines strings.Builder
	line := func(n int, more string) {
		fmt.Fprintf(&lines, `{"event_id":"%s-%d","run_id":%q,"sequence":%d,"timestamp":"2026-05-01T12:%02d:%02dZ",%s}`+"\n", run, n, run, n, n/60, n%60, more)
	}
	for k := range 12 {
		line(4*k+1, fmt.Sprintf(`"type":"tool_call_started","tool":"search","call_id":"s%d","input":{"q":"loops"}`, k))
		line(4*k+2, fmt.Sprintf(`"type":"tool_call_completed","tool":"search","call_id":"s%d","output":[],"cost":0.01`, k))
		line(4*k+3, fmt.Sprintf(`"type":"tool_call_started","tool":"read","call_id":"r%d","input":{"path":"%d.go"}`, k, k))
		line(4*k+4, fmt.Sprintf(`"type":"tool_call_completed","tool":"read","call_id":"r%d","output":"line %d"`, k, k*k))
	}
	post(t, url+"/api/events", "application/x-ndjson", []byte(lines.String()))
}

func askAgain(t *testing.T, url, run, question string) (status int, answer []byte) {
	t.Helper()
	r, err := http.Post(url+"/api/runs/"+run+"/replay", "application/json", bytes.NewReader([]byte(question)))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if answer, err = io.ReadAll(r.Body); err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, answer
}

func decoded[T any](t *testing.T, text []byte) (v T) {
	t.Helper()
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

func TestAReplayWithTheSameSettingsGivesTheRecordedResult(t *testing.T) {
	for _, name := range profile.Names() {
		t.Run(name, func(t *testing.T) {
			url := serve(t, func(c *config.Config) {
				c.Profile, c.Settings = name, config.Settings{"ignore": `["read"]`}
			})
			stuck(t, url, "r")
			status, answer := askAgain(t, url, "r", "{}")
			if status != http.StatusOK {
				t.Fatalf("%d %s", status, answer)
			}
			got := decoded[api.Replay](t, answer)
			if diff := cmp.Diff(decoded[[]api.Warning](t, get(t, url+"/api/runs/r/warnings")), got.Warnings); diff != "" {
				t.Errorf("warnings (-recorded +replayed):\n%s", diff)
			}
			if diff := cmp.Diff(decoded[[]api.Decision](t, get(t, url+"/api/runs/r/decisions")), got.Decisions); diff != "" {
				t.Errorf("decisions (-recorded +replayed):\n%s", diff)
			}
			run := decoded[api.RunSummary](t, get(t, url+"/api/runs/r"))
			if got.HealthScore != run.HealthScore || got.WorstDecision != run.WorstDecision || got.Events != run.EventCount || len(got.Decisions)+len(got.Warnings) == 0 {
				t.Errorf("replayed %s of run %+v", answer, run)
			}
		})
	}
}

func TestAReplayGivesTheResultOfOtherSettings(t *testing.T) {
	url := serve(t, nil)
	stuck(t, url, "r")
	first := func(question string) int {
		t.Helper()
		status, answer := askAgain(t, url, "r", question)
		got := decoded[api.Replay](t, answer)
		if status != http.StatusOK || len(got.Decisions) == 0 {
			t.Fatalf("%d %s", status, answer)
		}
		return got.Decisions[0].EventNumber
	}
	asIs, later := first(`{"profile":"default"}`), first(`{"profile":"default","settings":{"repeat_weight":4}}`)
	if asIs >= later {
		t.Errorf("decided first at event %d, and with more patience at %d", asIs, later)
	}
	if sooner := first(`{"profile":"agentium","settings":{"max_repeats":"1"}}`); sooner >= asIs {
		t.Errorf("the first decision is at event %d, and with the other settings at %d", asIs, sooner)
	}
	if status, answer := askAgain(t, url, "r", `{"settings":{"ignore":["search"]}}`); status != http.StatusOK || len(decoded[api.Replay](t, answer).Warnings) != 0 {
		t.Errorf("without the tool that loops: %d %s", status, answer)
	}
}

func TestInvalidSettingsOfAReplayAreReported(t *testing.T) {
	url := serve(t, nil)
	stuck(t, url, "r")
	for question, want := range map[string]struct{ field, reason string }{
		`{"profile":"nothing"}`: {"profile", `unknown profile "nothing"`},
		`{"settings":{"cycle_rounds":0,"patience":1,"same_errors":5}}`:  {"settings.cycle_rounds", "cycle_rounds is 0; it must be from 2 to 100"},
		`{"settings":{"patience":1}}`:                                   {"settings.patience", `unknown setting "patience"`},
		`{"settings":{"cycle_rounds":"many"}}`:                          {"settings.cycle_rounds", `cycle_rounds is "many"; it must be a whole number`},
		`{"settings":{"nudges":{"any":"{{range 1000000000}}{{end}}"}}}`: {"settings.nudges", "requests cannot set texts"},
		`{"settings":{"tools":{"a":{"nudges":1}}}}`:                     {"settings.tools", "tools.a.nudges: nudges is a setting of the whole profile"},
	} {
		t.Run(question, func(t *testing.T) {
			status, answer := askAgain(t, url, "r", question)
			p := decoded[api.Problem](t, answer)
			if status != http.StatusUnprocessableEntity || p.Field != want.field || !strings.Contains(p.Reason, want.reason) {
				t.Errorf("%d %s", status, answer)
			}
			if two := strings.Contains(question, "same_errors"); two != (len(p.Errors) == 2) {
				t.Errorf("errors %+v", p.Errors)
			}
		})
	}
}

func TestRulesAndProfilesAreThoseOfTheEngine(t *testing.T) {
	url := serve(t, func(c *config.Config) { c.Settings = config.Settings{"cycle_rounds": "7"} })
	var names []string
	for _, r := range decoded[[]api.Rule](t, get(t, url+"/api/rules")) {
		names = append(names, r.Name)
		page, _ := detect.Explain(r.Name)
		if r.What != page.When || r.Why != page.Why || r.Try != page.Try || r.What == "" {
			t.Errorf("rule %+v", r)
		}
	}
	own, err := profile.New(profile.Default)
	if err != nil {
		t.Fatal(err)
	}
	for k, name := range names {
		known := slices.ContainsFunc(own.Detectors(), func(d unloop.Detector) bool { return d.Info().Name == name })
		if known != (k < len(own.Detectors())) {
			t.Errorf("rule %d is %s; those of the server's profile must come first", k, name)
		}
	}
	slices.Sort(names)
	if diff := cmp.Diff(detect.Rules(), names); diff != "" {
		t.Error(diff)
	}
	names = nil
	for _, p := range decoded[[]api.Profile](t, get(t, url+"/api/profiles")) {
		names = append(names, p.Name)
		for _, s := range p.Settings {
			if s.Doc == "" || s.Name == "tools" || s.Name == "nudges" {
				t.Errorf("setting %+v of %s", s, p.Name)
			}
			if s.Name == "cycle_rounds" && p.Name == "default" && s.Value != 7.0 {
				t.Errorf("the setting is %v", s.Value)
			}
		}
	}
	if diff := cmp.Diff(profile.Names(), names); diff != "" {
		t.Error(diff)
	}
}
