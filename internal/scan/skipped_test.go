package scan

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFilesOfAFolderThatAreNotTracesAreTold(t *testing.T) {
	const trace = `{"run_id":"r","type":"tool_call_started","tool":"a"}` + "\n"
	for _, tc := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"a folder of traces", map[string]string{"a.jsonl": trace}, nil},
		{"hidden files are not told", map[string]string{"a.jsonl": trace, ".git": "x"}, nil},
		{
			"one file",
			map[string]string{"a.jsonl": trace, "runs.zip": "PK\x03\x04"},
			[]string{"1 file is skipped: FOLDER/runs.zip: the file is a zip archive: unpack it, and name the folder"},
		},
		{
			"files of several kinds, in one line",
			map[string]string{"a.jsonl": trace, "b.txt": "notes", "c.jsonl": "", "d.txt": "more"},
			[]string{"3 files are skipped: 2 such as FOLDER/b.txt: unknown trace format; FOLDER/c.jsonl: the file is empty"},
		},
		{
			"files of one kind",
			map[string]string{"a.jsonl": trace, "b.txt": "notes", "d.txt": "more"},
			[]string{"2 files are skipped, such as FOLDER/b.txt: unknown trace format"},
		},
		{
			"a link",
			map[string]string{"a.jsonl": trace, "latest": "-> a.jsonl"},
			[]string{"1 file is skipped: FOLDER/latest: links in folders are not followed"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			folder := t.TempDir()
			for name, content := range tc.files {
				path := filepath.Join(folder, name)
				err := os.WriteFile(path, []byte(content), 0o600)
				if to, link := strings.CutPrefix(content, "-> "); link {
					_ = os.Remove(path) // written above
					err = os.Symlink(to, path)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			for name, hints := range map[string][]string{"scan": scanHints(t, folder), "import": importHints(t, folder)} {
				for k := range hints {
					hints[k] = strings.ReplaceAll(filepath.ToSlash(hints[k]), filepath.ToSlash(folder), "FOLDER")
				}
				if diff := cmp.Diff(tc.want, hints); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
		})
	}
}
