package cli

import (
	"github.com/spf13/cobra"

	"github.com/unloop-ai/unloop/detect"
	"github.com/unloop-ai/unloop/internal/report"
	"github.com/unloop-ai/unloop/profile"
)

// flagValues are the possible values of flags, by the name of the flag. They are functions, because only the completion of a
// shell needs them.
var flagValues = map[string]func() []cobra.Completion{
	"profile":   profiles,
	"input":     formatNames,
	"format":    report.Formats,
	"fail-on":   failOnNames,
	"color":     colorNames,
	"scope":     func() []cobra.Completion { return []cobra.Completion{"ingest", "read", "admin"} },
	"log-level": func() []cobra.Completion { return []cobra.Completion{"debug", "info", "warn", "error"} },
	"kinds":     func() []cobra.Completion { return []cobra.Completion{"all", "tuning", "reporting"} },
}

// complete registers the completions of flags for all commands below root.
func complete(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		complete(cmd)
		for flag, values := range flagValues {
			if cmd.Flags().Lookup(flag) == nil {
				continue
			}
			if cmd.Name() == "eval" && flag == "format" {
				values = evalFormats
			}
			// The error is for a missing or duplicate flag, which is not possible here.
			_ = cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
				return values(), cobra.ShellCompDirectiveNoFileComp
			})
		}
	}
}

func evalFormats() []cobra.Completion { return []cobra.Completion{"pretty", "json"} }

func profiles() []cobra.Completion {
	var all []cobra.Completion
	for _, name := range profile.Names() {
		if p, err := profile.New(name); err == nil {
			all = append(all, cobra.CompletionWithDesc(name, p.Title()))
		}
	}
	return all
}

// completeOne completes one argument only.
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
