package arch

import (
	"fmt"
	"go/ast"
	"regexp"
	"strings"
)

// wireFolder has the structs of the wire.
const wireFolder = "internal/api"

// ownForms are the folders with another JSON form of a run, a warning, a decision or an event.
var ownForms = map[string]string{
	".":             "the event is the language of the program, and the native format",
	"internal/eval": "a run is a line of a file of labelled runs",
}

// wireName matches the names of structs that are part of the wire.
var wireName = regexp.MustCompile(`(?i)^(json|wire)?(run|warning|decision|event)(summary|details|json)?$`)

// checkWire reports structs of runs, warnings, decisions and events with JSON names outside of internal/api. Decoders read the forms of
// other programs.
func checkWire(t *tree) (broken []string) {
	for _, s := range t.sources {
		if s.isTest() || s.folder == wireFolder || ownForms[s.folder] != "" || strings.HasPrefix(s.folder, "internal/ingest/") {
			continue
		}
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || !wireName.MatchString(spec.Name.Name) {
				return true
			}
			if fields, ok := spec.Type.(*ast.StructType); ok && hasJSONNames(fields) {
				broken = append(broken, fmt.Sprintf("%s: %s has JSON names: structs of the wire are in %s", t.at(spec), spec.Name.Name, wireFolder))
			}
			return true
		})
	}
	return broken
}

func hasJSONNames(s *ast.StructType) bool {
	for _, field := range s.Fields.List {
		if field.Tag != nil && strings.Contains(field.Tag.Value, `json:"`) {
			return true
		}
	}
	return false
}
