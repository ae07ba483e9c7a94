package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/unloop-ai/unloop/internal/config"
	"github.com/unloop-ai/unloop/internal/hook"
	_ "github.com/unloop-ai/unloop/internal/hook/atstart" // answers most hooks before this package is initialised
)

func hookCommand() *cobra.Command {
	var agent, mode string
	var misuse error
	cmd := &cobra.Command{
		Use:   "hook",
		Short: "Guard coding agents on this machine: install and inspect the hook, and the command that agents run",
		Long: "Coding agents run a command at their hooks: before a tool, after it, and when they stop. unloop hook is that command. It\n" +
			"reads the agent's JSON on standard input, and answers in the agent's own protocol. Without an answer, the agent continues. On any\n" +
			"error it exits with 0 and no answer, and writes a line to its log, which unloop hook status shows. Kiro and Windsurf read no JSON:\n" +
			"a denial for them is the exit status 2 with the reason on standard error.\n\n" +
			"The modes are nudge (tell the model that it repeats itself; the default), guard (nudge, then deny, then end the turn) and\n" +
			"shadow (only record). The mode comes from --mode, else UNLOOP_HOOK_MODE, else the key hook in .unloop.yaml of the project\n" +
			"or in unloop/hook.yaml of the user's configuration. docs/hooks.md describes each agent.",
		Example: "  unloop hook install\n  unloop hook install claude-code --mode guard --dry-run\n  unloop hook status\n  unloop hook log --follow\n  unloop hook uninstall",
		// At the exit status of wrong usage, agents deny the call. For an agent the hook runs without what is wrong, and logs it.
		Args: func(cmd *cobra.Command, args []string) error {
			if misuse = groupArgs(cmd, args); misuse == nil || calledByAgent(cmd) {
				return nil
			}
			return misuse
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			h := hook.Hook{Agent: agent, Mode: hook.Mode(mode), Misuse: misuse}
			if _, err := hook.ParseMode(mode); mode != "" && err != nil {
				h.Mode, h.Misuse = "", errors.Join(misuse, fmt.Errorf("--mode: %w", err))
			}
			return runHook(cmd, h)
		},
	}
	// A registration by another version may have flags that this one does not have.
	cmd.FParseErrWhitelist.UnknownFlags = true
	cmd.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if err = flagError(c, err); c == cmd && calledByAgent(c) {
			return runHook(c, hook.Hook{Misuse: err})
		}
		return err
	})
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&agent, "agent", "", "the `NAME` of the agent (default: detect it by its input)")
	cmd.Flags().StringVar(&mode, "mode", "", "the `MODE`: nudge, guard or shadow")
	cmd.AddCommand(hookInstallCommand(), hookUninstallCommand(), hookStatusCommand(), hookLogCommand(), hookExplainCommand(), hookStatuslineCommand())
	return cmd
}

// calledByAgent reports whether an agent has written an event, so that a wrong command line is no mistake of a person who types.
func calledByAgent(cmd *cobra.Command) bool {
	if in, ok := cmd.InOrStdin().(*os.File); ok && term.IsTerminal(int(in.Fd())) {
		return false
	}
	in := bufio.NewReader(cmd.InOrStdin())
	cmd.SetIn(in)
	_, err := in.Peek(1)
	return err == nil
}

// runHook runs a hook that has the settings of its command line.
func runHook(cmd *cobra.Command, h hook.Hook) error {
	hook.OwnProcess()
	folder, err := hookFolder()
	if err != nil {
		return nil // without a folder there is no log, and the agent must not be disturbed
	}
	h.Folder, h.Env, h.Now, h.Server = folder, os.Getenv, time.Now, connectHook
	if status := h.Run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()); status != 0 {
		return hookDenial(status)
	}
	return nil
}

// hookDenial is the exit status with which a hook denies a call. The reason is already written.
type hookDenial int

func (s hookDenial) Error() string { return fmt.Sprintf("denied with the exit status %d", int(s)) }

// hookFolder returns the folder with the state of hooks.
func hookFolder() (hook.Folder, error) {
	state, err := config.StateFolder()
	return hook.FolderIn(state), err
}

func hookStatuslineCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "statusline",
		Short: "Print a status line for Claude Code: calls, repeats, and tokens since the last novel result",
		Long: "Statusline is the command for the key statusLine of Claude Code's settings:\n\n" +
			"  {\"statusLine\": {\"type\": \"command\", \"command\": \"unloop hook statusline\"}}",
		Example: "  unloop hook statusline",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			folder, err := hookFolder()
			if err != nil {
				return nil // a status line cannot show an error
			}
			data, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), 1<<20))
			if err == nil {
				_, err = io.WriteString(cmd.OutOrStdout(), folder.StatusLine(data))
			}
			return err
		},
	}
}
