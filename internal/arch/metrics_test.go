package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// metricName finds the name of a metric of the server in a call that describes it, or as a literal.
var metricName = regexp.MustCompile(`\b(?:describe|counter|gauge|histogram)\("([a-z_]+)"|"unloop_([a-z_]+)"`)

func TestTheDocsListEveryMetricOfTheServer(t *testing.T) {
	page, err := os.ReadFile("../../docs/server.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../app/*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range append(files, "../pipeline/metrics.go") {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range metricName.FindAllStringSubmatch(string(source), -1) {
			found++
			if name := "`unloop_" + match[1] + match[2]; !strings.Contains(string(page), name+"`") && !strings.Contains(string(page), name+"{") {
				t.Errorf("docs/server.md does not list %s` of %s", name, file)
			}
		}
	}
	if found < 25 {
		t.Errorf("found %d metrics, want 25 or more", found)
	}
}
