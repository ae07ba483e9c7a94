package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func TestHelpFitsTheTerminal(t *testing.T) {
	text := "Scan reads traces of agents,\nand reports loops.\n\nUsage:\n  unloop scan [flags] PATH…\n\nExamples:\n  unloop scan --format sarif runs/ > loops.sarif\n\n" +
		"Flags:\n  -q, --quiet   print nothing but errors\n"
	want := "Scan reads traces of agents, and\nreports loops.\n\nUsage:\n  unloop scan [flags] PATH…\n\nExamples:\n  unloop scan --format sarif runs/ > loops.sarif\n\n" +
		"Flags:\n  -q, --quiet   print nothing but\n                errors\n"
	if diff := cmp.Diff(want, wrapped(text, 34)); diff != "" {
		t.Errorf("in 34 columns (-want +got):\n%s", diff)
	}
}

func TestHelpOfEachCommandFitsInEightyColumns(t *testing.T) {
	var check func(*cobra.Command)
	check = func(cmd *cobra.Command) {
		var text strings.Builder
		cmd.SetOut(&text)
		if err := cmd.Help(); err != nil {
			t.Fatal(err)
		}
		before, examples, _ := strings.Cut(wrapped(text.String(), 80), "Examples:")
		_, flags, _ := strings.Cut(examples, "Flags:")
		for line := range strings.Lines(before + flags) {
			if strings.HasPrefix(strings.TrimSpace(line), "{") {
				continue // JSON to copy
			}
			if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > 80 && strings.Count(strings.TrimSpace(line), " ") > 0 {
				t.Errorf("%s: %s", cmd.CommandPath(), line)
			}
		}
		if strings.Join(strings.Fields(wrapped(text.String(), 80)), " ") != strings.Join(strings.Fields(text.String()), " ") {
			t.Errorf("%s: wrapping changes the words", cmd.CommandPath())
		}
		for _, c := range cmd.Commands() {
			check(c)
		}
	}
	check(rootCommand())
}

// TestTheDocsNameEveryFlag holds the pages to the flags of the program. help is of all commands.
func TestTheDocsNameEveryFlag(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	var docs strings.Builder
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		docs.Write(text)
	}
	var check func(*cobra.Command)
	check = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && f.Name != "help" && !regexp.MustCompile("--"+f.Name+`\b[^-]`).MatchString(docs.String()) {
				t.Errorf("no page names --%s of %s", f.Name, cmd.CommandPath())
			}
		})
		for _, c := range cmd.Commands() {
			check(c)
		}
	}
	check(rootCommand())
}
