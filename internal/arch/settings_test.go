package arch

import "testing"

func TestASettingThatNothingReadsIsFound(t *testing.T) {
	expect(t, checkSettings, example{
		"internal/config/config.go":   "package config\n\ntype Limits struct {\n\tBody int `yaml:\"body\"`\n\tAttributes int `yaml:\"attributes\"`\n}\n",
		"internal/config/validate.go": "package config\n\nfunc (l *Limits) valid() bool { return l.Body > 0 && l.Attributes > 0 }\n",
		"internal/app/wiring.go":      "package app\n\nfunc body(l *config.Limits, s span) (int, list) { return l.Body, s.Attributes() }\n",
	}, "internal/config/config.go:5: nothing reads the setting Attributes")
}
