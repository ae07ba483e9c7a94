package arch

import (
	"fmt"
	"go/ast"
	"strings"
)

// The limits, in lines.
const (
	maxFile     = 500
	maxFunction = 70
	maxDetector = 120 // a file of package detect with a detector
)

// checkSizes reports files and functions over the limits. Tests and generated files are exempt.
func checkSizes(t *tree) (broken []string) {
	for _, s := range t.sources {
		if s.isTest() || s.isGenerated() {
			continue
		}
		limit := maxFile
		if s.folder == "detect" && holdsDetector(s.syntax) {
			limit = maxDetector
		}
		if n := countLines(s.text); n > limit {
			broken = append(broken, fmt.Sprintf("%s has %d lines, more than %d: split it", s.path, n, limit))
		}
		for _, decl := range s.syntax.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := t.lines(f); n > maxFunction {
				broken = append(broken, fmt.Sprintf("%s: %s has %d lines, more than %d: split it", t.at(f), f.Name.Name, n, maxFunction))
			}
		}
	}
	return broken
}

// holdsDetector reports whether a file declares a method Check.
func holdsDetector(syntax *ast.File) bool {
	for _, decl := range syntax.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == "Check" {
			return true
		}
	}
	return false
}

// countLines returns the number of lines, a last one without a line end included.
func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}
