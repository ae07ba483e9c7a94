package detect_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/detect"
	"github.com/unloop-ai/unloop/detect/detecttest"
)

// TestGolden plays each detector's golden traces.
func TestGolden(t *testing.T) {
	for _, d := range suite() {
		rule := d.Info().Name
		t.Run(rule, func(t *testing.T) {
			detecttest.Run(t, filepath.Join("testdata", rule), d)
		})
	}
}

// TestEveryDetectorHasGoldenTraces reads the source, so a new detector that is not listed fails the test.
func TestEveryDetectorHasGoldenTraces(t *testing.T) {
	var listed []string
	for _, d := range suite() {
		listed = append(listed, reflect.TypeOf(d).Name())
	}
	slices.Sort(listed)
	listed = slices.Compact(listed) // a detector may be listed once for each of its rules
	if diff := cmp.Diff(detectorTypes(t), listed); diff != "" {
		t.Errorf("types with a method Check (-), and what suite_test.go lists (+):\n%s", diff)
	}
}

// detectorTypes returns the names of the package's types that have a method Check, sorted.
func detectorTypes(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, declared := range file.Decls {
			f, ok := declared.(*ast.FuncDecl)
			if !ok || f.Recv == nil || f.Name.Name != "Check" {
				continue
			}
			receiver := f.Recv.List[0].Type
			if pointer, ok := receiver.(*ast.StarExpr); ok {
				receiver = pointer.X
			}
			names = append(names, receiver.(*ast.Ident).Name)
		}
	}
	slices.Sort(names)
	return names
}

// TestEveryRuleHasAPage compares doc.go with the detectors: each has a complete page, and each page a detector.
func TestEveryRuleHasAPage(t *testing.T) {
	var rules []string
	for _, d := range suite() {
		rule := d.Info().Name
		rules = append(rules, rule)
		page, ok := detect.Explain(rule)
		if !ok {
			t.Errorf("%s: doc.go has no section", rule)
			continue
		}
		for part, text := range map[string]string{"what fires it": page.When, "Why": page.Why, "Try": page.Try} {
			if !strings.HasSuffix(text, ".") {
				t.Errorf("%s: %s is %q, want a sentence", rule, part, text)
			}
		}
	}
	rules = append(rules, detect.Global("", 0, 0, unloop.EventRef{}).Rule) // it is found in a swarm's counts, not in a run
	slices.Sort(rules)
	if diff := cmp.Diff(rules, detect.Rules()); diff != "" {
		t.Errorf("rules of detectors (-), and pages (+):\n%s", diff)
	}
}

// TestEveryFolderHasADetector finds traces that no detector plays.
func TestEveryFolderHasADetector(t *testing.T) {
	folders, err := filepath.Glob("testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		name := filepath.Base(folder)
		if _, ok := detect.Explain(name); !ok && name != "fuzz" {
			t.Errorf("%s: no rule has this name", folder)
		}
	}
}

func TestExplainRejectsAnUnknownRule(t *testing.T) {
	if page, ok := detect.Explain("no_such_rule"); ok {
		t.Errorf("Explain returns %+v, want no page", page)
	}
}
