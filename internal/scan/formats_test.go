package scan

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEveryFixtureIsSniffedAsItsFormatOnly takes the fixtures of all decoders: exactly one format knows each, that of its
// folder, also when only the first kilobyte is seen.
func TestEveryFixtureIsSniffedAsItsFormatOnly(t *testing.T) {
	folders := map[string][]string{ // the formats of a decoder's folder
		"native": {"unloop"}, "labelled": {"labelled"}, "claudecode": {"claude-code", "claude-stream"}, "codex": {"codex"},
		"gemini": {"gemini"}, "opencode": {"opencode"}, "openhands": {"openhands"}, "sweagent": {"swe-agent"}, "minisweagent": {"mini-swe-agent"}, "atif": {"atif"},
		"taubench": {"tau-bench"}, "otlp": {"otlp"}, "anthropic": {"anthropic"}, "openai": {"openai"}, "copilot": {"copilot"}, "cursor": {"cursor", "cursor-stream"}, "cline": {"cline", "cline-ui"},
		"autogen": {"autogen", "ag2"}, "openaiagents": {"openai-agents"}, "langsmith": {"langsmith"}, "langfuse": {"langfuse"},
	}
	seen := map[string]bool{}
	for folder, names := range folders {
		fixtures, err := filepath.Glob("../ingest/" + folder + "/testdata/*.[jc]s*")
		if err != nil || len(fixtures) == 0 {
			t.Fatalf("no fixtures in %s (%v)", folder, err)
		}
		for _, fixture := range fixtures {
			data, err := os.ReadFile(fixture)
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range []int{len(data), min(len(data), 1<<10)} {
				var yes []string
				for _, f := range Formats() {
					if f.Sniff(data[:part]) {
						yes = append(yes, f.Name)
						seen[f.Name] = true
					}
				}
				if len(yes) != 1 || !slices.Contains(names, yes[0]) {
					t.Errorf("the first %d bytes of %s are recognised as %v, want one of %v", part, fixture, yes, names)
				}
			}
		}
	}
	var want, got []string
	for _, f := range Formats() {
		want = append(want, f.Name)
		if seen[f.Name] {
			got = append(got, f.Name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("formats without a fixture (-want +got):\n%s", diff)
	}
}
