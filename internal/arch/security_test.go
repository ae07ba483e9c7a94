package arch

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestThePageOnSecurityNamesTestsThatExist(t *testing.T) {
	module, err := load(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	defined, function := make(map[string]bool), regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	for _, source := range module.sources {
		if !strings.HasSuffix(source.path, "_test.go") {
			continue
		}
		for _, f := range function.FindAllStringSubmatch(source.text, -1) {
			defined[f[1]] = true
		}
	}
	named := regexp.MustCompile("`((?:Test|Fuzz)\\w+)").FindAllStringSubmatch(module.pages["docs/security.md"], -1)
	if len(named) < 90 {
		t.Errorf("the page names %d tests", len(named))
	}
	for _, name := range named {
		if !defined[name[1]] {
			t.Errorf("docs/security.md names %s, which does not exist", name[1])
		}
	}
}
