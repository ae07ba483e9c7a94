package arch

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestRepository(t *testing.T) {
	repository, err := load(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(repository.sources, func(s source) bool { return s.path == "internal/arch/arch_test.go" }) {
		t.Fatal("this very file is not among the sources: the checks look in the wrong place")
	}
	checks := []struct {
		name  string
		check func(*tree) []string
	}{
		{"packages import what the table allows", checkImports},
		{"files and functions are short", checkSizes},
		{"the middle is pure", checkPurity},
		{"names of packages say something", checkNames},
		{"ARCHITECTURE.md fits the tree", checkMap},
		{"no paths of somebody's machine", checkPaths},
		{"exported identifiers have comments", checkComments},
		{"no test is skipped", checkSkips},
		{"CONTRIBUTING.md fits the tree", checkLists},
		{"the structs of the wire are in one package", checkWire},
		{"every setting is read", checkSettings},
		{"the clock of the day measures no time", checkClocks},
	}
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			for _, broken := range c.check(repository) {
				t.Error(broken)
			}
		})
	}
}

// example is a small repository: paths and contents.
type example map[string]string

// expect runs a check on an example and compares what it finds to want.
func expect(t *testing.T, check func(*tree) []string, files example, want ...string) {
	t.Helper()
	fsys := fstest.MapFS{}
	for path, content := range files {
		fsys[path] = &fstest.MapFile{Data: []byte(content)}
	}
	small, err := load(fsys)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, check(small)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLoad(t *testing.T) {
	t.Run("a file that does not parse is an error", func(t *testing.T) {
		_, err := load(fstest.MapFS{"policy/policy.go": {Data: []byte("package policy\nfunc {")}})
		if err == nil || !strings.Contains(err.Error(), "policy/policy.go:2") {
			t.Errorf("got %v, want an error that names policy/policy.go:2", err)
		}
	})
	t.Run("folders of generated files are skipped", func(t *testing.T) {
		small, err := load(fstest.MapFS{
			"node_modules/x/x.go":       {Data: []byte("no Go")},
			"detect/testdata/broken.go": {Data: []byte("no Go")},
			"detect/testdata/page.md":   {Data: []byte("a fixture")},
			"detect/detect.go":          {Data: []byte("package detect")},
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(small.sources) != 1 || len(small.pages) != 0 || small.folders["node_modules"] || !small.folders["detect/testdata"] {
			t.Errorf("got %d sources, %d pages, folders %v", len(small.sources), len(small.pages), small.folders)
		}
	})
}
