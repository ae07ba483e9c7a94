package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/hook"
)

func hookExplainCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "explain SESSION",
		Short:   "Show a session: its state, its warnings, and its nudges and denials",
		Long:    "Explain takes the beginning of a session's id. unloop hook log prints the ids.",
		Example: "  unloop hook explain 0b6c",
		Args:    oneArg("SESSION", "the beginning of the id of a session that unloop hook log prints"),
		RunE: func(cmd *cobra.Command, args []string) error {
			folder, err := hookFolder()
			if err != nil {
				return err
			}
			about, state, err := folder.Find(args[0])
			if err != nil {
				return err
			}
			out := plainWriter{cmd.OutOrStdout()}
			fmt.Fprintf(out, "%s session %s in %s, mode %s, profile %s\n", about.Agent, about.Session, cmp.Or(about.Dir, "?"), about.Mode, about.Profile)
			fmt.Fprintf(out, "%s, %s without novelty, %s, %s, %s; health %d (%s)\n", plural(about.Calls, "call", "calls"), plural(about.Repeats, "outcome", "outcomes"),
				plural(about.Nudges, "nudge", "nudges"), plural(about.Denials, "denial", "denials"), plural(about.TurnsCut, "ended turn", "ended turns"), state.Health.Score, state.Health.Status)
			for k := range state.Warnings {
				fmt.Fprint(out, "\n"+warningText(&state.Warnings[k], screenWidth(cmd.OutOrStdout())))
			}
			fmt.Fprintln(out)
			return folder.Log(func(e hook.Entry) {
				if e.Session == about.Session && e.SubAgent == about.SubAgent {
					fmt.Fprintln(out, entryLine(&e))
				}
			})
		},
	}
}

// warningText returns a warning in lines of a width.
func warningText(f *unloop.Finding, width int) string {
	var out strings.Builder
	out.WriteString(f.Rule + "\n")
	fill(&out, "  ", "  ", f.What, width)
	fill(&out, "  Why: ", "       ", f.Why, width)
	fill(&out, "  Try: ", "       ", f.Try, width)
	for _, call := range f.Repeated {
		fill(&out, "  Repeats: ", "    ", call, width)
	}
	return out.String()
}
