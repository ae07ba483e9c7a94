package guard_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/detect/detecttest"
	"github.com/unloop-ai/unloop/guard"
)

func Example_customProfile() {
	p, err := Frugal()
	if err != nil {
		panic(err)
	}
	g := guard.New(p, guard.Options{Run: "nightly"})
	defer g.Close()
	for page := range 3 {
		d := g.Before(context.Background(), guard.Call{Tool: "search", Args: json.RawMessage(fmt.Sprintf(`{"page":%d}`, page))})
		fmt.Println(d.Action, d.Stops())
	}
	// Output:
	// allow false
	// allow false
	// block true
}

func TestACustomProfilePassesItsTraces(t *testing.T) {
	p, err := Frugal()
	if err != nil {
		t.Fatal(err)
	}
	detecttest.RunProfile(t, "testdata/custom", p)
	detecttest.Run(t, "testdata/custom", ToolBudget{Calls: 2})
}

func TestThePageOnExtendingShowsThisCode(t *testing.T) {
	page := read(t, "../docs/extending.md")
	code := fenced(page, "go")
	if len(code) != 3 {
		t.Fatalf("the page has %d blocks of code, want 3", len(code))
	}
	if diff := cmp.Diff(read(t, "frugal_test.go"), "package guard_test\n\n"+code[0]); diff != "" {
		t.Errorf("(-file +page):\n%s", diff)
	}
	if lines := strings.Count(code[0], "\n"); lines > 40 {
		t.Errorf("the first block has %d lines, want at most 40", lines)
	}
	for _, block := range code[1:] {
		if !strings.Contains(read(t, "extending_test.go"), block) {
			t.Errorf("this is not in extending_test.go:\n%s", block)
		}
	}
	traces, err := filepath.Glob("testdata/custom/*.trace")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, trace := range traces {
		files = append(files, read(t, trace))
	}
	if diff := cmp.Diff(files, fenced(page, "text")); diff != "" {
		t.Errorf("traces (-files +page):\n%s", diff)
	}
}

func read(t *testing.T, path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// fenced returns the fenced blocks of a page in a language.
func fenced(page, language string) (blocks []string) {
	for _, part := range strings.Split(page, "```"+language+"\n")[1:] {
		block, _, _ := strings.Cut(part, "```")
		blocks = append(blocks, block)
	}
	return blocks
}
