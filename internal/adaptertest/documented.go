package adaptertest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")

// Documented fails unless each block of Go code in a page of docs/ is part of the file, whatever its indentation. The test of the
// example runs the file, so the code of the page runs.
func Documented(t *testing.T, page, file string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	blocks := goBlock.FindAllStringSubmatch(string(text), -1)
	if len(blocks) == 0 {
		t.Fatalf("docs/%s has no block of Go code", page)
	}
	for _, block := range blocks {
		if !strings.Contains(flat(string(source)), flat(block[1])) {
			t.Errorf("docs/%s: %s does not contain\n%s", page, file, block[1])
		}
	}
}

// flat removes indentation and empty lines.
func flat(code string) string {
	var lines []string
	for line := range strings.Lines(code) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n") + "\n"
}
