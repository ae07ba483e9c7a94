package splice

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestThePageOfKindsListsThemAll compares the tables of docs/eval-kinds.md with the kinds: their names, and which are for reporting.
func TestThePageOfKindsListsThemAll(t *testing.T) {
	page, err := os.ReadFile("../../../docs/eval-kinds.md")
	if err != nil {
		t.Fatal(err)
	}
	loops, lookalikes, found := strings.Cut(string(page), "\n## Lookalikes\n")
	if !found {
		t.Fatal("the page has no part about lookalikes")
	}
	listed := append(listedKinds(loops, false), listedKinds(lookalikes, true)...)
	var made []string
	for _, k := range kinds() {
		made = append(made, fmt.Sprintf("%s benign=%t reporting=%t", k.name, k.benign, k.reporting))
	}
	slices.Sort(listed)
	slices.Sort(made)
	for _, k := range made {
		if _, listed := slices.BinarySearch(listed, k); !listed {
			t.Errorf("not listed as it is: %s", k)
		}
	}
	if len(listed) != len(made) {
		t.Errorf("%d kinds are listed, and there are %d", len(listed), len(made))
	}
}

var (
	row  = regexp.MustCompile("(?m)^\\| (\\*?`[^|]*) \\|")
	name = regexp.MustCompile("(\\*?)`([a-z_0-9]+)`")
)

func listedKinds(table string, benign bool) []string {
	var listed []string
	for _, cell := range row.FindAllStringSubmatch(table, -1) {
		for _, n := range name.FindAllStringSubmatch(cell[1], -1) {
			listed = append(listed, fmt.Sprintf("%s benign=%t reporting=%t", n[2], benign, n[1] != ""))
		}
	}
	return listed
}
