package arch

import (
	"go/ast"
	"slices"
)

// checkClocks reports time that is measured with the clock of the day: time.Since or time.Until of a time that was made of a number. Such
// a time has no reading of the monotonic clock, so the result is wrong after the clock was set.
func checkClocks(t *tree) (broken []string) {
	for _, s := range t.sources {
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !isCallOf(call, "time", "Since", "Until") || s.isTest() {
				return true
			}
			if made, ok := call.Args[0].(*ast.CallExpr); ok && isCallOf(made, "time", "Unix", "UnixMilli", "UnixMicro") {
				broken = append(broken, t.at(call)+": this time passes differently after the clock was set; keep a time.Time, or the time since one")
			}
			return true
		})
	}
	return broken
}

// isCallOf reports whether a call is one of these functions of a package that is imported under its own name.
func isCallOf(call *ast.CallExpr, pkg string, names ...string) bool {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	on, ok := selector.X.(*ast.Ident)
	return ok && on.Name == pkg && slices.Contains(names, selector.Sel.Name)
}
