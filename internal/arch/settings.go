package arch

import (
	"fmt"
	"go/ast"
	"strings"
)

// settingsFile has the structs of the server's settings; settingChecks checks their values.
const (
	settingsFile  = "internal/config/config.go"
	settingChecks = "internal/config/validate.go"
)

// checkSettings reports settings of the server that nothing reads, by the names of their fields. Such a setting is documented and checked,
// and has no effect.
func checkSettings(t *tree) (broken []string) {
	read := make(map[string]bool)
	for _, s := range t.sources {
		if !s.isTest() && s.path != settingsFile && s.path != settingChecks {
			noteFields(s.syntax, read)
		}
	}
	for _, s := range t.sources {
		if s.path != settingsFile {
			continue
		}
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			field, ok := n.(*ast.Field)
			if ok && field.Tag != nil && strings.Contains(field.Tag.Value, `yaml:"`) && !read[field.Names[0].Name] {
				broken = append(broken, fmt.Sprintf("%s: nothing reads the setting %s", t.at(field), field.Names[0].Name))
			}
			return true
		})
	}
	return broken
}

// noteFields notes the names of the fields that a file reads. A method that is called is no field.
func noteFields(file *ast.File, read map[string]bool) {
	methods := make(map[ast.Node]bool)
	ast.Inspect(file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			methods[call.Fun] = true
		}
		if selector, ok := n.(*ast.SelectorExpr); ok && !methods[selector] {
			read[selector.Sel.Name] = true
		}
		return true
	})
}
