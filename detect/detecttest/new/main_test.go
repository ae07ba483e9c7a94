package main

import (
	"encoding/json"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/detect/detecttest"
)

// packageCopy returns a folder with copies of the files that write changes.
func packageCopy(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"doc.go", "suite_test.go"} {
		data, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestWriteIsComplete(t *testing.T) {
	dir := packageCopy(t)
	written, err := write(dir, "going_nowhere")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	texts := map[string]string{}
	for _, path := range written {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			t.Fatal(err)
		}
		names, texts[name] = append(names, name), string(data)
		check(t, name, data)
	}
	want := []string{
		"going_nowhere.go", "testdata/going_nowhere/the-third-time-is-too-much.trace", "testdata/going_nowhere/twice-is-nothing.trace",
		"doc.go", "suite_test.go",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	for name, part := range map[string]string{
		"going_nowhere.go": "func (d GoingNowhere) Check(",
		"doc.go":           "\n\n# going_nowhere\n\nThe rule fires when",
		"suite_test.go":    "\t\tdetect.GoingNowhere{Times: 3},\n\t}\n}\n",
	} {
		if !strings.Contains(texts[name], part) {
			t.Errorf("%s does not contain %q:\n%s", name, part, texts[name])
		}
	}
}

// TestTheSkeletonCompiles builds package detect with the file of a new detector, as if it had been written there.
func TestTheSkeletonCompiles(t *testing.T) {
	written, err := write(packageCopy(t), "going_nowhere")
	if err != nil {
		t.Fatal(err)
	}
	detect, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(detect, "going_nowhere.go"): written[0]}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-overlay", file, ".")
	build.Dir = detect
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// check fails if a file is not formatted, or not a golden trace.
func check(t *testing.T, name string, data []byte) {
	t.Helper()
	if filepath.Ext(name) == ".trace" {
		if _, err := detecttest.Parse(name, data); err != nil {
			t.Error(err)
		}
		return
	}
	formatted, err := format.Source(data)
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	if diff := cmp.Diff(string(formatted), string(data)); diff != "" {
		t.Errorf("%s is not formatted:\n%s", name, diff)
	}
}

func TestWriteRefuses(t *testing.T) {
	for _, tc := range []struct{ name, rule, want string }{
		{"no name", "", `invalid rule name ""`},
		{"a type's name", "GoingNowhere", "invalid rule name"},
		{"a path", "../x", "invalid rule name"},
		{"a rule that has a page", "cycle", "there is a rule cycle"},
		{"a file that is there", "doc", "doc.go is there already"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := packageCopy(t)
			written, err := write(dir, tc.rule)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
			files, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			if len(written) > 0 || len(files) != 2 {
				t.Errorf("write returns %v, and there are %d files", written, len(files))
			}
		})
	}
	t.Run("another package", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "doc.go"), []byte("package other\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := write(dir, "going_nowhere"); err == nil || !strings.Contains(err.Error(), "doc.go does not end in") {
			t.Errorf("error %v", err)
		}
	})
}
