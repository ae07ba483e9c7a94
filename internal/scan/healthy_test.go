package scan

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/report"
	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/profile"
)

const healthyFolder = "../../examples/healthy"

// healthyLine is what a line of the healthy corpus says of its run beside the events themselves.
type healthyLine struct {
	ID      string            `json:"id"`
	Source  string            `json:"source"`
	Outcome string            `json:"outcome"`
	Events  []json.RawMessage `json:"events"`
}

// healthyLines returns the lines of the corpus by domain, which is the name of the file.
func healthyLines(t *testing.T) map[string][]healthyLine {
	t.Helper()
	paths, err := filepath.Glob(healthyFolder + "/*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	domains := map[string][]healthyLine{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		domain := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		for _, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
			var l healthyLine
			if err := json.Unmarshal(line, &l); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			domains[domain] = append(domains[domain], l)
		}
	}
	return domains
}

func TestTheHealthyCorpusIsLargeAndVaried(t *testing.T) {
	least := map[string]int{"coding": 8, "support": 6, "research": 6, "data": 6, "browser": 4}
	domains := healthyLines(t)
	for domain, runs := range domains {
		if least[domain] == 0 || len(runs) < least[domain] {
			t.Errorf("%s.jsonl has %d runs, want %d or more in one of the known domains", domain, len(runs), least[domain])
		}
	}
	if len(domains) != len(least) {
		t.Errorf("%d domains, want %d", len(domains), len(least))
	}
	seen := map[string]bool{}
	for domain, runs := range domains {
		for _, l := range runs {
			if seen[l.ID] || !strings.HasPrefix(l.ID, domain+"-") {
				t.Errorf("%s.jsonl: the id %q is there twice or does not begin with the domain", domain, l.ID)
			}
			seen[l.ID] = true
			if l.Source != "unloop examples" || l.Outcome != "success" {
				t.Errorf("%s: source %q, outcome %q", l.ID, l.Source, l.Outcome)
			}
			if n := len(l.Events); n < 15 || n > 60 {
				t.Errorf("%s: %d events, want 15 to 60", l.ID, n)
			}
		}
	}
	if len(seen) < 30 {
		t.Errorf("%d runs, want 30 or more", len(seen))
	}
}

func TestHealthyRunsAreNotStopped(t *testing.T) {
	p, err := profile.New(profile.Default)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	s := Scanner{
		Profile: p,
		Verdict: func(r *report.Run) error {
			got[r.ID] = r.Events
			switch worst := r.Worst(); {
			case worst >= policy.Block:
				t.Errorf("%s: the worst decision is %v, warnings: %s", r.ID, worst, rulesOf(r))
			case worst == policy.Warn:
				t.Logf("%s is warned: %s", r.ID, rulesOf(r))
			}
			return nil
		},
		Warn: func(err error) { t.Errorf("warned of %v", err) },
	}
	if _, err := s.Run(context.Background(), []string{healthyFolder}); err != nil {
		t.Fatal(err)
	}
	want := map[string]int{}
	for _, runs := range healthyLines(t) {
		for _, l := range runs {
			want[l.ID] = len(l.Events) + bytes.Count(bytes.Join(rawsOf(l.Events), nil), []byte(`"kind":"tool_call"`)) // a call has two events
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("runs and their events, in the files and as decoded (-want +got):\n%s", diff)
	}
}

func rawsOf(events []json.RawMessage) (all [][]byte) {
	for _, e := range events {
		all = append(all, e)
	}
	return all
}

func rulesOf(r *report.Run) string {
	var rules []string
	for k := range r.Warnings {
		rules = append(rules, r.Warnings[k].Rule)
	}
	return strings.Join(rules, ", ")
}
