package arch

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strconv"
)

// middle are the packages in which equal events must give equal findings.
var middle = []string{".", "internal/fingerprint", "detect", "policy", "profile"}

// impure are the packages that the middle must not import. Packages below them count, too.
var impure = []string{"context", "log", "net", "os"}

// clock are the names of package time that read the clock or wait for it.
var clock = []string{"After", "AfterFunc", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick", "Until"}

// checkPurity reports I/O, logs, contexts, clocks and goroutines in the middle. Tests are exempt.
func checkPurity(t *tree) (broken []string) {
	for _, s := range t.sources {
		if s.isTest() || !slices.Contains(middle, s.folder) {
			continue
		}
		blame := func(n ast.Node, what string) {
			broken = append(broken, fmt.Sprintf("%s: %s %s: the middle is pure, so that a stored run can be replayed", t.at(n), s.who(), what))
		}
		timeName := ""
		for _, spec := range s.syntax.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err == nil && hasModule(impure, imported) {
				blame(spec, "imports "+imported)
			}
			if imported == "time" {
				timeName = localName(spec, imported)
			}
		}
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			if _, ok := n.(*ast.GoStmt); ok {
				blame(n, "starts a goroutine")
			}
			if name, ok := readsClock(n, timeName); ok {
				blame(n, "uses time."+name)
			}
			return true
		})
	}
	return broken
}

// readsClock reports whether a node is one of the names in clock, and returns it. timeName is the name of package time in the file:
// "." for a dot import, "" if the file does not import it.
func readsClock(n ast.Node, timeName string) (string, bool) {
	var name *ast.Ident
	switch n := n.(type) {
	case *ast.SelectorExpr:
		if pkg, ok := n.X.(*ast.Ident); ok && timeName != "" && pkg.Name == timeName {
			name = n.Sel
		}
	case *ast.Ident:
		if timeName == "." {
			name = n
		}
	}
	if name == nil || !slices.Contains(clock, name.Name) {
		return "", false
	}
	return name.Name, true
}

// localName returns the name that an import has in its file.
func localName(spec *ast.ImportSpec, imported string) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	return path.Base(imported)
}
