package arch

import (
	"fmt"
	"go/ast"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// skipping are the methods that skip a test.
var skipping = []string{"Skip", "SkipNow", "Skipf"}

// scriptSkip finds the command skip of a testscript, with or without conditions before it.
var scriptSkip = regexp.MustCompile(`(?m)^(?:\[[^\]]*\]\s*)*skip\b`)

// checkSkips reports tests that can be skipped: by a call, by testing.Short, or by a build constraint. A test that lacks something
// must fail and name it.
func checkSkips(t *tree) (broken []string) {
	blame := func(place, what string) {
		broken = append(broken, fmt.Sprintf("%s: %s: tests must not be skipped; let it fail and name what it lacks", place, what))
	}
	for _, s := range t.sources {
		if !s.knowsTesting() {
			continue
		}
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && skips(call) {
				blame(t.at(n), "a call that skips the test")
			}
			return true
		})
		for _, group := range s.syntax.Comments {
			if s.isTest() && group.Pos() < s.syntax.Package && strings.HasPrefix(group.List[0].Text, "//go:build ") {
				blame(t.at(group), "a build constraint on a test")
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(t.scripts)) {
		// The commands precede the first file of the archive.
		commands, _, _ := strings.Cut("\n"+t.scripts[path], "\n-- ")
		if scriptSkip.MatchString(commands) {
			blame(path, "a script that skips itself")
		}
	}
	return broken
}

// skips reports whether a call skips a test, or is testing.Short.
func skips(call *ast.CallExpr) bool {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	on, ok := selector.X.(*ast.Ident)
	short := ok && on.Name == "testing" && selector.Sel.Name == "Short"
	return short || slices.Contains(skipping, selector.Sel.Name)
}

// knowsTesting reports whether a file imports package testing. In other files, Skip means something else.
func (s source) knowsTesting() bool {
	return slices.ContainsFunc(s.syntax.Imports, func(spec *ast.ImportSpec) bool {
		return spec.Path.Value == `"testing"`
	})
}
