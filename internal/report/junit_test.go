package report

import (
	"bytes"
	"encoding/xml"
	"math"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/goldentest"
	"github.com/unloop-ai/unloop/policy"
)

func TestJUnit(t *testing.T) {
	t.Run("a folder of runs", func(t *testing.T) {
		goldentest.Compare(t, filepath.Join("testdata", "junit.xml"), write(t, "junit", Options{}, sampleRuns()...))
	})
	for _, c := range []struct {
		name   string
		failOn policy.Action
		want   []string
	}{
		{"without a choice, runs fail that would have been nudged", policy.Allow, []string{"chem-7", "b7c1", "build", "poll", "team"}},
		{"from warn on", policy.Warn, []string{"chem-7", "b7c1", "build", "poll", "team"}},
		{"from halt on", policy.Halt, []string{"chem-7"}},
		{"never", policy.Halt + 1, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var doc junitDocument
			if err := xml.Unmarshal(write(t, "junit", Options{FailOn: c.failOn}, sampleRuns()...), &doc); err != nil {
				t.Fatal(err)
			}
			var failures []string
			for _, s := range doc.Suites {
				for _, run := range s.Cases {
					if run.Failure != nil {
						failures = append(failures, run.Name)
					}
				}
			}
			if diff := cmp.Diff(c.want, failures); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if doc.Failures != len(c.want) || doc.Tests != len(sampleRuns()) {
				t.Errorf("%d failures of %d", doc.Failures, doc.Tests)
			}
		})
	}
}

// TestJUnitSchema holds the document to the schema of Jenkins' xUnit plugin, which most readers follow.
func TestJUnitSchema(t *testing.T) {
	xmllint, err := exec.LookPath("xmllint")
	if err != nil {
		t.Fatal("xmllint is missing, so the documents cannot be held to their schema: install libxml2-utils (Debian, Ubuntu) or libxml2 (others)")
	}
	long := healthyRun()
	long.Metrics = unloop.Metrics{Duration: math.MaxInt64}
	for name, runs := range map[string][]*Run{
		"a folder of runs":       sampleRuns(),
		"no runs":                nil,
		"hostile content":        {hostileRun()},
		"a run of 292 years":     {long, long},
		"a decision, no warning": {{Decisions: []Decision{{Action: policy.Halt, Code: "halted", Message: "m"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			document := write(t, "junit", Options{}, runs...)
			cmd := exec.Command(xmllint, "--noout", "--nonet", "--schema", "testdata/junit-10.xsd", "-")
			cmd.Stdin = bytes.NewReader(document)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s\n%s", err, out, document)
			}
		})
	}
}
