package profile

import (
	"strings"
	"testing"
)

// The items of the series below.
var (
	folders  = strings.Fields("cart order price stock user mail tax ship promo log auth feed")
	variants = strings.Fields("readLimit limit_reader readLimits LimitRead limitsRead READ_LIMIT limitReader reads_limit read_limit LimitsRead readLimiter xReadLimit")

	archives = strings.Fields("2026-01 2026-02 2026-03 2026-04 2026-05 2026-06 2026-07 2026-08 2026-09 2026-10 2026-11 2026-12 2025-01 2025-02 2025-03 2025-04 2025-05")
)

// A tool that goes through items has the same answer for each of them, and no item twice. In a loop the items come back, or are variants of one
// name. The call and the answer are the same otherwise.
func TestASeriesOfItemsIsNoLoop(t *testing.T) {
	for _, c := range []struct {
		says    string
		call    string // {} stands for the item
		result  string
		items   []string
		flagged bool
	}{
		{"nothing is found in any folder", `grep {"pattern":"legacy_mode","path":"{}"}`, "grep no matches", folders, false},
		{"nothing is found in two folders, over and over", `grep {"pattern":"legacy_mode","path":"{}"}`, "grep no matches", folders[:2], true},
		{"nothing is found under any variant of a name", `grep {"pattern":"{}"}`, "grep no matches", variants, true},
		{"nothing is found under any other word", `grep {"pattern":"{}","path":"src"}`, "grep no matches", folders, true},
		{"no other word is in the files", `bash {"command":"grep -rn {} src/"}`, `bash ""`, folders, true},
		{"a quoted word is in no file", `bash {"command":"grep -rn -A 3 \"{}\" src/ --include=*.py"}`, `bash ""`, folders, true},
		{"no folder has the word", `bash {"command":"grep -rn legacy_mode src/{}"}`, `bash ""`, folders, false},
		{"no service has logged the line", `search_logs {"pattern":"panic","service":"{}"}`, `search_logs {"lines":[]}`, folders, false},
		{"two services have not logged the line, over and over", `search_logs {"pattern":"panic","service":"{}"}`, `search_logs {"lines":[]}`, folders[:2], true},
		{"no file has a mistake", `lint_file {"path":"src/{}.ts"}`, "lint_file No issues found.", folders, false},
		{"the sum of each archive is right", `bash {"command":"sha256sum -c backup-{}.tar.gz.sha256"}`, "bash backup-{}.tar.gz: OK", archives, false},
		{"the sums of two archives are right, over and over", `bash {"command":"sha256sum -c backup-{}.tar.gz.sha256"}`, "bash backup-{}.tar.gz: OK", archives[:2], true},
		{"two files have no mistake, over and over", `lint_file {"path":"src/{}.ts"}`, "lint_file No issues found.", folders[:2], true},
	} {
		t.Run(c.says, func(t *testing.T) {
			var trace strings.Builder
			for k := range max(len(folders), len(c.items)) {
				item := c.items[k%len(c.items)]
				trace.WriteString("call   " + strings.ReplaceAll(c.call, "{}", item) + "\nresult " + strings.ReplaceAll(c.result, "{}", item) + "\n")
			}
			decisions := act(t, Default, "", trace.String())
			if got := len(decisions) > 0; got != c.flagged {
				t.Errorf("flagged is %t, want %t: %v", got, c.flagged, decisions)
			}
		})
	}
}
