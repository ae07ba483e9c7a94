package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
)

func TestFeaturesOfEachStepWithTheLabelsOfTheRun(t *testing.T) {
	const call = `{"kind":"tool_call","tool":"search","args":{"query":"loops"},"result":"0 results"}`
	path := filepath.Join(t.TempDir(), "runs.jsonl")
	run1 := `{"id":"r1","outcome":"failure","labels":{"loop":{"kind":"exact_repeat","onset":2,"end":6}},"events":[{"kind":"message","role":"user","text":"Find it."},` +
		call + "," + call + "," + call + "," + call + "," + call + "," + call + "]}\n"
	run2 := `{"id":"r2","outcome":"success","labels":{},"events":[{"kind":"message","role":"user","text":"Hello."}]}` + "\n"
	if err := os.WriteFile(path, []byte(run1+run2), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(&out, []string{path}); err != nil {
		t.Fatal(err)
	}
	var rows [2]struct {
		ID     string
		Labels struct{ Loop *struct{ Kind string } }
		Events []int
		Steps  [][]float32
		Flags  []flag
	}
	in := json.NewDecoder(&out)
	for k := range rows {
		if err := in.Decode(&rows[k]); err != nil {
			t.Fatal(err)
		}
	}
	looping, honest := rows[0], rows[1]
	if looping.ID != "r1" || looping.Labels.Loop == nil || looping.Labels.Loop.Kind != "exact_repeat" {
		t.Errorf("the first run is %s with the labels %+v", looping.ID, looping.Labels)
	}
	if diff := cmp.Diff([]int{1, 2, 3, 4, 5, 6}, looping.Events); diff != "" || len(looping.Steps) != 6 {
		t.Errorf("%d steps; events (-want +got):\n%s", len(looping.Steps), diff)
	}
	for _, f := range looping.Flags {
		for _, rule := range f.Rules {
			if rule == "stalled_steps" {
				t.Errorf("the decision at event %d names the rule that is trained", f.Event)
			}
		}
	}
	if len(looping.Flags) == 0 {
		t.Error("no other rule decides about six equal calls")
	}
	if len(honest.Steps) != 0 || honest.ID != "r2" {
		t.Errorf("the second run is %s with %d steps", honest.ID, len(honest.Steps))
	}
}

func TestEachFeatureHasAName(t *testing.T) {
	var out bytes.Buffer
	if err := run(&out, []string{"-names"}); err != nil {
		t.Fatal(err)
	}
	if lines, features := bytes.Count(out.Bytes(), []byte("\n")), len(unloop.Features{}); 2*lines != features {
		t.Errorf("%d names of quantities; a quantity and its average are 2 of %d features", lines, features)
	}
}

func TestGateOfAStep(t *testing.T) {
	for _, test := range []struct {
		name   string
		call   func(k int) string
		always bool
		usual  bool
	}{
		{"an equal failure fires at any estimate from its third time on", func(int) string {
			return `"tool":"build","args":{"target":"app"},"result":null,"error":"the linker failed: undefined symbol start"`
		}, true, true},
		{"an equal page fires at its threshold", func(int) string {
			return `"tool":"open_page","args":{"page":"rooms"},"result":"The page shows two rooms with a balcony and no garden at the moment"`
		}, false, true},
		{"a series of items with one answer fires at no estimate", func(k int) string {
			return fmt.Sprintf(`"tool":"verify_copy","args":{"path":"%s.txt","by":"sum"},"result":"The copy has the same sum as the original, so it is verified"`, []string{"alpha", "bravo", "kilo", "dust", "echo", "fern"}[k])
		}, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			events := `{"kind":"message","role":"user","text":"Do it."}`
			for k := range 6 {
				events += `,{"kind":"tool_call",` + test.call(k) + `}`
			}
			path := filepath.Join(t.TempDir(), "runs.jsonl")
			if err := os.WriteFile(path, []byte(`{"id":"r1","outcome":"failure","labels":{},"events":[`+events+"]}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := run(&out, []string{path}); err != nil {
				t.Fatal(err)
			}
			var row features
			if err := json.NewDecoder(&out).Decode(&row); err != nil {
				t.Fatal(err)
			}
			if len(row.Gates) != 6 || row.Gates[0] != shut {
				t.Fatalf("the gates are %v, want 6, the first one shut", row.Gates)
			}
			last := row.Gates[3:]
			if got := slices.Contains(last, always); got != test.always {
				t.Errorf("fires at any estimate: %t, want %t; the gates are %v", got, test.always, row.Gates)
			}
			if got := slices.Max(last) >= usual; got != test.usual {
				t.Errorf("fires at its threshold: %t, want %t; the gates are %v", got, test.usual, row.Gates)
			}
		})
	}
}
