package arch

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestListsOfFilesAreChecked(t *testing.T) {
	sections := "\n## A new format\n## A new detector\n\n## A new column of a run\n%\nA figure that a query reads\n\n## A new sink\n\n## A new setting\n"
	page := func(column string) string {
		return strings.ReplaceAll(strings.ReplaceAll(sections, "\n## ", "\n\n## "), "%", column)
	}
	formats := "package scan\nimport _ \"github.com/unloop-ai/unloop/internal/ingest/native\""
	native := "package native\n\nfunc Format() ingest.Format { return nil }"
	for _, c := range []struct {
		what string
		tree example
		want string
	}{
		{"all is listed", example{"CONTRIBUTING.md": page("`internal/scan/formats.go`"), "internal/scan/formats.go": formats, "internal/ingest/native/n.go": native}, ""},
		{"a file is gone", example{"CONTRIBUTING.md": page("`internal/scan/old.go`"), "internal/scan/formats.go": formats}, "`internal/scan/old.go`, which does not exist"},
		{"too many files", example{"CONTRIBUTING.md": page(strings.Repeat("`internal/scan/formats.go` ", 7)), "internal/scan/formats.go": formats}, "touches 7 files"},
		{"no section", example{"CONTRIBUTING.md": "\n"}, `no section "A new sink"`},
		{"a format is not listed", example{"CONTRIBUTING.md": page(""), "internal/scan/formats.go": "package scan", "internal/ingest/native/n.go": native}, "does not list"},
	} {
		t.Run(c.what, func(t *testing.T) {
			fsys := fstest.MapFS{}
			for path, content := range c.tree {
				fsys[path] = &fstest.MapFile{Data: []byte(content)}
			}
			small, err := load(fsys)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(checkLists(small), "\n")
			if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
