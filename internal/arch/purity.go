package arch

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strconv"
)

// middle is the part of the arrow where equal events give equal findings.
var middle = []string{".", "internal/fingerprint", "detect", "policy", "profile"}

// impure are the packages that the middle must not import, nor any package below them.
var impure = []string{"context", "log", "net", "os"}

// clock are the names of package time that read the clock or wait for it.
var clock = []string{"After", "AfterFunc", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick", "Until"}

// checkPurity holds the middle to values in, values out: no I/O, log, context, clock or goroutine. Its tests are free.
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

// readsClock tells whether a node is a name of package time that is about now. timeName is what the file calls the
// package: "." if it imports the names themselves, nothing if it does not import it.
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
