package goldentest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recorder is a test that keeps its errors.
type recorder struct {
	testing.TB

	errors []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func TestCompare(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.golden")
	if err := os.WriteFile(path, []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		got    string
		errors int
	}{
		"the content of the file is no error": {"one\n", 0},
		"another content is an error":         {"two\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := &recorder{TB: t}
			Compare(r, path, []byte(tc.got))
			if len(r.errors) != tc.errors {
				t.Fatalf("%d errors, want %d: %q", len(r.errors), tc.errors, r.errors)
			}
			for _, text := range r.errors {
				if !strings.Contains(text, "one") || !strings.Contains(text, "two") {
					t.Errorf("the error has no difference: %s", text)
				}
			}
		})
	}
}
