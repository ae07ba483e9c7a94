package report

import (
	"strings"
	"testing"
)

func TestPretty(t *testing.T) {
	t.Run("a folder of runs, without colour", func(t *testing.T) {
		golden(t, "pretty.txt", write(t, "pretty", Options{}, sampleRuns()...))
	})
	t.Run("a folder of runs, in colour", func(t *testing.T) {
		golden(t, "pretty-color.txt", write(t, "pretty", Options{Color: true}, sampleRuns()...))
	})
	t.Run("a narrow screen", func(t *testing.T) {
		golden(t, "pretty-narrow.txt", write(t, "pretty", Options{Width: 60}, sampleRuns()...))
	})
}

func show(text string) string { return strings.ReplaceAll(text, "\x1b", "␛") }

var _ = show
