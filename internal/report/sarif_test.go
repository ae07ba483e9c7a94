package report

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/detect"
	"github.com/unloop-ai/unloop/internal/goldentest"
)

func TestSARIF(t *testing.T) {
	schema := sarifSchemaOf(t)
	for name, runs := range map[string][]*Run{
		"a folder of runs": sampleRuns(),
		"no runs":          nil,
		"a healthy run":    {healthyRun()},
		"hostile content":  {hostileRun()},
		"an unknown rule":  {{ID: "x", Source: "/tmp/a b.json", Warnings: []Warning{{Finding: unloop.Finding{Rule: "mine", What: "w"}}}}},
	} {
		t.Run(name+" gives a log that the standard's schema accepts", func(t *testing.T) {
			got := write(t, "sarif", Options{Version: "1.2.3"}, runs...)
			document, err := jsonschema.UnmarshalJSON(bytes.NewReader(got))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(document); err != nil {
				t.Errorf("%v\n%s", err, got)
			}
		})
	}
	t.Run("the results of a folder of runs", func(t *testing.T) {
		results, err := json.MarshalIndent(parseSARIF(t, sampleRuns()...).Results, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		goldentest.Compare(t, filepath.Join("testdata", "results.sarif.json"), append(results, '\n'))
	})
	t.Run("a rule is listed once, with what its page says", func(t *testing.T) {
		log := parseSARIF(t, stuckRun(), cyclingRun(), stuckRun())
		var want []sarifRule
		for _, name := range []string{"same_call_same_result", "same_result", "cycle"} {
			page, ok := detect.Explain(name)
			if !ok {
				t.Fatalf("no page of %s", name)
			}
			short := map[string]string{
				"same_call_same_result": "The same call returned the same result again: three times close together, or more often with other calls in between.",
				"same_result":           page.When, // one sentence
				"cycle":                 page.When,
			}[name]
			want = append(want, sarifRule{name, sarifMessage(short), sarifMessage(page.When), sarifMessage(page.Why + " " + page.Try)})
		}
		if diff := cmp.Diff(want, log.Tool.Driver.Rules); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		for _, r := range log.Results {
			if name := want[r.RuleIndex].ID; name != r.RuleID {
				t.Errorf("a result of %s points to %s", r.RuleID, name)
			}
		}
	})
	t.Run("a fingerprint stays when the count grows, and is another for another rule, subject or run", func(t *testing.T) {
		a := sarifFingerprint(t, "run", unloop.Finding{Rule: "cycle", Subject: "Bash", Count: 3})
		if b := sarifFingerprint(t, "run", unloop.Finding{Rule: "cycle", Subject: "Bash", Count: 9, What: "more"}); a != b {
			t.Errorf("%s became %s", a, b)
		}
		for _, other := range []string{
			sarifFingerprint(t, "run 2", unloop.Finding{Rule: "cycle", Subject: "Bash"}),
			sarifFingerprint(t, "run", unloop.Finding{Rule: "cycle", Subject: "Read"}),
			sarifFingerprint(t, "run", unloop.Finding{Rule: "same_error", Subject: "Bash"}),
		} {
			if other == a {
				t.Errorf("%s twice", a)
			}
		}
	})
}

func TestSARIFMessage(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"braces are doubled, or they would be placeholders", `search {"q":{"0":1}} {0}`, `search {{"q":{{"0":1}}}} {{0}}`},
		{"brackets stay", `[1, 2] a\b`, `[1, 2] a\b`},
		{"links are escaped", `[click](http://evil)`, `\[click\](http://evil)`},
		{"escaped or not", `[click\](http://evil)`, `\[click\\\](http://evil)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, sarifMessage(c.in).Text); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestURI(t *testing.T) {
	for path, want := range map[string]string{
		"traces/a b%20#1.json": "traces/a%20b%2520%231.json",
		"/home/x/a.json":       "file:///home/x/a.json",
		"c:d.json":             "./c:d.json",
		"standard input":       "standard%20input",
	} {
		t.Run(path, func(t *testing.T) {
			if got := uri(path); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// sarifSchemaOf compiles the schema that OASIS publishes with the standard (errata 01).
func sarifSchemaOf(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile("testdata/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource(sarifSchema, document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile(sarifSchema)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// sarifRun is what a log says of its one run.
type sarifRun struct {
	Tool struct {
		Driver struct {
			Rules []sarifRule `json:"rules"`
		} `json:"driver"`
	} `json:"tool"`
	Results []sarifResult `json:"results"`
}

func parseSARIF(t *testing.T, runs ...*Run) sarifRun {
	t.Helper()
	var log struct {
		Runs []sarifRun `json:"runs"`
	}
	if err := json.Unmarshal(write(t, "sarif", Options{Version: "1.2.3"}, runs...), &log); err != nil {
		t.Fatal(err)
	}
	return log.Runs[0]
}

func sarifFingerprint(t *testing.T, run string, f unloop.Finding) string {
	t.Helper()
	return parseSARIF(t, &Run{ID: run, Warnings: []Warning{{Finding: f}}}).Results[0].Fingerprints[fingerprintKey]
}
