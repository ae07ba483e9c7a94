package report

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/goldentest"
)

func TestGitHub(t *testing.T) {
	t.Run("a command for each warning, the gravest first", func(t *testing.T) {
		goldentest.Compare(t, filepath.Join("testdata", "github.txt"), write(t, "github", Options{}, sampleRuns()...))
	})
	t.Run("separators of the runner are escaped", func(t *testing.T) {
		r := &Run{ID: "a:b,c", Source: "50%,x:y.json", Warnings: []Warning{{Finding: unloop.Finding{
			Rule: "cycle", What: "100% of a:b,c\n", Why: "w", Try: "t",
		}}}}
		want := `::warning file=50%25%2Cx%3Ay.json,title=cycle in run a%3Ab%2Cc::100%25 of a:b,c\n.%0AWhy: w%0ATry: t` + "\n"
		if diff := cmp.Diff(want, string(write(t, "github", Options{}, r))); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
	t.Run("the line of the culprit is named where it is known", func(t *testing.T) {
		r := &Run{ID: "a", Source: "x.jsonl", Warnings: []Warning{{Line: 7}, {}}}
		got := string(write(t, "github", Options{}, r))
		if strings.Count(got, "file=x.jsonl,line=7,title=") != 1 || strings.Count(got, "file=x.jsonl,title=") != 1 {
			t.Errorf("got %s", got)
		}
	})
	t.Run("the severity is in the command", func(t *testing.T) {
		for severity, command := range map[unloop.Severity]string{
			unloop.SeverityInfo: "::notice ", unloop.SeverityWarning: "::warning ", unloop.SeverityCritical: "::error ",
		} {
			r := &Run{Warnings: []Warning{{Finding: unloop.Finding{Severity: severity}}}}
			if got := string(write(t, "github", Options{}, r)); !strings.HasPrefix(got, command) {
				t.Errorf("%s: got %s", severity, got)
			}
		}
	})
}
