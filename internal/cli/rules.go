package cli

import (
	"fmt"
	"io"
	"strings"

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
			var rows [][2]string
			for _, d := range p.Detectors() {
				page, _ := detect.Explain(d.Info().Name)
				rows = append(rows, [2]string{d.Info().Name, page.When})
			}
			return printTable(cmd.OutOrStdout(), rows)
		},
	}
	cmd.Flags().StringVarP(&name, "profile", "p", profile.Default, "the profile `NAME`: "+strings.Join(profile.Names(), ", "))
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
				return fmt.Errorf("unknown rule %q: want one of %s", args[0], strings.Join(detect.Rules(), ", "))
			}
			out := cmd.OutOrStdout()
			_, err := io.WriteString(out, ruleText(&page, screenWidth(out)))
			return err
		},
	}
}

// ruleText returns the page of a rule in lines of a width.
func ruleText(page *detect.RuleDoc, width int) string {
	var out strings.Builder
	out.WriteString(page.Rule + "\n\n")
	fill(&out, "", "", page.When, width)
	for _, part := range [...]struct{ title, text string }{{"Why it matters", page.Why}, {"What to try", page.Try}, {"In detail", page.More}} {
		if part.text == "" {
			continue
		}
		out.WriteString("\n" + part.title + "\n")
		for _, paragraph := range strings.Split(part.text, "\n\n") {
			fill(&out, "  ", "  ", paragraph, width)
		}
	}
	return out.String()
}
