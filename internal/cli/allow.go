package cli

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
)

func allowCommand() *cobra.Command {
	var tool string
	var once bool
	cmd := &cobra.Command{
		Use:   "allow SESSION",
		Short: "Let a coding agent continue that unloop hook nudges or denies",
		Long: "Allow takes the beginning of a session's id. It resets the guard's evidence about the session: the next denial needs new\n" +
			"evidence. With --tool, calls of that tool are never denied in the session. With --once, only the next call is allowed.\n" +
			"The log has an entry for it.",
		Example: "  unloop allow 0b6c\n  unloop allow 0b6c --tool Bash\n  unloop allow 0b6c --once",
		Args:    oneArg("SESSION", "the beginning of the id of a session that unloop hook log prints"),
		RunE: func(cmd *cobra.Command, args []string) error {
			folder, err := hookFolder()
			if err != nil {
				return err
			}
			about, allowed, err := folder.Allow(args[0], tool, once, time.Now)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(plainWriter{cmd.OutOrStdout()}, "%s session %s in %s: %s\n", about.Agent, about.Session, filepath.Base(about.Dir), allowed)
			return err
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&tool, "tool", "", "only calls of the tool `NAME`")
	cmd.Flags().BoolVar(&once, "once", false, "only the next call")
	return cmd
}
