package arch

import (
	"fmt"
	"go/ast"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// skipping are the methods of a test that end it without a verdict.
var skipping = []string{"Skip", "SkipNow", "Skipf"}

// scriptSkip finds the command skip of a testscript, with or without conditions before it.
var scriptSkip = regexp.MustCompile(`(?m)^(?:\[[^\]]*\]\s*)*skip\b`)

// checkSkips keeps every test running everywhere: none skips itself, asks for -short, or hides behind a build constraint.
// A test that needs something says so by failing.
func checkSkips(t *tree) (broken []string) {
	for _, s := range t.sources {
		if !s.knowsTesting() {
			continue
		}
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			if what, ok := skip(n); ok {
				broken = append(broken, fmt.Sprintf("%s: %s: a test that is skipped tests nothing; let it fail and say what it needs", t.at(n), what))
			}
			return true
		})
		if !s.isTest() {
			continue
		}
		for _, group := range s.syntax.Comments {
			for _, c := range group.List {
				if strings.HasPrefix(c.Text, "//go:build ") && c.Pos() < s.syntax.Package {
					broken = append(broken, fmt.Sprintf("%s: a build constraint hides this test: let it run everywhere", t.at(c)))
				}
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(t.scripts)) {
		// The commands stand before the first file of the archive.
		commands, _, _ := strings.Cut("\n"+t.scripts[path], "\n-- ")
		if scriptSkip.MatchString(commands) {
			broken = append(broken, fmt.Sprintf("%s: a script that is skipped tests nothing; let it fail and say what it needs", path))
		}
	}
	return broken
}

// skip returns the call at a node if it skips a test or asks for -short.
func skip(n ast.Node) (string, bool) {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return "", false
	}
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	on, ok := selector.X.(*ast.Ident)
	if !ok {
		return "", false
	}
	name := selector.Sel.Name
	short := on.Name == "testing" && name == "Short"
	return on.Name + "." + name, short || slices.Contains(skipping, name)
}

// knowsTesting tells whether a file imports package testing; in others, Skip is about something else.
func (s source) knowsTesting() bool {
	return slices.ContainsFunc(s.syntax.Imports, func(spec *ast.ImportSpec) bool {
		return spec.Path.Value == `"testing"`
	})
}
