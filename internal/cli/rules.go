package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/unloop-ai/unloop/detect"
	"github.com/unloop-ai/unloop/internal/settings"
	"github.com/unloop-ai/unloop/profile"
)

func rulesCommand() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:     "rules",
		Short:   "List the rules of a profile",
		Example: "  unloop rules\n  unloop rules --profile looplens",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := newProfile(name)
			if err != nil {
				return err
			}
			out := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, d := range p.Detectors() {
				page, _ := detect.Explain(d.Info().Name)
				fmt.Fprintf(out, "%s\t%s\n", d.Info().Name, page.When)
			}
			return out.Flush()
		},
	}
	cmd.Flags().StringVarP(&name, "profile", "p", profile.Default, "the profile: "+strings.Join(profile.Names(), ", "))
	return cmd
}

func explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "explain RULE",
		Short:             "Explain a rule: when it fires, why it matters, what to try",
		Example:           "  unloop explain same_call_same_result",
		Args:              oneArg("RULE", "a rule that unloop rules lists"),
		ValidArgsFunction: completeOne(ruleNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			page, ok := detect.Explain(args[0])
			if !ok {
				if near := settings.Nearest(args[0], detect.Rules()); near != "" {
					return fmt.Errorf("unknown rule %q; did you mean %q?", args[0], near) // the list would hide the answer
				}
				return fmt.Errorf("unknown rule %q: want one of %s", args[0], list(detect.Rules()))
			}
			out := cmd.OutOrStdout()
			fmt.Fprintf(out, "%s\n\n%s\n\nWhy it matters\n%s\n\nWhat to try\n%s\n", page.Rule,
				wrap(page.When), wrap("  "+page.Why), wrap("  "+page.Try))
			if page.More != "" {
				fmt.Fprintf(out, "\nIn detail\n")
				for _, paragraph := range strings.Split(page.More, "\n\n") {
					fmt.Fprintln(out, wrap("  "+paragraph))
				}
			}
			return nil
		},
	}
}

// wrap breaks a paragraph into lines of at most 100 characters, each indented as the first.
func wrap(text string) string {
	const width = 100
	indent := text[:len(text)-len(strings.TrimLeft(text, " "))]
	var b strings.Builder
	column := 0
	for _, word := range strings.Fields(text) {
		if column > 0 && column+1+len(word) > width {
			b.WriteByte('\n')
			column = 0
		}
		if column == 0 {
			b.WriteString(indent + word)
			column = len(indent) + len(word)
			continue
		}
		b.WriteString(" " + word)
		column += 1 + len(word)
	}
	return b.String()
}
