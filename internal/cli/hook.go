package cli

import (
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/unloop-ai/unloop/internal/config"
	"github.com/unloop-ai/unloop/internal/hook"
)

func hookCommand() *cobra.Command {
	var agent, mode string
	cmd := &cobra.Command{
		Use:   "hook",
		Short: "Guard a coding agent: what the agent runs at its hooks, and how to install it",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			folder, err := hookFolder()
			if err != nil {
				return nil
			}
			h := hook.Hook{Folder: folder, Agent: agent, Mode: hook.Mode(mode), Env: os.Getenv, Now: time.Now}
			h.Run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
			return nil
		},
	}
	cmd.Flags().StringVar(&agent, "agent", "", "the `NAME` of the agent (default by the shape of the input)")
	cmd.Flags().StringVar(&mode, "mode", "", "nudge, guard or shadow")
	return cmd
}

// hookFolder returns where hooks keep their state.
func hookFolder() (hook.Folder, error) {
	state, err := config.StateFolder()
	return hook.Folder(filepath.Join(state, "hooks")), err
}
