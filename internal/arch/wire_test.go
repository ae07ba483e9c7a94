package arch

import "testing"

func TestWire(t *testing.T) {
	warning := "type Warning struct {\n\tRule string `json:\"rule\"`\n}\n"
	expect(t, checkWire, example{
		"internal/api/warning.go":   "package api\n\n" + warning,
		"internal/eval/eval.go":     "package eval\n\n" + warning,
		"internal/report/report.go": "package report\n\ntype Warning struct{ Rule string }\n",
		"internal/report/json.go":   "package report\n\n" + "type jsonWarning struct {\n\tRule string `json:\"rule\"`\n}\n",
	}, "internal/report/json.go:3: jsonWarning has JSON names: structs of the wire are in internal/api")
}
