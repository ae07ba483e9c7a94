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
			if err != nil {
				continue
			}
			if hasModule(impure, imported) {
				blame(spec, "imports "+imported)
			}
			if imported == "time" {
				timeName = localName(spec, imported)
			}
		}
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				blame(n, "starts a goroutine")
			case *ast.SelectorExpr:
				pkg, ok := n.X.(*ast.Ident)
				if ok && timeName != "" && pkg.Name == timeName && slices.Contains(clock, n.Sel.Name) {
					blame(n, "uses time."+n.Sel.Name)
				}
			case *ast.Ident:
				if timeName == "." && slices.Contains(clock, n.Name) {
					blame(n, "uses time."+n.Name)
				}
			}
			return true
		})
	}
	return broken
}

// localName returns the name that an import has in its file.
func localName(spec *ast.ImportSpec, imported string) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	return path.Base(imported)
}
