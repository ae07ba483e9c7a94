package cli

import (
	"github.com/spf13/cobra"

	"github.com/unloop-ai/unloop/detect"
	"github.com/unloop-ai/unloop/internal/report"
	"github.com/unloop-ai/unloop/profile"
)

// complete gives the shell the values of flags and arguments, in every command below root.
func complete(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		complete(cmd)
		for flag, values := range flagValues(cmd) {
			if cmd.Flags().Lookup(flag) == nil {
				continue
			}
			// The error is for a flag that is missing or registered twice, and both are excluded here.
			_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
		}
	}
}

// flagValues returns the values that flags of a command take.
func flagValues(cmd *cobra.Command) map[string][]cobra.Completion {
	values := map[string][]cobra.Completion{
		"profile":   profiles(),
		"input":     formatNames(),
		"format":    report.Formats(),
		"fail-on":   failOnNames(),
		"color":     colorNames(),
		"scope":     {"ingest", "read", "admin"},
		"log-level": {"debug", "info", "warn", "error"},
		"kinds":     {"all", "tuning", "reporting"},
	}
	if cmd.Name() == "eval" {
		values["format"] = []cobra.Completion{"pretty", "json"}
	}
	return values
}

func profiles() []cobra.Completion {
	var all []cobra.Completion
	for _, name := range profile.Names() {
		if p, err := profile.New(name); err == nil {
			all = append(all, cobra.CompletionWithDesc(name, p.Title()))
		}
	}
	return all
}

// completeOne completes one argument, and nothing behind it.
func completeOne(values func() []cobra.Completion) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return values(), cobra.ShellCompDirectiveNoFileComp
	}
}

func ruleNames() []cobra.Completion {
	var all []cobra.Completion
	for _, name := range detect.Rules() {
		page, _ := detect.Explain(name)
		all = append(all, cobra.CompletionWithDesc(name, page.When))
	}
	return all
}
