package arch

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
)

const contributing = "CONTRIBUTING.md"

// fileName finds `folder/file.go` in a page.
var fileName = regexp.MustCompile("`((?:internal|detect|docs)/[a-z0-9_/]+\\.(?:go|md))`")

// maxColumnFiles is how many files a new column of a run may touch.
const maxColumnFiles = 6

// checkLists checks the lists of files in CONTRIBUTING.md: the files exist, a new column of a run needs few of them, and every
// format is in the list of formats.
func checkLists(t *tree) (broken []string) {
	page := t.pages[contributing]
	files := map[string]bool{}
	for _, s := range t.sources {
		files[s.path] = true
	}
	for name := range t.pages {
		files[name] = true
	}
	for _, match := range fileName.FindAllStringSubmatch(page, -1) {
		if !files[match[1]] {
			broken = append(broken, fmt.Sprintf("%s names `%s`, which does not exist", contributing, match[1]))
		}
	}
	for _, section := range []string{"A new format", "A new detector", "A new column of a run", "A new sink", "A new setting"} {
		if !strings.Contains(page, "\n## "+section+"\n") {
			broken = append(broken, fmt.Sprintf("%s has no section %q", contributing, section))
		}
	}
	_, column, _ := strings.Cut(page, "\n## A new column of a run\n")
	column, _, _ = strings.Cut(column, "\nA figure that a query reads")
	if n := strings.Count(column, "`internal/") + strings.Count(column, "`ui/"); n > maxColumnFiles {
		broken = append(broken, fmt.Sprintf("%s: a new column of a run touches %d files, want at most %d", contributing, n, maxColumnFiles))
	}
	return append(broken, checkFormats(t)...)
}

// checkFormats checks that internal/scan imports every package with a function Format.
func checkFormats(t *tree) (broken []string) {
	listed := map[string]bool{}
	for _, s := range t.sources {
		if s.path != "internal/scan/formats.go" {
			continue
		}
		for _, spec := range s.syntax.Imports {
			if imported, err := strconv.Unquote(spec.Path.Value); err == nil {
				folder, _ := folderOf(imported)
				listed[folder] = true
			}
		}
	}
	for _, s := range t.sources {
		if path.Dir(s.folder) == "internal/ingest" && !s.isTest() && strings.Contains(s.text, "\nfunc Format() ingest.Format") && !listed[s.folder] {
			broken = append(broken, fmt.Sprintf("%s has a format that Formats in internal/scan/formats.go does not list", s.folder))
		}
	}
	return broken
}
